import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import t from 'tap'
import { Refusal } from '#core/plugin'
import { git } from '#core/repos'

t.setTimeout(240_000)
const folder = mkdtempSync(join(tmpdir(), 'switchyard-transport-'))
const host = git.createGit()
const accept = async ({ commands }: git.Push) => commands.map((): git.Verdict => ({ accept: true }))
const still = async () => undefined

type Rules = { -readonly [K in keyof git.ReceiveOptions]?: git.ReceiveOptions[K] }
let rules: Rules = {}
let landed: readonly git.PushResult[] = []
let pushes: git.Push[] = []
let protocols: (string | undefined)[] = []

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://x')
  const match = /^\/([a-z0-9-]+)\.git\/(info\/refs|git-upload-pack|git-receive-pack|git-upload-archive)$/.exec(
    url.pathname,
  )
  if (!match) return void response.writeHead(404).end()
  const repo = host.open(join(folder, `${match[1]}.git`))
  const protocol = request.headers['git-protocol'] as string | undefined
  protocols.push(protocol)
  const body: Readable = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  const service = url.searchParams.get('service') as git.GitService
  const answer = async (): Promise<Readable> => {
    if (match[2] === 'info/refs') return git.advertise(repo, service, { protocol })
    if (match[2] === 'git-upload-pack') return git.uploadPack(repo, body, { protocol })
    if (match[2] === 'git-upload-archive') return git.uploadArchive(repo, body)
    return git.receivePack(repo, body, {
      check: accept,
      ...rules,
      landed: async (results, push) => {
        landed = results
        pushes.push(push)
        return (rules.landed ?? still)(results, push)
      },
    })
  }
  const type = match[2] === 'info/refs' ? `application/x-${service}-advertisement` : `application/x-${match[2]}-result`
  answer().then(
    (stream) => {
      response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' })
      pipeline(stream, response).catch(() => undefined)
    },
    (error) => response.writeHead(500).end(String(error)),
  )
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
t.teardown(() => {
  server.closeAllConnections()
  server.close()
  host.close()
  rmSync(folder, { recursive: true, force: true })
})
t.beforeEach(() => {
  rules = {}
  landed = []
  pushes = []
  protocols = []
})

const env = {
  PATH: process.env.PATH ?? '',
  HOME: folder,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@x',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@x',
}

type Outcome = { code: number; output: string }

/** A real client; this process must stay awake to serve it. */
function client(cwd: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) || 1 : 0, output: (stdout + stderr).trim() })
    })
  })
}

async function good(cwd: string, ...args: string[]) {
  const { code, output } = await client(cwd, ...args)
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${output}`)
  return output
}

let count = 0
async function setup(objectFormat: git.ObjectFormat = 'sha1') {
  count += 1
  const name = `repo${count}`
  const repo = host.open(join(folder, `${name}.git`))
  await git.initRepository(repo, { defaultBranch: 'main', objectFormat })
  const work = join(folder, `work${count}`)
  await good(folder, 'init', '-q', '-b', 'main', `--object-format=${objectFormat}`, work)
  await good(work, 'remote', 'add', 'origin', `http://127.0.0.1:${port}/${name}.git`)
  return { repo, work, url: `http://127.0.0.1:${port}/${name}.git` }
}

async function commit(work: string, file = 'a.txt', content = `${Math.random()}\n`) {
  writeFileSync(join(work, file), content)
  await good(work, 'add', '.')
  await good(work, 'commit', '-q', '-m', `change ${file}`)
  return good(work, 'rev-parse', 'HEAD')
}

async function head(repo: git.GitRepo, ref = 'refs/heads/main') {
  return (await git.readRef(repo, ref))?.objectId
}

const leftovers = (path: string) =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.lock$|tmp_objdir|tmp_pack|tmp_obj_/.test(name),
  )

