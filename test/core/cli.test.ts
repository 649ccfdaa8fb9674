import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import {
  askAll,
  type Command,
  CommandError,
  command,
  controlFolder,
  flag,
  type Host,
  needed,
  number,
  openControl,
  optional,
  type ProcessStatus,
  type Running,
  rest,
  run,
  type SwitchState,
  text,
} from '#core/cli'
import { readConfig } from '#core/config'
import type { PluginStatus } from '#core/plugin'

const stars: PluginStatus = {
  name: 'stars',
  summary: 'Stars',
  state: 'on',
  why: 'default',
  effects: ['service stars.stars', 'listener x'],
  running: 2,
}

/** A host without plugins or database; `over` replaces what a test is about. */
function bareHost(
  over: Partial<Host> & {
    commands?: Command[]
    switches?: SwitchState[]
    live?: Command[]
    set?: (key: string, value: boolean) => void
  } = {},
): Host {
  const { commands = [], switches = [], live = commands, set = () => {} } = over
  return {
    version: '1.2.3',
    load: async () => ({
      schemas: [{ test: Type.Object({ COLOUR: Type.String({ default: 'red' }) }) }],
      switches: [{ section: 'repository', key: 'DISABLE_STARS' }],
      commands,
    }),
    serve: async () => running(),
    withHost: async (_, use) =>
      use({
        switches: { list: async () => switches, set: async (key, value) => set(key, value), clear: async () => {} },
        plugins: async () => [{ ...stars, effects: [], running: 0 }],
        commands: live,
        migrate: async () => ['stars/0001-star'],
        checks: [{ name: 'database', run: () => ({ ok: true, detail: 'PostgreSQL 18' }) }],
      }),
    ...over,
  }
}

function running(over: Partial<Running> = {}): Running {
  return { url: 'http://127.0.0.1:3000', plugins: () => [stars], reload: async () => {}, stop: async () => {}, ...over }
}

