/** The program from start to end: Ctrl-C, kill -9 in the middle of pushes, starts after that. Embedded PostgreSQL. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { findServer } from '../../core/db/cluster.ts'
import { freePort, type Program, runProgram, startProgram } from '../support/program.ts'

t.setTimeout(270_000)

const run = promisify(execFile)
const pushes = 50

let data: string
let port: number
let password = ''

t.before(async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'swy-crash-')))
  await chmod(root, 0o711) // the database server may run as another user
  t.teardown(async () => {
    // The server of a killed host goes on; nobody else would end it.
    const server = findServer(join(data, 'postgres'))
    if (server) process.kill(server.pid, 'SIGQUIT')
    for (let i = 0; i < 200 && findServer(join(data, 'postgres')); i++) await sleep(20)
    await rm(root, { recursive: true, force: true })
  })
  data = join(root, 'data')
  port = await freePort()
})

const start = (t: Test) => startProgram(t, { data, port })
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`

/** Lines that an operator would wonder about. */
const strange = (program: Program) =>
  program
    .said()
    .split('\n')
    .filter((line) => /error|warn|fail|cannot|exception|corrupt|EADDR|"level":(40|50|60)/i.test(line))

function ends(t: Test, program: Program, { code, ms }: { code: number | null; ms: number }): void {
  t.equal(code, 0, 'it ends in order')
  t.ok(ms < 5000, `it ended in ${seconds(ms)}`)
  t.match(program.said(), /Stopped\./)
  t.equal(findServer(join(data, 'postgres')), undefined, 'the embedded server ended with it')
  t.notOk(existsSync(join(data, 'postgres/postmaster.pid')))
}

t.test('first start, second start beside it, Ctrl-C, later start', async (t) => {
  const first = await start(t)
  t.comment(`the first start, with a new database, took ${seconds(first.took)}`)
  t.type(first.password, 'string', 'the first start shows a password')
  password = first.password ?? ''
  t.strictSame(strange(first), [])
  t.equal((await fetch(`${first.base}/api/healthz`)).status, 200)

  const beside = await runProgram(['serve', '--data', data, '--http', `127.0.0.1:${await freePort()}`])
  t.equal(beside.code, 1)
  t.match(beside.said, `the data folder ${data} is in use by process ${first.child.pid}`)
  t.equal((await fetch(`${first.base}/api/healthz`)).status, 200, 'the first one did not notice')

  ends(t, first, await first.end('SIGINT'))

  const later = await start(t)
  t.comment(`a later start took ${seconds(later.took)}; the promise is 3 s on a machine that does nothing else`)
  t.ok(later.took < 10_000)
  t.equal(later.password, undefined, 'the password is shown once')
  t.strictSame(strange(later), [])
  ends(t, later, await later.end('SIGTERM'))
})

t.test('Ctrl-C while the database is made ends, too', async (t) => {
  const folder = join(data, '../other')
  const program = startProgram(t, { data: folder })
  // The process is there before it says anything.
  const rejected = program.then(
    () => false,
    (error: Error) => error.message,
  )
  await sleep(700)
  const { stdout } = await run('pgrep', ['-f', `serve --data ${folder}`]).catch(() => ({ stdout: '' }))
  for (const pid of stdout.trim().split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGINT')
  const from = performance.now()
  const outcome = await rejected
  if (outcome === false) await (await program).end('SIGKILL')
  else t.ok(performance.now() - from < 5000, `it ended in ${seconds(performance.now() - from)}`)
  const server = findServer(join(folder, 'postgres'))
  if (outcome !== false) t.equal(server, undefined, 'no server is left')
  if (server) process.kill(server.pid, 'SIGQUIT')
})

const identity = {
  GIT_AUTHOR_NAME: 'x',
  GIT_AUTHOR_EMAIL: 'x@example.com',
  GIT_COMMITTER_NAME: 'x',
  GIT_COMMITTER_EMAIL: 'x@example.com',
}
const gitEnvironment = {
  ...process.env,
  ...identity,
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
}
const git = async (cwd: string, ...args: string[]) =>
  (await run('git', args, { cwd, env: gitEnvironment, maxBuffer: 1e8 })).stdout.trim()

/** A folder with branches that each have a commit of their own, by name. */
async function makeBranches(folder: string, round: string): Promise<Map<string, string>> {
  const tree = await git(folder, 'write-tree')
  const branches = new Map<string, string>()
  for (let i = 0; i < pushes; i++) {
    const blob = await git(folder, 'commit-tree', tree, '-m', `${round} ${i} ${'x'.repeat(2000)}`)
    branches.set(`${round}-${i}`, blob)
    await git(folder, 'branch', `${round}-${i}`, blob)
  }
  return branches
}

/** The files below a folder whose names end so. */
async function filesLike(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => pattern.test(name))
}