for (const version of ['0', '1', '2']) {
  t.test(`protocol version ${version}: push, clone, fetch`, async (t) => {
    const { repo, work, url } = await setup()
    await good(work, 'config', 'protocol.version', version)
    const first = await commit(work)
    await good(work, 'push', 'origin', 'main')
    t.equal(await head(repo), first)
    t.match(landed, [{ ref: 'refs/heads/main', from: null, to: first, ok: true, reason: undefined }])
    const copy = `${work}-copy`
    await good(folder, '-c', `protocol.version=${version}`, 'clone', '-q', url, copy)
    t.equal(await good(copy, 'rev-parse', 'HEAD'), first)
    const second = await commit(work)
    await good(work, 'push', 'origin', 'main')
    await good(copy, '-c', `protocol.version=${version}`, 'pull', '-q')
    t.equal(await good(copy, 'rev-parse', 'HEAD'), second)
    t.match(landed, [{ from: first, to: second }])
    if (version !== '0') t.ok(protocols.includes(`version=${version}`))
    await good(folder, '-c', `protocol.version=${version}`, 'clone', '-q', '--depth=1', url, `${copy}-shallow`)
    t.equal(await good(`${copy}-shallow`, 'rev-list', '--count', 'HEAD'), '1')
    const third = await commit(`${copy}-shallow`, 'b.txt')
    await good(`${copy}-shallow`, 'push', '-q', 'origin', 'main')
    t.equal(await head(repo), third, 'a shallow clone may push')
    await good(`${copy}-shallow`, '-c', `protocol.version=${version}`, 'fetch', '-q', '--unshallow')
    await good(
      folder,
      '-c',
      `protocol.version=${version}`,
      'clone',
      '-q',
      '--filter=blob:none',
      '--no-checkout',
      url,
      `${copy}-partial`,
    )
    t.same(await git.checkRepository(repo), [])
    t.same(leftovers(repo.path), [])
  })
}

t.test('sha256, empty clone, tags, force, deletes, atomic, options', async (t) => {
  const other = await setup('sha256')
  await good(folder, 'clone', '-q', other.url, `${other.work}-empty`)
  const long = await commit(other.work)
  t.equal(long.length, 64)
  await good(other.work, 'push', '-q', 'origin', 'main')
  t.equal(await head(other.repo), long)
  await good(folder, 'clone', '-q', other.url, `${other.work}-full`)

  const { repo, work } = await setup()
  const first = await commit(work)
  await good(work, 'tag', 'light')
  await good(work, 'tag', '-a', '-m', 'annotated', 'v1')
  await good(work, 'push', '-q', '-o', 'one=1', '-o', 'two', 'origin', 'main', '--tags')
  t.same(pushes.at(-1)?.options, ['one=1', 'two'])
  t.equal(await head(repo, 'refs/tags/light'), first)
  t.equal((await git.resolveTag(repo, 'v1'))?.commitId, first)
  await good(work, 'commit', '-q', '--amend', '-m', 'other')
  const amended = await good(work, 'rev-parse', 'HEAD')
  t.match((await client(work, 'push', 'origin', 'main')).output, /rejected/)
  await good(work, 'push', '-q', '--force', 'origin', 'main')
  t.equal(await head(repo), amended)
  await good(work, 'push', '-q', 'origin', ':refs/tags/light', ':refs/tags/v1')
  t.match(landed, [
    { ref: 'refs/tags/light', to: null, ok: true },
    { ref: 'refs/tags/v1', to: null, ok: true },
  ])
  t.equal(await head(repo, 'refs/tags/light'), undefined)
  await good(work, 'push', '-q', '--atomic', 'origin', 'main:one', 'main:two')
  t.equal(pushes.at(-1)?.atomic, true)
  // The server disagrees with one of two refs: an atomic push moves neither.
  await git.updateRefs(repo, [{ ref: 'refs/heads/two', to: first }])
  const next = await commit(work)
  const stale = await client(
    work,
    'push',
    '--atomic',
    `--force-with-lease=two:${amended}`,
    'origin',
    'main:one',
    'main:two',
  )
  t.equal(stale.code, 1)
  t.equal(await head(repo, 'refs/heads/one'), amended)
  await good(work, 'push', '-q', 'origin', 'main:refs/heads/deep/er/branch', 'main:refs/notes/x')
  t.equal(await head(repo, 'refs/notes/x'), next)
  t.match(await good(work, 'push', 'origin', 'main:refs/notes/x'), /up-to-date/)
  t.same(await git.checkRepository(repo), [])
})

