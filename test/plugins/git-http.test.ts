import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startHost, type TestHost } from '../support/host.ts'

let h: TestHost
let folder: string

type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** Runs git as a client, in a folder of its own. */
function git(cwd: string, ...args: string[]): Promise<Ran> {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'alice@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'alice@example.com',
  }
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env, maxBuffer: 1 << 26 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out, err }),
    )
  })
}

/** A local repository with one commit on main. */
async function work(name: string): Promise<string> {
  const dir = join(folder, `${name}-${randomBytes(4).toString('hex')}`)
  await git(folder, 'init', '-q', '-b', 'main', dir)
  await commit(dir, 'README.md', '# one\n')
  return dir
}

async function commit(dir: string, file: string, content: string | Buffer): Promise<string> {
  await writeFile(join(dir, file), content)
  await git(dir, 'add', '-A')
  await git(dir, 'commit', '-qm', `change ${file}`)
  return (await git(dir, 'rev-parse', 'HEAD')).out.trim()
}

t.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'git-client-'))
  h = await startHost(t)
  for (const name of ['alice', 'bob']) await h.user(name)
  for (const name of ['one', 'two', 'big', 'refs']) await h.call('POST', '/user/repos', { name }, { as: 'alice' })
  await h.call('POST', '/user/repos', { name: 'secret', private: true, auto_init: true }, { as: 'alice' })
})
t.teardown(() => rm(folder, { recursive: true, force: true }))

t.test('push, read back by the API, clone, fetch, pull', async (t) => {
  const dir = await work('first')
  const pushed = await git(dir, 'push', '-q', h.remote('alice', '/alice/one.git'), 'main')
  t.equal(pushed.code, 0, pushed.err)
  const record = await h.call('GET', '/repos/alice/one', undefined, { as: null })
  t.match(record.body, { empty: false, default_branch: 'main', branch_count: 1 })
  const copy = join(folder, 'copy')
  t.equal((await git(folder, 'clone', '-q', `${h.base}/alice/one.git`, copy)).code, 0)
  t.equal(await readFile(join(copy, 'README.md'), 'utf8'), '# one\n')
  const second = await commit(dir, 'more.txt', 'more\n')
  await git(dir, 'push', '-q', h.remote('alice', '/alice/one'), 'main')
  t.equal((await git(copy, 'pull', '-q')).code, 0)
  t.equal((await git(copy, 'rev-parse', 'HEAD')).out.trim(), second)
})

t.test('the first pushed branch becomes the default one', async (t) => {
  const dir = await work('trunk')
  await git(dir, 'branch', '-m', 'trunk')
  await git(dir, 'push', '-q', h.remote('alice', '/alice/two.git'), 'trunk')
  t.match((await h.call('GET', '/repos/alice/two')).body, { default_branch: 'trunk', empty: false })
  const heads = await git(folder, 'ls-remote', '--symref', `${h.base}/alice/two.git`, 'HEAD')
  t.match(heads.out, /ref: refs\/heads\/trunk\s+HEAD/)
})

for (const version of ['0', '1', '2']) {
  t.test(`protocol version ${version}: clone, shallow clone, fetch of one branch`, async (t) => {
    const p = ['-c', `protocol.version=${version}`]
    const url = `${h.base}/alice/one.git`
    t.equal((await git(folder, ...p, 'clone', '-q', url, `v${version}`)).code, 0)
    const shallow = await git(folder, ...p, 'clone', '-q', '--depth', '1', url, `v${version}-shallow`)
    t.equal(shallow.code, 0, shallow.err)
    t.equal((await git(join(folder, `v${version}-shallow`), 'rev-list', '--count', 'HEAD')).out.trim(), '1')
    t.equal((await git(join(folder, `v${version}-shallow`), ...p, 'fetch', '-q', '--unshallow')).code, 0)
    const dir = await work(`push-v${version}`)
    const pushed = await git(dir, ...p, 'push', '-q', h.remote('alice', '/alice/refs.git'), `main:from-v${version}`)
    t.equal(pushed.code, 0, pushed.err)
  })
}

