/**
 * What somebody does who has just cloned the repository and reads the README: a copy of what git knows of, with nothing
 * beside it but the packages, is started, pushed to, operated, stopped and started again. The commands of "First push"
 * are taken from the README as they stand there.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readConfig } from '#core/config'
import { shippedPlugins } from '../config/plugins.ts'
import { schemasOf, switchKeysOf } from '../core/rooms.ts'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
t.setTimeout(240_000)

/** Below it everything happens; a database server of another user may pass through. */
const place = realpathSync(mkdtempSync(join(tmpdir(), 'switchyard-newcomer-')))
chmodSync(place, 0o711)
const [clone, data, home, bin] = ['clone', 'data', 'home', 'bin'].map((name) => join(place, name)) as Texts
type Texts = [string, string, string, string]
for (const folder of [clone, home, bin]) mkdirSync(folder)
t.teardown(() => rmSync(place, { recursive: true, force: true }))

const env: NodeJS.ProcessEnv = {
  PATH: `${process.env.PATH}${delimiter}${bin}`,
  HOME: home,
  TMPDIR: tmpdir(),
  GIT_AUTHOR_NAME: 'Newcomer',
  GIT_AUTHOR_EMAIL: 'newcomer@example.com',
  GIT_COMMITTER_NAME: 'Newcomer',
  GIT_COMMITTER_EMAIL: 'newcomer@example.com',
  GIT_CONFIG_NOSYSTEM: '1',
  npm_config_update_notifier: 'false',
}

type Ended = { readonly code: number; readonly out: string; readonly err: string }

function run(file: string, args: readonly string[], cwd = clone): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd, env, timeout: 60_000 }, (error, out, err) => {
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : -1) : 0, out, err })
    })
  })
}

const switchyard = (...words: string[]) => run(join(clone, 'bin/switchyard'), [...words, '--data', data])