t.test('refusals: before the pack, after the pack, of one ref, by the record', async (t) => {
  const { repo, work } = await setup()
  const first = await commit(work)
  await good(work, 'push', '-q', 'origin', 'main')
  const before = readdirSync(join(repo.path, 'objects')).sort()
  await commit(work, 'b.txt', randomBytes(3_000_000).toString('hex'))
  const told: string[] = []
  landed = []

  rules.check = async ({ commands }) => {
    told.push(...commands.map(({ ref }) => ref))
    return commands.map(({ ref }) =>
      ref === 'refs/heads/main'
        ? { accept: false, message: 'Not allowed to push to protected branch main' }
        : { accept: true },
    )
  }
  const refused = await client(work, 'push', 'origin', 'main', 'main:other')
  t.equal(refused.code, 1)
  t.match(
    refused.output,
    /remote: error:\s+remote: error: Not allowed to push to protected branch main\s+remote: error:/,
  )
  t.match(refused.output, /\[remote rejected\] main -> main \(pre-receive hook declined\)/)
  t.match(refused.output, /\[remote rejected\] main -> other \(pre-receive hook declined\)/)
  t.same(told.sort(), ['refs/heads/main', 'refs/heads/other'])
  t.match(landed, [{ ok: false }, { ok: false }], 'nothing landed, and whoever announced the push hears of it')
  t.same(readdirSync(join(repo.path, 'objects')).sort(), before, 'git did not run')

  rules.check = async ({ commands }) =>
    commands.map(({ ref }) =>
      ref.startsWith('refs/pull/') ? { accept: false, message: '', scope: 'ref' } : { accept: true },
    )
  const partly = await client(work, 'push', 'origin', 'main:side', 'main:refs/pull/1/head')
  t.match(partly.output, /\[remote rejected\] main -> refs\/pull\/1\/head \(hook declined\)/)
  t.match(partly.output, /main -> side/)
  t.ok(await head(repo, 'refs/heads/side'))
  t.equal(await head(repo, 'refs/pull/1/head'), undefined)

  rules = {
    verify: async ({ commands }, seen) => {
      const [command] = commands
      const forced = !(await git.isAncestor(seen, command?.from as string, command?.to as string))
      t.equal((await git.readCommit(seen, command?.to as string))?.id, command?.to, 'the new commit can be read')
      t.equal(await git.readCommit(repo, command?.to as string), undefined, 'but not by others')
      return commands.map(() =>
        forced ? { accept: false, message: 'branch main is protected from force push' } : { accept: true },
      )
    },
  }
  await good(work, 'reset', '-q', '--hard', first)
  await good(work, 'commit', '-q', '--amend', '-m', 'forced')
  const forced = await client(work, 'push', '--force', 'origin', 'main')
  t.match(forced.output, /remote: error: branch main is protected from force push/)
  t.match(forced.output, /\[remote rejected\] main -> main \(pre-receive hook declined\)/)
  t.equal(await head(repo), first)
  t.match(landed, [{ ok: false, reason: 'pre-receive hook declined' }])
  t.same(leftovers(repo.path), [])
  rules.verify = async () => Promise.reject(new Refusal('unavailable', 'the database is away'))
  t.match((await client(work, 'push', '--force', 'origin', 'main')).output, /remote: error: the database is away/)
  t.equal(await head(repo), first)
  rules.verify = async ({ commands }) => commands.map(() => ({ accept: true }))
  await good(work, 'push', '-q', '--force', 'origin', 'main')
  t.equal(await head(repo), await good(work, 'rev-parse', 'HEAD'))
  await good(work, 'push', '-q', 'origin', ':side')

  rules = { landed: async () => Promise.reject(new Refusal('unavailable', 'could not write it down')) }
  await commit(work)
  const lost = await client(work, 'push', 'origin', 'main')
  t.equal(lost.code, 1)
  t.match(lost.output, /remote: error: could not write it down/)
  t.match(lost.output, /\[remote rejected\] main -> main \(could not be recorded\)/)
  rules = { check: async () => Promise.reject(new Error('secret detail')) }
  const broken = await client(work, 'push', 'origin', 'main:new')
  t.equal(broken.code !== 0, true)
  t.notMatch(broken.output, /secret detail/)
  rules = { check: async () => [] }
  t.match((await client(work, 'push', 'origin', 'main:new')).output, /remote: error: no verdict/)
  t.equal(await head(repo, 'refs/heads/new'), undefined)
})