/** All branches by the API: page for page. */
async function branchesByApi(base: string, auth: string): Promise<Map<string, string> | undefined> {
  const found = new Map<string, string>()
  for (let page = 1; ; page++) {
    const url = `${base}/api/v1/repos/admin/pushed/branches?limit=50&page=${page}`
    const reply = await fetch(url, { headers: { authorization: auth } })
    if (reply.status === 404) return undefined
    const items = (await reply.json()) as { name: string; commit: { id: string } }[] | null
    for (const { name, commit } of items ?? []) found.set(name, commit.id)
    if ((items ?? []).length < 50) return found
  }
}

const kills: [NodeJS.Signals, number][] = [
  ['SIGKILL', 3],
  ['SIGKILL', 20],
  ['SIGINT', 10],
]

t.test(`${pushes} pushes at once, and the host is killed`, async (t) => {
  const folder = t.testdir({})
  await git(folder, 'init', '-q', '-b', 'main', '.')
  const auth = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
  const acknowledged = new Map<string, string>()
  const sent = new Map<string, string>()
  let program = await start(t)
  const made = await fetch(`${program.base}/api/v1/user/repos`, {
    method: 'POST',
    headers: { authorization: auth, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'pushed', private: true }),
  })
  t.equal(made.status, 201)
  const remote = `${program.base.replace('://', `://admin:${password}@`)}/admin/pushed.git`
  if (
    (
      await fetch(`${program.base}/admin/pushed.git/info/refs?service=git-upload-pack`, {
        headers: { authorization: auth },
      })
    ).status !== 200
  )
    return t.fail('git over HTTP is not here')
  const [top] = await filesLike(join(data, 'repositories'), /^[^/]+\/\d+\.git$/)
  const bare = join(data, 'repositories', top as string)

  for (const [index, [signal, after]] of kills.entries()) {
    const branches = await makeBranches(folder, `round${index}`)
    for (const [name, id] of branches) sent.set(name, id)
    const { promise: enough, resolve } = Promise.withResolvers<void>()
    let landed = 0
    const all = [...branches].map(async ([name, id]) => {
      try {
        await git(folder, 'push', '-q', remote, name)
        acknowledged.set(name, id)
        if (++landed === after) resolve()
      } catch {
        // The host was killed: this push was not acknowledged, and may or may not be there.
      }
    })
    await Promise.race([enough, Promise.all(all), sleep(60_000, undefined, { ref: false })])
    const end = await program.end(signal)
    if (signal === 'SIGINT') ends(t, program, end)
    await Promise.all(all)
    t.comment(`${signal} after ${after} of ${pushes} pushes: ${landed} were acknowledged`)
    t.ok(landed >= after && (signal === 'SIGINT' || landed < pushes), 'it was killed in the middle')

    program = await start(t)
    t.comment(`the start after it took ${seconds(program.took)}`)
    t.strictSame(strange(program), [], 'the next start says nothing strange')
    const listed = await git(folder, 'ls-remote', '--heads', remote)
    const byGit = new Map(listed.split('\n').map((line) => [line.slice(52), line.slice(0, 40)] as [string, string]))
    const lost = [...acknowledged].filter(([name, id]) => byGit.get(name) !== id).map(([name]) => name)
    t.strictSame(lost, [], `all ${acknowledged.size} acknowledged pushes are there`)
    t.strictSame(
      [...byGit].filter(([name, id]) => sent.get(name) !== id),
      [],
      'and nothing that nobody pushed',
    )
    const byApi = await branchesByApi(program.base, auth)
    if (byApi) t.strictSame([...byApi].sort(), [...byGit].sort(), 'the API knows what git has')
    for (let i = 0; i < 100 && (await filesLike(bare, /\.lock$/)).length > 0; i++) await sleep(50)
    t.strictSame(await filesLike(bare, /\.lock$/), [], 'no lock is left')
    const { stdout, stderr } = await run('git', ['fsck', '--full', '--no-dangling'], { cwd: bare, env: gitEnvironment })
    t.notMatch(stdout + stderr, /error|missing|corrupt|broken/, 'git finds nothing wrong')
  }

  const again = await git(folder, 'push', '-q', remote, '--all').then(() => true)
  t.ok(again, 'and everything can be pushed again')
  ends(t, program, await program.end('SIGINT'))
})