/** Runs a command line and answers its exit status and what it wrote. */
async function call(line: string | readonly string[], host = bareHost(), env: Record<string, string> = {}) {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const code = await run(typeof line === 'string' ? line.split(' ').filter(Boolean) : line, host, io, env)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** A data folder. Below a long path its sockets are elsewhere, and go with it. */
const dataFolder = (test: Pick<typeof t, 'testdir' | 'teardown'>, content: Parameters<typeof t.testdir>[0]) => {
  const data = test.testdir(content)
  test.teardown(() => rmSync(controlFolder(pathsOf(data)), { recursive: true, force: true }))
  return data
}

const eventually = async (what: string, is: () => boolean) => {
  for (const end = Date.now() + 5_000; !is(); await new Promise((done) => setTimeout(done, 5))) {
    if (Date.now() > end) throw new Error(`${what} did not happen`)
  }
}

t.test('options and arguments of a declared command', async (t) => {
  const given: unknown[] = []
  const create = command({
    name: ['admin', 'user', 'create'],
    summary: 'creates a user',
    options: {
      username: text('login name', { short: 'u', required: true, aliases: ['name'] }),
      userType: text('kind of account', { default: 'individual' }),
      mustChangePassword: flag('at the next sign-in'),
      admin: flag('site administrator', { default: false }),
      randomPasswordLength: number('letters', { default: 12 }),
      level: text('level', { choices: ['low', 'high'] }),
    },
    arguments: { first: optional('a word'), others: rest('more words') },
    examples: ['admin user create --username amy'],
    run(input, io) {
      // Types follow from the declaration: this line is checked by the compiler.
      const typed: [
        string,
        string,
        boolean | undefined,
        boolean,
        number,
        string | undefined,
        string | undefined,
        readonly string[],
      ] = [
        input.username,
        input.userType,
        input.mustChangePassword,
        input.admin,
        input.randomPasswordLength,
        input.level,
        input.first,
        input.others,
      ]
      given.push(typed)
      io.out('created')
    },
  })
  const host = bareHost({ commands: [create] })
  const accept: [string, unknown[]][] = [
    ['--username amy', ['amy', 'individual', undefined, false, 12, undefined, undefined, []]],
    ['-u amy --admin --must-change-password', ['amy', 'individual', true, true, 12, undefined, undefined, []]],
    [
      '--name amy --must-change-password=false --admin=1',
      ['amy', 'individual', false, true, 12, undefined, undefined, []],
    ],
    [
      '--name=amy --no-must-change-password --no-admin',
      ['amy', 'individual', false, false, 12, undefined, undefined, []],
    ],
    [
      '--username=a=b --user-type bot --random-password-length 20',
      ['a=b', 'bot', undefined, false, 20, undefined, undefined, []],
    ],
    [
      '-u amy --must-change-password bob cleo dan --level high',
      ['amy', 'individual', true, false, 12, 'high', 'bob', ['cleo', 'dan']],
    ],
    ['-u amy -- --admin=false', ['amy', 'individual', undefined, false, 12, undefined, '--admin=false', []]],
    ['-u amy --data /d --http 1', ['amy', 'individual', undefined, false, 12, undefined, undefined, []]],
  ]
  for (const [line, expected] of accept) {
    const { code, out, err } = await call(`admin user create ${line}`, host)
    t.same({ code, out, err }, { code: 0, out: 'created', err: '' }, line)
    t.strictSame(given.pop(), expected, line)
  }
  const refuse: [string, RegExp][] = [
    ['', /^Command error: required option '-u, --username <text>' not specified/],
    ['-u', /^Command error: option '-u, --username <text>' argument missing/],
    ['-u amy --admin=perhaps', /^Command error: --admin takes true or false$/],
    ['-u amy --random-password-length many', /^Command error: option .* is invalid. It takes a whole number\./],
    ['-u amy --random-password-length -1', /^Command error: option .* argument/],
    ['-u amy --level middle', /^Command error: .*Allowed choices are low, high\./],
    ['-u amy --usertype bot', /^Command error: unknown option '--usertype'\n\(Did you mean --user-type\?\)/],
  ]
  for (const [line, expected] of refuse) {
    const { code, out, err } = await call(`admin user create ${line}`, host)
    t.match({ code, out, err }, { code: 1, out: '', err: expected }, line)
  }
  t.equal(given.length, 0)
})

t.test('help is everywhere and costs nothing', async (t) => {
  const hello = command({
    name: ['say', 'hello'],
    summary: 'greets',
    arguments: { who: needed('a person') },
    examples: ['say hello amy'],
    run: () => {},
  })
  const host = bareHost({ commands: [hello], withHost: () => t.fail('nothing is connected for help') as never })
  for (const line of ['', '--help', 'help', '-h']) {
    const { code, out } = await call(line, host)
    t.equal(code, 0, line)
    for (const name of [
      'serve',
      'switches',
      'plugins',
      'reload',
      'migrate',
      'doctor',
      'config',
      'say',
      'Examples:',
      '--data <dir>',
    ])
      t.match(out, name)
  }
  t.match(await call('say hello --help', host), {
    code: 0,
    out: /Usage: switchyard say hello .*<who>[\s\S]*a person[\s\S]*--config <file>[\s\S]*switchyard say hello amy/,
  })
  t.match(await call('switches', host), { code: 1, err: /list[\s\S]*set[\s\S]*clear/ })
  t.match(await call('--version', host), { code: 0, out: 'switchyard 1.2.3' })
  t.match(await call('serv', host), {
    code: 1,
    err: /^Command error: unknown command 'serv'\n\(Did you mean serve\?\)/,
  })
  t.match(await call('plugins --config', host), {
    code: 1,
    err: /^Command error: option '--config <file>' argument missing/,
  })
  t.match(await call('say hello', host), { code: 1, err: /^Command error: missing required argument 'who'/ })
  t.match(await call('say hello a b', host), { code: 1, err: /^Command error: too many arguments/ })
})

t.test('errors are one line; --verbose adds where they arose', async (t) => {
  const fail = (error: unknown) => command({ name: ['fail'], summary: '', run: () => Promise.reject(error) })
  const failing = (error: unknown) => bareHost({ commands: [fail(error)] })
  t.strictSame(await call('fail', failing(new Error('no such user'))), {
    code: 1,
    out: '',
    err: 'Command error: no such user',
  })
  t.strictSame(await call('fail', failing(new CommandError('busy', 3))), {
    code: 3,
    out: '',
    err: 'Command error: busy',
  })
  t.match(await call('fail --verbose', failing(new Error('x'))), {
    code: 1,
    err: /^Command error: x\nError: x\n {4}at /,
  })
  t.match(await call('--verbose fail', failing(new Error('x'))), { err: /\n {4}at / })
  const taken = Object.assign(new Error('listen'), { code: 'EADDRINUSE', address: '127.0.0.1', port: 3000 })
  t.match(await call('fail', failing(taken)), { err: /127\.0\.0\.1:3000 is taken by another program/ })
  const off = bareHost({ commands: [fail(new Error('not reached'))], live: [] })
  t.match(await call('fail', off), { code: 1, err: /"fail" belongs to a plugin that is off/ })
  const data = dataFolder(t, { 'app.ini': '[test]\nCOLOR = blue\n' })
  t.match(await call(`plugins --data ${data}`), {
    code: 1,
    err: /has a mistake:\n.*app\.ini:2: \[test\] COLOR: unknown key; did you mean COLOUR\?/,
  })
})

t.test('global options count before and after the command', async (t) => {
  const data = dataFolder(t, {})
  const seen: string[] = []
  const host = bareHost({
    async withHost(config) {
      seen.push(`${config.paths.data} ${config.get('server').HTTP_PORT}`)
      return undefined as never
    },
  })
  await call(`--data ${data} --http :4000 migrate`, host)
  await call(`migrate --data ${data} --http :4000`, host)
  await call(`--http=:4000 migrate --data=${data}`, host)
  t.strictSame(seen, Array(3).fill(`${data} 4000`))
})

t.test('switches', async (t) => {
  const data = dataFolder(t, {})
  const set: unknown[] = []
  const switches = [
    {
      section: 'repository',
      key: 'DISABLE_STARS',
      aliases: ['NO_STARS'],
      plugin: 'stars',
      value: false,
      source: 'default',
      locked: false,
    },
    {
      section: 'security',
      key: 'DISABLE_WEB_HOOKS',
      aliases: [],
      plugin: 'webhooks',
      value: true,
      source: 'data/app.ini:3',
      locked: true,
    },
  ]
  const host = bareHost({ switches, set: (key, value) => set.push([key, value]) })
  const { out } = await call(`switches list --data ${data}`, host)
  t.match(
    out,
    /^SWITCH +VALUE +FROM +SECTION +PLUGIN\nDISABLE_STARS +false +default +\[repository\] +stars\n.* true +data\/app\.ini:3 \(locked\)/,
  )
  t.match(await call(`switches set disable_stars on --data ${data}`, host), { code: 0, out: 'DISABLE_STARS is true.' })
  t.match(await call(`switches set NO_STARS 0 --data ${data}`, host), { code: 0, out: 'DISABLE_STARS is false.' })
  t.strictSame(set, [
    ['DISABLE_STARS', true],
    ['DISABLE_STARS', false],
  ])
  t.match(await call(`switches clear DISABLE_STARS --data ${data}`, host), { code: 0 })
  t.match(await call(`switches set DISABLE_STARS maybe --data ${data}`, host), {
    code: 1,
    err: /"maybe" is not a value of a switch/,
  })
  t.match(await call(`switches set DISABLE_STAR true --data ${data}`, host), {
    code: 1,
    err: /no switch is named DISABLE_STAR; did you mean DISABLE_STARS\?/,
  })
  for (const line of ['set DISABLE_WEB_HOOKS false', 'clear DISABLE_WEB_HOOKS']) {
    t.match(await call(`switches ${line} --data ${data}`, host), {
      code: 1,
      err: /DISABLE_WEB_HOOKS is declared in data\/app\.ini:3/,
    })
  }
  t.equal(set.length, 2)
})

t.test('migrate, config, doctor', async (t) => {
  const data = dataFolder(t, {})
  t.match(await call(`migrate --data ${data}`), { code: 0, out: 'applied stars/0001-star\n1 migrations were applied.' })
  t.match(await call('config'), { code: 0, out: /\[test\]\n; Allowed: text\.\n;COLOUR = red/ })
  const well = await call(`doctor --data ${data}`)
  t.match(well, { code: 0, out: /^ok {4}git: git version/ })
  t.match(well.out, /ok {4}database: PostgreSQL 18$/)
  t.strictSame(readdirSync(data).sort(), ['repositories', 'storage'], 'probes are removed')
  const broken = await call(
    `doctor --data ${data}`,
    bareHost({ withHost: () => Promise.reject(new Error('no database')) }),
  )
  t.match(broken, { code: 1, out: /FAIL {2}host: no database$/, err: 'Command error: one check failed' })
  writeFileSync(join(data, 'file'), '')
  t.match(await call(`doctor --data ${join(data, 'file')}`), {
    code: 1,
    out: /FAIL {2}data folder: /,
    err: /checks failed/,
  })
})

t.test('a serving process answers, reloads and stops', async (t) => {
  const data = dataFolder(t, { 'app.ini': '[test]\nCOLOUR = green\n' })
  // The second of two signals may arrive when the host no longer listens; it must not end the test.
  const ignore = () => {}
  process.on('SIGTERM', ignore)
  t.teardown(() => process.off('SIGTERM', ignore))
  const heard = process.listenerCount('SIGTERM')
  const colours: unknown[] = []
  let stopped = 0
  const host = bareHost({
    async serve(config, role, progress) {
      progress(`making the database for ${role}`)
      colours.push(config.get('test').COLOUR)
      return running({
        firstRun: { name: 'admin', password: 'pw-1' },
        reload: async (next) => void colours.push(next.get('test').COLOUR),
        stop: async () => void stopped++,
      })
    },
  })
  const lines: string[] = []
  const errors: string[] = []
  const io = { out: (line: string) => void lines.push(line), err: (line: string) => void errors.push(line) }
  const serving = run(['serve', '--data', data], host, io, {})
  await eventually('listening', () => lines.includes('Switchyard 1.2.3 listening on http://127.0.0.1:3000'))
  t.equal(lines[0], 'making the database for all')
  t.equal(lines.filter((line) => line.includes('pw-1')).length, 1, 'the password is shown once')

  const plugins = await call(`plugins --data ${data}`, host)
  t.match(
    plugins.out,
    new RegExp(
      `^process ${process.pid} \\(all\\), Switchyard 1\\.2\\.3, http://127\\.0\\.0\\.1:3000\n {2}stars +on +default +Stars\n +2 requests or jobs inside\n +service stars\\.stars\n +listener x$`,
    ),
  )
  t.notMatch((await call(`plugins --brief --data ${data}`, host)).out, 'service')

  const second = await call(`serve --data ${data}`, host)
  t.match(second, {
    code: 1,
    err: `Command error: the data folder ${data} is in use by process ${process.pid}; stop it, or choose another with --data DIR`,
  })
  t.match(await call(`serve --only work --data ${data}`, host), { code: 1, err: /is in use/ })

  writeFileSync(join(data, 'app.ini'), '[test]\nCOLOUR = blue\n')
  t.match(await call(`reload --data ${data}`, host), { code: 0, out: 'The host has read its configuration again.' })
  writeFileSync(join(data, 'app.ini'), '[test]\nCOLOUR = grey\n')
  process.kill(process.pid, 'SIGHUP')
  await eventually('the reload by SIGHUP', () => colours.length === 3)
  t.strictSame(colours, ['green', 'blue', 'grey'])
  writeFileSync(join(data, 'app.ini'), '[test]\nCOLOR = grey\n')
  process.kill(process.pid, 'SIGHUP')
  await eventually('the refusal of a mistake', () => errors.length === 1)
  t.match(errors[0], /^Nothing was changed: the configuration has a mistake/)
  t.equal(colours.length, 3)

  process.kill(process.pid, 'SIGTERM')
  process.kill(process.pid, 'SIGTERM')
  t.equal(await serving, 0, 'the same signal twice at once, as from npm, is one wish')
  t.equal(stopped, 1)
  t.equal(process.listenerCount('SIGTERM'), heard, 'nobody hears signals any more, refused starts included')
  t.strictSame(readdirSync(controlFolder(pathsOf(data))), [], 'no socket is left')
  writeFileSync(join(data, 'app.ini'), '')
  t.match(await call(`reload --data ${data}`, host), { code: 1, err: /no host runs on/ })
  t.match(await call(`plugins --data ${data}`, host), { code: 0, out: /^No host runs on .*\n {2}stars +on/ })
})

t.test('a start that fails says why and leaves nothing', async (t) => {
  const data = dataFolder(t, {})
  const host = bareHost({ serve: () => Promise.reject(new Error('the disk is on fire')) })
  t.strictSame(await call(`serve --data ${data}`, host), {
    code: 1,
    out: '',
    err: 'Command error: the disk is on fire',
  })
  t.strictSame(readdirSync(controlFolder(pathsOf(data))), [])
  t.match(await call(`serve --only mail --data ${data}`, host), { code: 1, err: /Allowed choices are web, work/ })
})

const pathsOf = (data: string) => readConfig({ data, file: '/dev/null', env: {}, schemas: [] }).paths
const answers = (role: ProcessStatus['role'], over = {}) => ({
  status: (): ProcessStatus => ({ pid: 1, role, version: '1', url: undefined, ready: true, plugins: [] }),
  reload: async () => {},
  ...over,
})

t.test('control sockets', async (t) => {
  const paths = pathsOf(dataFolder(t, {}))
  const folder = controlFolder(paths)
  t.strictSame(await askAll(paths, 'status'), [], 'no folder, no process')

  const web = await openControl(paths, 'web', answers('web'))
  const other = await openControl(paths, 'web', answers('web'))
  const work = await openControl(
    paths,
    'work',
    answers('work', { reload: () => Promise.reject(new Error('bad line 3')) }),
  )
  t.equal((await askAll(paths, 'status')).length, 3, 'web and work processes share a folder, any number of each')
  await t.rejects(openControl(paths, 'all', answers('all')), /is in use by process 1;/)
  t.strictSame((await askAll(paths, 'reload')).map(({ error }) => error).filter(Boolean), ['bad line 3'])
  for (const name of readdirSync(folder)) t.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
  t.equal(statSync(folder).mode & 0o777, 0o700)

  const [socket] = await askAll(paths, 'status')
  for (const line of ['', 'x', '{}', 'null', '[]', '{"ask":"stop"}', '{"ask":["status"]}', '{"ask":"constructor"}']) {
    t.match(
      await say(socket?.socket as string, `${line}\n`),
      /^\{"ok":false,"error":"[\s\S]+\}\n$/,
      `"${line}" is refused`,
    )
  }
  t.equal(await say(socket?.socket as string, 'x'.repeat(10_000)), '', 'an endless line is cut off')
  t.equal((await askAll(paths, 'status')).length, 3, 'and the process still answers')
  await Promise.all([web.close(), other.close(), work.close()])
  t.strictSame(readdirSync(folder), [])
})

t.test('sockets that a killed process left do not block the next start', async (t) => {
  const paths = pathsOf(dataFolder(t, {}))
  await (await openControl(paths, 'all', answers('all'))).close()
  const left = join(controlFolder(paths), 'all-00000000.sock')
  const program = `require('net').createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, 'SIGKILL'))`
  await t.rejects(promisify(execFile)(process.execPath, ['-e', program]))
  t.strictSame(readdirSync(controlFolder(paths)), ['all-00000000.sock'])
  const control = await openControl(paths, 'all', answers('all'))
  t.notOk(readdirSync(controlFolder(paths)).includes('all-00000000.sock'))
  await control.close()
})

t.test('a process that hangs is named, not waited for', async (t) => {
  const paths = pathsOf(dataFolder(t, {}))
  await (await openControl(paths, 'all', answers('all'))).close()
  const deaf = createServer(() => {})
  await new Promise<void>((done) => deaf.listen(join(controlFolder(paths), 'all-1.sock'), done))
  t.match(await askAll(paths, 'status', 50), [{ error: 'no answer within 0.05 s' }])
  deaf.close()
})

t.test('a long path has its sockets elsewhere', async (t) => {
  const paths = pathsOf(join(t.testdir({}), 'd'.repeat(120)))
  t.notOk(controlFolder(paths).startsWith(paths.data))
  t.teardown(() => rmSync(controlFolder(paths), { recursive: true }))
  const control = await openControl(paths, 'all', answers('all'))
  t.equal((await askAll(paths, 'status')).length, 1)
  t.notSame(controlFolder(paths), controlFolder(pathsOf('/another')))
  await control.close()
})

t.test('bin/switchyard starts from anywhere and through symlinks', async (t) => {
  const folder = t.testdir({ deep: {} })
  const script = join(import.meta.dirname, '../../bin/switchyard')
  symlinkSync(script, join(folder, 'one'))
  symlinkSync('../one', join(folder, 'deep/two'))
  const env = { PATH: '/usr/bin:/bin', HOME: folder }
  for (const path of [script, join(folder, 'deep/two')]) {
    const { stdout } = await promisify(execFile)(path, ['--version'], { cwd: folder, env })
    t.match(stdout, /^switchyard \d+\.\d+\.\d+\n$/)
  }
  await t.rejects(promisify(execFile)(script, ['nonsense'], { cwd: folder, env }), {
    code: 1,
    stderr: /^Command error: unknown command/,
  })
})

t.test('config/app.example.ini is what the host prints', async (t) => {
  const root = join(import.meta.dirname, '../..')
  const env = { PATH: '/usr/bin:/bin', HOME: t.testdir({}) }
  const { stdout } = await promisify(execFile)(join(root, 'bin/switchyard'), ['config'], { cwd: env.HOME, env })
  const hint = 'run "bin/switchyard config > config/app.example.ini" where no data/app.ini is'
  t.equal(readFileSync(join(root, 'config/app.example.ini'), 'utf8'), stdout, hint)
})

/** Sends bytes to a socket and answers all that comes back. */
function say(path: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let reply = ''
    const socket = createConnection(path, () => socket.write(bytes))
    socket.on('data', (chunk) => {
      reply += chunk
    })
    // Being cut off is one of the answers.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve(reply))
  })
}