t.test('a push under another name, messages, the report waits for the record', async (t) => {
  const { repo, work } = await setup()
  const first = await commit(work)
  let recorded = false
  rules = {
    check: async ({ commands }) =>
      commands.map(({ ref }) =>
        ref.startsWith('refs/for/') ? { accept: true, as: 'refs/switchyard/agit/1' } : { accept: true },
      ),
    landed: async ([result]) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      t.equal(result?.ref, 'refs/for/main')
      recorded = true
      const reported = new Map([['refs/for/main', { ref: 'refs/pull/1/head', from: null, to: first }]])
      return { messages: ['Visit the existing pull request:', '  http://x/pulls/1'], reported }
    },
  }
  const pushed = await client(work, 'push', 'origin', 'main:refs/for/main')
  t.equal(recorded, true)
  t.equal(pushed.code, 0, pushed.output)
  t.match(pushed.output, /remote: Visit the existing pull request:\s+remote: {3}http:\/\/x\/pulls\/1/)
  t.match(pushed.output, /main -> refs\/pull\/1\/head/)
  t.equal(await head(repo, 'refs/switchyard/agit/1'), first)
  t.equal(await head(repo, 'refs/for/main'), undefined)
  t.notMatch(await good(work, 'ls-remote', 'origin'), /switchyard/, 'our own refs are nobody else’s business')
  rules = {}
  const direct = await client(work, 'push', 'origin', 'main:refs/switchyard/x', 'main:fine')
  t.match(direct.output, /remote rejected\] main -> refs\/switchyard\/x \(deny updating a hidden ref\)/)
  t.equal(await head(repo, 'refs/switchyard/x'), undefined)
  t.equal(await head(repo, 'refs/heads/fine'), first)
})

t.test('hostile input', async (t) => {
  const { repo, work } = await setup()
  const tip = await commit(work)
  await good(work, 'push', '-q', 'origin', 'main')
  const canary = join(folder, 'canary')
  const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
  const zero = '0'.repeat(40)
  const caps = '\0report-status side-band-64k'
  const bodies: [string, string, RegExp | ''][] = [
    ['nothing', '', ''],
    ['a probe', '0000', ''],
    ['no packet', 'zzzz', /not a packet/],
    ['a cut packet', '0050abc', /ends too early/],
    ['a wrong length', '0003', /not a packet/],
    ['no command', `${line('hello')}0000`, /not a push command/],
    ['mixed ids', `${line(`${zero} ${'1'.repeat(64)} refs/heads/x${caps}`)}0000`, /not a push command/],
    ['a bad name', `${line(`${zero} ${tip} refs/heads/../../config${caps}`)}0000`, /funny refname/],
    ['no refs/', `${line(`${zero} ${tip} HEAD${caps}`)}0000`, /funny refname/],
    ['an option', `${line(`${zero} ${tip} --output=${canary}${caps}`)}0000`, /funny refname/],
    ['no pack', `${line(`${zero} ${'1'.repeat(40)} refs/heads/x${caps}`)}0000`, /unpack |ng refs\/heads\/x/],
    [
      'rubbish for a pack',
      `${line(`${zero} ${'1'.repeat(40)} refs/heads/x${caps}`)}0000${'rubbish'.repeat(1000)}`,
      /ng refs\/heads\/x/,
    ],
    ['a certificate', `${line(`push-cert${caps}`)}0000`, /not a push command/],
  ]
  const before = await git.listRefs(repo)
  for (const [what, body, expected] of bodies) {
    const input = new PassThrough()
    input.end(body)
    const answer = String(await buffer(git.receivePack(repo, input, { check: accept, landed: still })))
    if (expected === '') t.equal(answer, '', what)
    else t.match(answer, expected, what)
  }
  const many = new PassThrough()
  many.end(
    `${Array.from({ length: 20 }, (_, n) => line(`${zero} ${tip} refs/heads/m${n}${n === 0 ? caps : ''}`)).join('')}0000`,
  )
  t.match(
    String(await buffer(git.receivePack(repo, many, { check: accept, landed: still, limits: { commands: 10 } }))),
    /too many refs/,
  )
  t.same(await git.listRefs(repo), before)
  t.equal(existsSync(canary), false)
  for (const protocol of ['version=2\nx', '--x', 'version=2; touch x', ':', 'version=99', 'version=2:x=1']) {
    t.match(
      String(await buffer(await git.advertise(repo, 'git-upload-pack', { protocol }))),
      /^001e# service=git-upload-pack\n0000/,
    )
  }

  // A tree that would overwrite .git on the next checkout is refused on arrival.
  const blob = await good(work, 'rev-parse', 'HEAD:a.txt')
  for (const name of ['.git', '.GIT', 'git~1']) {
    const evil = execFileSync('git', ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
      cwd: work,
      env,
      encoding: 'utf8',
      input: Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]),
    }).trim()
    const made = execFileSync('git', ['commit-tree', evil, '-m', 'evil'], { cwd: work, env, encoding: 'utf8' }).trim()
    const pushed = await client(work, 'push', 'origin', `${made}:refs/heads/evil`)
    t.equal(pushed.code, 1, `a pushed ${name}`)
  }
  rules.limits = { bytes: 1000 }
  await commit(work, 'big', randomBytes(10_000).toString('hex'))
  t.match((await client(work, 'push', 'origin', 'main')).output, /exceeds maximum allowed size|unpack/)
  t.equal(await head(repo), tip)
  t.same(leftovers(repo.path), [])
  t.same(await git.checkRepository(repo), [])
})