/** The first block of a section of the README. */
function blockOf(section: string, language: string, from = readme): string {
  const start = from.indexOf(`\n## ${section}\n`)
  const block = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(from.slice(start))?.[1]
  if (start < 0 || block === undefined) throw new Error(`the README has no ${language} block below "${section}"`)
  return block
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** A process in a group of its own, as a terminal would start it. */
type Started = {
  readonly child: ChildProcess
  readonly said: () => string
  readonly ended: Promise<number | null>
  /** Milliseconds until it said that it is ready. */
  readonly ready: number
}

const groups = new Set<number>()
process.on('exit', () => {
  for (const group of groups) signal(group, 'SIGKILL')
})

function signal(group: number | undefined, name: NodeJS.Signals): void {
  try {
    process.kill(-Number(group), name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function start(file: string, args: readonly string[], sign: RegExp): Promise<Started> {
  const began = Date.now()
  const child = spawn(file, args, { cwd: clone, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const group = child.pid as number
  groups.add(group)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (more) => (text += more))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  void ended.then(() => groups.delete(group))
  for (const end = began + 90_000; !sign.test(text); await sleep(20)) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`it is not ready: ${text}`)
  }
  return { child, said: () => text, ended, ready: Date.now() - began }
}

/** Ctrl-C: every process of the group hears it. Answers the exit code and how long it took in ms. */
async function interrupt({ child, ended }: Started): Promise<{ code: number | null; took: number }> {
  const began = Date.now()
  signal(child.pid, 'SIGINT')
  const code = await ended
  return { code, took: Date.now() - began }
}

let port: number
let password = ''
const base = () => `http://127.0.0.1:${port}`
const npmStart = () =>
  start('npm', ['start', '--', '--data', data, '--http', `127.0.0.1:${port}`], /^Switchyard \S+ listening on /m)

async function api(method: string, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
  const response = await fetch(`${base()}/api/v1${path}`, { method, headers: { authorization } })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : {} }
}

/** The status of starring, as soon as it is the wanted one, or after two seconds. */
async function starring(wanted: number): Promise<number> {
  for (const end = Date.now() + 2_000; ; await sleep(50)) {
    const { status } = await api('PUT', '/user/starred/admin/hello')
    if (status === wanted || Date.now() > end) return status
  }
}

/** Machines without curl still follow the README: with as much of it as that takes. */
async function ensureCurl(t: Test): Promise<void> {
  if ((await run('curl', ['--version'])).code === 0) return
  t.comment('curl is not here; a stand-in takes its place')
  const script = `#!${process.execPath}
const given = process.argv.slice(2), options = {}
while (given.length > 1) options[given.shift()] = given.shift()
const headers = { authorization: 'Basic ' + btoa(options['-u']), 'content-type': 'application/x-www-form-urlencoded' }
const method = options['-X'] ?? (options['-d'] ? 'POST' : 'GET')
fetch(given[0], { method, headers, body: options['-d'] }).then((r) => r.text()).then(console.log)
`
  writeFileSync(join(bin, 'curl'), script, { mode: 0o755 })
}

t.test('a clone', async (t) => {
  const listed = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files) {
    if (file && existsSync(join(root, file))) cpSync(join(root, file), join(clone, file), { verbatimSymlinks: true })
  }
  const missing = await run(join(clone, 'bin/switchyard'), ['serve'])
  t.equal(missing.code, 1)
  t.match(missing.err, /run "npm install" in /, 'without its packages it says what to do')
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  await ensureCurl(t)
})

t.test('the first start, the first push, the first star', async (t) => {
  port = await freePort()
  const host = await npmStart()
  t.match(host.said(), /^creating the database$/m, 'what takes long is said')
  t.match(host.said(), `This host is new: ${base()}\n`)
  password = /administrator is admin with the password (\S+)/.exec(host.said())?.[1] ?? ''
  t.not(password, '', 'the password is shown')
  t.match(host.said(), new RegExp(`^Switchyard \\d+\\.\\d+\\.\\d+ listening on ${base()}$`, 'm'))

  const script = blockOf('First push', 'sh')
    .replaceAll('PASSWORD', password)
    .replaceAll('http://127.0.0.1:3000', base())
  const lines = script.replaceAll(`admin:${password}@127.0.0.1:3000`, `admin:${password}@127.0.0.1:${port}`)
  t.equal(lines.trim().split('\n').length, 5)
  const pushed = await run('sh', ['-e', '-c', lines], home)
  t.match(pushed, { code: 0 })
  t.match(await api('GET', '/repos/admin/hello'), { status: 200, body: { empty: false, stars_count: 1 } })
  const cloned = await run('git', ['clone', '-q', `${base()}/admin/hello.git`, 'again'], home)
  t.equal(cloned.code, 0, cloned.err)
  t.equal(readFileSync(join(home, 'again/README.md'), 'utf8'), 'Hello!\n')

  await t.test('commands while it runs', async (t) => {
    const plugins = await switchyard('plugins')
    t.match(plugins.out, new RegExp(`^process \\d+ \\(all\\), Switchyard \\S+, ${base()}$`, 'm'))
    t.match(plugins.out, /^ {2}stars +on +default +People star/m)
    t.match(plugins.out, /^ {6}listener /m, 'what it holds')
    t.match((await switchyard('switches', 'list')).out, /^DISABLE_STARS +false +default +\[repository\] +stars$/m)
    t.match(await switchyard('switches', 'set', 'DISABLE_STARS', 'true'), { code: 0, out: 'DISABLE_STARS is true.\n' })
    t.equal(await starring(403), 403, 'within two seconds')
    t.equal((await switchyard('switches', 'set', 'DISABLE_STARS', 'false')).code, 0)
    t.equal(await starring(204), 204)
    writeFileSync(join(data, 'app.ini'), '[repository]\nDISABLE_STARS = true\n')
    t.match(await switchyard('reload'), { code: 0, out: 'The host has read its configuration again.\n' })
    t.equal(await starring(403), 403, 'a changed file is applied')
    const locked = await switchyard('switches', 'set', 'DISABLE_STARS', 'false')
    t.match(locked, { code: 1, err: `DISABLE_STARS is declared in ${data}/app.ini:2, and only there` })
    rmSync(join(data, 'app.ini'))
    t.equal((await switchyard('reload')).code, 0)
    t.equal(await starring(204), 204)
    t.match(await switchyard('doctor'), { code: 0, out: /^ok +tables: /m })
    const { out: token } = await switchyard('admin', 'user', 'generate-access-token', '--username', 'admin', '--raw')
    const headers = { authorization: `token ${token.trim()}` }
    t.equal((await fetch(`${base()}/api/v1/user`, { headers })).status, 200, 'the token of the README')
    const second = await switchyard('serve', '--http', '127.0.0.1:0')
    t.equal(second.code, 1)
    t.match(second.err, /is in use by process \d+; stop it, or choose another with --data DIR/)
  })

  const { code, took } = await interrupt(host)
  t.equal(code, 0)
  t.ok(took < 5_000, `it stopped in ${took} ms`)
  t.match(host.said(), /^Stopped\.$/m)
  t.notOk(existsSync(join(data, 'postgres/postmaster.pid')), 'its database stopped with it')
})

t.test('commands while nothing runs', async (t) => {
  const plugins = await switchyard('plugins', '--brief')
  t.equal(plugins.code, 0, plugins.err)
  t.match(plugins.out, `No host runs on ${data}.`)
  t.match(plugins.out, /^ {2}stars +on +set at run time/m)
  t.match(await switchyard('switches', 'set', 'disable_stars', 'true'), { code: 0, out: 'DISABLE_STARS is true.\n' })
  t.match((await switchyard('switches', 'list')).out, /^DISABLE_STARS +true +set at run time/m)
  t.match(await switchyard('doctor'), { code: 0, out: /^ok +plugins: /m })
  t.match(await switchyard('reload'), { code: 1, err: /no host runs on / })
  t.notOk(existsSync(join(data, 'postgres/postmaster.pid')), 'the database ran only for their time')
})

t.test('the next start', async (t) => {
  const host = await npmStart()
  // At rest it takes less than 3 s; here other tests run beside it.
  t.ok(host.ready < 8_000, `ready after ${host.ready} ms`)
  t.notMatch(host.said(), password, 'the password is not shown again')
  t.notMatch(host.said(), /This host is new|creating the database/)
  t.equal(await starring(403), 403, 'switches stay as they were set')
  t.match(await api('GET', '/repos/admin/hello'), { status: 200, body: { empty: false } })
  signal(host.child.pid, 'SIGKILL')
  await host.ended
  const after = await npmStart()
  t.equal(await starring(403), 403, 'also after kill -9, which left the locks and the database running')
  t.match(await interrupt(after), { code: 0 })
})

t.test('web and work apart', async (t) => {
  const half = (only: string, sign: RegExp) =>
    start(join(clone, 'bin/switchyard'), ['serve', '--only', only, '--data', data, '--http', `127.0.0.1:${port}`], sign)
  const work = await half('work', /working in the background$/m)
  const web = await half('web', /listening on /)
  t.match((await switchyard('plugins', '-b')).out, /\(web\)[\s\S]*\(work\)/)
  t.equal((await api('GET', '/repos/admin/hello')).status, 200)
  t.match(await interrupt(web), { code: 0 })
  t.match(await interrupt(work), { code: 0 })
})

t.test('the settings that are shown are settings', async (t) => {
  const known = { schemas: schemasOf(shippedPlugins), switches: switchKeysOf(shippedPlugins) }
  const file = join(place, 'app.ini')
  for (const section of ['Configuration', 'Write a plugin']) {
    writeFileSync(file, blockOf(section, 'ini'))
    t.doesNotThrow(() => readConfig({ file, data, env: {}, ...known }), section)
  }
  const example = readFileSync(join(root, 'config/app.example.ini'), 'utf8')
  writeFileSync(file, example.replace(/^;(?=[A-Z_]+ = .)/gm, ''))
  t.doesNotThrow(
    () => readConfig({ file, data, env: {}, ...known }),
    'every default of the example may be written down',
  )

  const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  const set = [...compose.matchAll(/^ {6}(SWITCHYARD__\w+|DATABASE_URL): (\S+)$/gm)].map(([, name, value]) => [
    name,
    value,
  ])
  t.equal(set.length, 5)
  const config = readConfig({ env: Object.fromEntries(set), ...known })
  t.match(config.get('server'), { HTTP_ADDR: '0.0.0.0', ROOT_URL: 'http://localhost:3000/' })
  t.match([config.get('database').URL, config.get('queue').REDIS_URL], [/^postgres:/, /^redis:/])
})

t.test('places that the README names exist', async (t) => {
  for (const [, path = ''] of readme.matchAll(/\]\(([^)#:]+)\)/g)) t.ok(existsSync(join(clone, path)), path)
  for (const name of ['config', 'core', 'plugins', 'test', 'bench', 'bin/switchyard', '.ci/run', 'core/README.md']) {
    t.ok(existsSync(join(clone, name)), name)
  }
})