t.test('tags, force-push, deletion, several refs at once, all or none', async (t) => {
  const dir = await work('refs')
  const url = h.remote('alice', '/alice/refs.git')
  await git(dir, 'push', '-q', '-f', url, 'main')
  await git(dir, 'tag', 'light')
  await git(dir, 'tag', '-a', 'heavy', '-m', 'a tag')
  t.equal((await git(dir, 'push', '-q', url, 'light', 'heavy')).code, 0)
  await git(dir, 'commit', '-q', '--amend', '-m', 'another')
  t.not((await git(dir, 'push', '-q', url, 'main')).code, 0, 'not a fast-forward')
  t.equal((await git(dir, 'push', '-q', '-f', url, 'main')).code, 0)
  t.equal((await git(dir, 'push', '-q', url, 'main:side')).code, 0)
  t.equal((await git(dir, 'push', '-q', url, ':side')).code, 0)
  const refused = await git(dir, 'push', '--atomic', url, 'main:new', 'main:refs/pull/1/head')
  t.not(refused.code, 0)
  const heads = await git(folder, 'ls-remote', `${h.base}/alice/refs.git`)
  t.notMatch(heads.out, 'refs/heads/new', 'the atomic push left nothing')
  t.notMatch(heads.out, 'refs/heads/side')
  t.match(heads.out, 'refs/tags/heavy^{}')
})

t.test('the default branch cannot be deleted', async (t) => {
  const dir = await work('keep')
  const gone = await git(dir, 'push', h.remote('alice', '/alice/one.git'), ':main')
  t.not(gone.code, 0)
  t.match(gone.err, 'branch main is the default branch and cannot be deleted')
  t.match(gone.err, 'pre-receive hook declined')
})

t.test('who may fetch and push', async (t) => {
  const dir = await work('rights')
  const ls = (url: string) => git(folder, 'ls-remote', url)
  const readOnly = await h.tokenWith('alice', ['read:repository'])
  const issuesOnly = await h.tokenWith('alice', ['write:issue'])
  const publicOnly = await h.tokenWith('alice', ['write:repository', 'public-only'])
  const withToken = (token: string, repo: string) => `${h.base.replace('://', `://x:${token}@`)}/alice/${repo}.git`

  t.not((await ls(`${h.base}/alice/secret.git`)).code, 0, 'anonymous, private')
  t.not((await ls(h.remote('bob', '/alice/secret.git'))).code, 0, 'a stranger, private')
  t.equal((await ls(h.remote('alice', '/alice/secret.git'))).code, 0)
  t.equal((await ls(withToken(readOnly, 'secret'))).code, 0)
  t.not((await ls(withToken(issuesOnly, 'secret'))).code, 0, 'another scope')
  t.not((await ls(withToken(publicOnly, 'secret'))).code, 0, 'public-only, private')
  t.equal((await ls(withToken(publicOnly, 'one'))).code, 0)

  const readOnlyPush = await git(dir, 'push', withToken(readOnly, 'one'), 'main:ro')
  t.not(readOnlyPush.code, 0, 'a read-only token cannot push')
  const stranger = await git(dir, 'push', h.remote('bob', '/alice/one.git'), 'main:bob')
  t.not(stranger.code, 0)
  t.match(stranger.err, 'User permission denied for writing.')
  await h.call('PUT', '/repos/alice/one/collaborators/bob', { permission: 'write' }, { as: 'alice' })
  t.equal((await git(dir, 'push', '-q', h.remote('bob', '/alice/one.git'), 'main:bob')).code, 0)
  await h.call('PATCH', '/repos/alice/one', { archived: true }, { as: 'alice' })
  const archived = await git(dir, 'push', h.remote('alice', '/alice/one.git'), 'main:late')
  t.not(archived.code, 0)
  t.equal((await ls(`${h.base}/alice/one.git`)).code, 0, 'an archived one can be fetched')
  await h.call('PATCH', '/repos/alice/one', { archived: false }, { as: 'alice' })
})