t.test('100 MB in small memory', async (t) => {
  const { repo, work, url } = await setup()
  // Bytes that do not shrink need no time for trying.
  await good(work, 'config', 'core.compression', '0')
  await good(work, 'config', 'pack.window', '0')
  for (let part = 0; part < 10; part += 1) writeFileSync(join(work, `f${part}`), randomBytes(10 * 2 ** 20))
  await commit(work)
  const base = process.memoryUsage.rss()
  let peak = base
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  await good(work, 'push', '-q', 'origin', 'main')
  const afterPush = peak
  await good(folder, 'clone', '-q', '--bare', url, `${work}-clone`)
  clearInterval(watch)
  t.comment(
    `memory grew by ${((afterPush - base) / 2 ** 20).toFixed(0)} MB for the push, ${((peak - base) / 2 ** 20).toFixed(0)} MB in all`,
  )
  t.ok(peak - base < 64 * 2 ** 20)
  t.ok(await head(repo))
  // A refused one is read to its end, and not kept.
  rules.check = async ({ commands }) => commands.map(() => ({ accept: false, message: 'no' }))
  t.match((await client(work, 'push', 'origin', 'main:again', 'main~0:refs/heads/x')).output, /remote: error: no/)
})

t.test('R15: a push that breaks off leaves nothing', async (t) => {
  const { repo, work } = await setup()
  await commit(work)
  await good(work, 'push', '-q', 'origin', 'main')
  await commit(work, 'big', randomBytes(8 * 2 ** 20).toString('hex'))
  const tip = await good(work, 'rev-parse', 'HEAD')
  const old = (await head(repo)) as string
  const pack = execFileSync('git', ['pack-objects', '--revs', '--stdout', '-q'], {
    cwd: work,
    env,
    input: `${tip}\n^${old}\n`,
    maxBuffer: 2 ** 28,
  })
  const command = `${old} ${tip} refs/heads/main\0report-status side-band-64k`
  const start = Buffer.from(`${(command.length + 4).toString(16).padStart(4, '0')}${command}0000`)

  // The client vanishes in the middle.
  const ended = new Promise<void>((resolve) => {
    rules.landed = async () => {
      resolve()
      return undefined
    }
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST /${repo.path.split('/').at(-1)}/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Length: ${start.length + pack.length}\r\n\r\n`,
  )
  socket.write(start)
  socket.write(pack.subarray(0, pack.length / 2), () => setTimeout(() => socket.destroy(), 100))
  await ended
  t.match(landed, [{ ok: false }])
  t.equal(await head(repo), old)
  t.same(leftovers(repo.path), [], 'git took everything back')

  // Git itself is killed in the middle, with its children.
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const input = new PassThrough()
    const answer = buffer(git.receivePack(repo, input, { check: accept, landed: still }))
    input.write(start)
    input.write(pack.subarray(0, pack.length / 2))
    const pid = await running(repo.path)
    process.kill(-pid, signal)
    input.end(pack.subarray(pack.length / 2))
    t.match(String(await answer), /ng refs\/heads\/main/, signal)
    t.same(
      leftovers(repo.path).filter((name) => name.endsWith('.lock')),
      [],
    )
    t.equal(await head(repo), old)
    t.same(await git.checkRepository(repo), [])
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
  await git.cleanRepository(repo, 10)
  t.same(leftovers(repo.path), [])
  rules = {}
  await good(work, 'push', '-q', 'origin', 'main')
  t.equal(await head(repo), tip)
  t.same(await git.checkRepository(repo), [])

  async function running(path: string) {
    for (;;) {
      const line = execFileSync('ps', ['-o', 'pid=,args=', '-A'], { encoding: 'utf8' })
        .split('\n')
        .find((each) => each.includes(`receive-pack --stateless-rpc ${path}`))
      const quarantine = readdirSync(join(repo.path, 'objects')).some((name) => name.startsWith('tmp_objdir'))
      if (line && quarantine) return Number(line.trim().split(' ')[0])
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
})

t.test('many at once', async (t) => {
  const { repo, work, url } = await setup()
  await commit(work)
  await good(work, 'push', '-q', 'origin', 'main')
  const pushes = await Promise.all(
    Array.from({ length: 12 }, (_, n) => client(work, 'push', '-q', 'origin', `main:refs/heads/b${n}`)),
  )
  t.ok(
    pushes.every(({ code }) => code === 0),
    'different refs all succeed',
  )
  const clones = await Promise.all(
    Array.from({ length: 6 }, (_, n) => client(folder, 'clone', '-q', '--mirror', url, `${work}-m${n}`)),
  )
  t.ok(clones.every(({ code }) => code === 0))
  t.equal((await git.listRefs(repo)).length, 13)
})

t.test('git archive --remote, and a lasting conversation as SSH has it', async (t) => {
  const { repo, work } = await setup()
  const tip = await commit(work)
  await good(work, 'push', '-q', 'origin', 'main')
  const answer = new PassThrough()
  answer.end('0011argument HEAD0000'.replace('0011', '0012').replace('HEAD', 'HEAD\n'))
  const archive = await buffer(await git.uploadArchive(repo, answer))
  t.match(String(archive), /ACK|NACK/)

  // ext:: joins a client's streams to ours, by a socket each.
  const { createServer } = await import('node:net')
  const bridge = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', async (first) => {
      const [service = '', rest = ''] = String(first).split('\n', 2)
      socket.pause()
      if (rest) socket.unshift(Buffer.from(rest))
      const stream =
        service === 'git-upload-pack'
          ? await git.uploadPack(repo, socket, { stateful: true })
          : git.receivePack(repo, socket, {
              check: accept,
              landed: async (results) => {
                landed = results
                return undefined
              },
              stateful: true,
            })
      pipeline(stream, socket).catch(() => undefined)
    })
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => bridge.listen(0, '127.0.0.1', resolve))
  t.teardown(() => bridge.close())
  const script = join(folder, 'bridge.mjs')
  writeFileSync(
    script,
    `import { connect } from 'node:net'
const s = connect(${(bridge.address() as AddressInfo).port}, '127.0.0.1')
s.write(process.argv[2] + '\\n')
setTimeout(() => { process.stdin.pipe(s); s.pipe(process.stdout) }, 50)`,
  )
  const remote = `ext::${process.execPath} ${script} %S`
  const allow = ['-c', 'protocol.ext.allow=always']
  await good(folder, ...allow, 'clone', '-q', remote, `${work}-ssh`)
  t.equal(await good(`${work}-ssh`, 'rev-parse', 'HEAD'), tip)
  const next = await commit(`${work}-ssh`)
  await good(`${work}-ssh`, ...allow, 'push', '-q', remote, 'main')
  t.equal(await head(repo), next)
  t.match(landed, [{ ok: true, to: next }])
  rules = {}
})

t.test('speed beside git between two folders', async (t) => {
  const { repo, work, url } = await setup()
  mkdirSync(join(work, 'd'))
  for (let n = 0; n < 400; n += 1) writeFileSync(join(work, 'd', `f${n}`), randomBytes(20_000).toString('hex'))
  await commit(work)
  const local = join(folder, 'local.git')
  await good(folder, 'init', '-q', '--bare', local)
  await good(work, 'config', 'core.compression', '0')
  const timed = async (...args: string[]) => {
    const start = process.hrtime.bigint()
    await good(work, ...args)
    return Number(process.hrtime.bigint() - start) / 1e6
  }
  const push = [await timed('push', '-q', `file://${local}`, 'main'), await timed('push', '-q', url, 'main')]
  const clone = [
    await timed('clone', '-q', '--bare', `file://${local}`, `${work}-l`),
    await timed('clone', '-q', '--bare', url, `${work}-h`),
  ]
  t.comment(
    `push ${push.map((each) => each.toFixed(0)).join(' against ')} ms, clone ${clone.map((each) => each.toFixed(0)).join(' against ')} ms`,
  )
  t.ok((push[1] as number) < (push[0] as number) * 3 + 500)
  t.ok((clone[1] as number) < (clone[0] as number) * 3 + 500)
  t.ok(existsSync(join(repo.path, 'HEAD')) && readFileSync(join(repo.path, 'HEAD'), 'utf8').includes('main'))
})