t.test('answers of the contract', async (t) => {
  const refs = (repo: string, service: string, as: string | null = null) =>
    h.call('GET', `//alice/${repo}.git/info/refs?service=${service}`, undefined, { as })
  const anonymous = await refs('secret', 'git-upload-pack')
  t.equal(anonymous.status, 401)
  t.match(anonymous.headers.get('www-authenticate'), /^Basic realm="Gitea"/)
  t.equal((await refs('nowhere', 'git-upload-pack')).status, 401, 'missing looks like hidden')
  t.equal((await refs('nowhere', 'git-upload-pack', 'alice')).status, 404)
  t.equal((await refs('secret', 'git-upload-pack', 'bob')).status, 404)
  t.equal((await refs('nowhere', 'git-receive-pack', 'alice')).status, 403)
  t.equal((await refs('one', 'git-receive-pack')).status, 401)
  t.equal((await refs('one', 'git-upload-archive')).status, 400)
  t.equal((await refs('one', 'ls')).status, 400)
  const offered = await refs('one', 'git-upload-pack')
  t.equal(offered.status, 200)
  t.equal(offered.headers.get('content-type'), 'application/x-git-upload-pack-advertisement')
  t.equal(offered.headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate')
  t.match(offered.body, /^001e# service=git-upload-pack\n0000/)
  const wrongType = await h.call('POST', '//alice/one.git/git-upload-pack', '0000', {
    as: null,
    headers: { 'content-type': 'text/plain' },
  })
  t.equal(wrongType.status, 400)
  await h.call('PATCH', '/repos/alice/two', { name: 'zwei' }, { as: 'alice' })
  const moved = await refs('two', 'git-upload-pack')
  t.equal(moved.status, 301)
  t.equal(moved.headers.get('location'), '/alice/zwei/info/refs?service=git-upload-pack')
  const doubled = await h.call('GET', '///alice/two.git/info/refs?service=git-upload-pack', undefined, { as: null })
  t.match(doubled.headers.get('location'), /^\/alice\//, 'never another host')
  t.equal((await git(folder, 'ls-remote', `${h.base}/alice/two.git`)).code, 0, 'git follows')
})

t.test('the old protocol of plain files', async (t) => {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_SMART_HTTP: '0' }
  const code = await new Promise((resolve) =>
    spawn('git', ['clone', '-q', `${h.base}/alice/one.git`, join(folder, 'dumb')], { env }).on('close', resolve),
  )
  t.equal(code, 0)
  t.ok(existsSync(join(folder, 'dumb', 'README.md')))
  t.equal((await h.call('GET', '//alice/one.git/objects/..%2f..%2f..%2fconfig', undefined, { as: null })).status, 404)
})

t.test('a push of 100 MB streams: the host grows by little', async (t) => {
  const dir = await work('big')
  await commit(dir, 'noise.bin', randomBytes(100 * 1024 * 1024))
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 20)
  const pushed = await git(dir, 'push', '-q', h.remote('alice', '/alice/big.git'), 'main')
  const cloned = await git(folder, 'clone', '-q', `${h.base}/alice/big.git`, 'big-copy')
  clearInterval(watch)
  t.equal(pushed.code, 0, pushed.err)
  t.equal(cloned.code, 0, cloned.err)
  t.ok(most - before < 64 * 1024 * 1024, `${Math.round((most - before) / 1048576)} MB more at most`)
})

t.test('parallel pushes to different branches all succeed and are all seen', async (t) => {
  const dir = await work('many')
  const names = Array.from({ length: 12 }, (_, i) => `many-${i}`)
  const results = await Promise.all(
    names.map((name) => git(dir, 'push', '-q', h.remote('alice', '/alice/refs.git'), `main:${name}`)),
  )
  t.strictSame(
    results.map((result) => result.code),
    names.map(() => 0),
  )
  const heads = await git(folder, 'ls-remote', '--heads', `${h.base}/alice/refs.git`)
  for (const name of names) t.match(heads.out, `refs/heads/${name}\n`)
  const { body } = await h.call('GET', '/repos/alice/refs')
  t.equal(body.branch_count, heads.out.trim().split('\n').length, 'PostgreSQL knows what git knows')
})

t.test('git over HTTP is switched off live', async (t) => {
  await h.rooms.settings.set('repository', 'DISABLE_HTTP_GIT', 'true')
  await h.rooms.plugins.reconcile()
  const off = await h.call('GET', '//alice/one.git/info/refs?service=git-upload-pack', undefined, { as: null })
  t.equal(off.status, 403)
  t.match(off.body, 'Interacting with repositories by HTTP protocol is not allowed')
  await h.rooms.settings.set('repository', 'DISABLE_HTTP_GIT', null)
  await h.rooms.plugins.reconcile()
  t.equal((await git(folder, 'ls-remote', `${h.base}/alice/one.git`)).code, 0)
})
