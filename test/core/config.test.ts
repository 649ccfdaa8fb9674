import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import {
  ConfigErrors,
  type ConfigInput,
  createSecrets,
  Duration,
  describeSource,
  duration,
  exampleConfig,
  openSecrets,
  peek,
  readConfig,
  readSources,
} from '#core/config'

const repository = Type.Object({
  MAX_CREATION_LIMIT: Type.Integer({ default: -1, minimum: -1, description: 'Most repositories of one owner.' }),
  DEFAULT_BRANCH: Type.String({ default: 'main' }),
  DEFAULT_PRIVATE: Type.Union([Type.Literal('last'), Type.Literal('private'), Type.Literal('public')], {
    default: 'last',
  }),
  DISABLED_REPO_UNITS: Type.Array(Type.Union([Type.Literal('repo.code'), Type.Literal('repo.wiki')]), { default: [] }),
})
const cron = Type.Object({ SCHEDULE: Duration('10m', 'How often.'), ENABLED: Type.Boolean({ default: true }) })
const schemas = [
  { repository },
  { 'cron.update_mirrors': cron, '': Type.Object({ APP_NAME: Type.String({ default: 'Switchyard' }) }) },
]
const switches = [
  { section: 'repository', key: 'DISABLE_STARS', description: 'Turns stars off.' },
  { section: 'security', key: 'DISABLE_WEB_HOOKS', aliases: ['DISABLE_WEBHOOKS'] },
]

const read = (input: Partial<ConfigInput>) => readConfig({ env: {}, schemas, switches, ...input })

/** Reads a text as the file app.ini of an own folder. */
const ini = (test: Tap, text: string, more: Partial<ConfigInput> = {}) => {
  const file = join(test.testdir({ 'app.ini': text }), 'app.ini')
  return { file, read: () => read({ file, ...more }) }
}
type Tap = { testdir: typeof t.testdir }

/** The lines of the ConfigErrors that `attempt` throws, places without their folder. */
const complaints = (attempt: () => unknown, folder = '') => {
  try {
    attempt()
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error
    return error.mistakes.map(({ source, text }) => `${describeSource(source).replace(folder, '')}: ${text}`)
  }
  throw new Error('nothing was complained about')
}

t.test('values are read, turned into their types and frozen', async (t) => {
  const text = [
    '\uFEFF; a comment',
    'APP_NAME = A = B',
    '[Repository]',
    '  default_branch = `trunk; # "x"`',
    'MAX_CREATION_LIMIT = 7\r',
    'DISABLED_REPO_UNITS = repo.code , REPO.WIKI,',
    'DEFAULT_PRIVATE = Private',
    '# another',
    '[cron.update_mirrors]',
    "SCHEDULE = '8h0m0s'",
    'ENABLED = off',
  ].join('\n')
  const { file, read } = ini(t, text)
  const config = read()
  t.strictSame(config.get('repository', repository), {
    DEFAULT_BRANCH: 'trunk; # "x"',
    MAX_CREATION_LIMIT: 7,
    DISABLED_REPO_UNITS: ['repo.code', 'repo.wiki'],
    DEFAULT_PRIVATE: 'private',
  })
  t.equal(config.get('repository').DISABLE_STARS, false, 'a switch is a key of its section')
  t.strictSame(config.get('cron.update_mirrors', cron), { SCHEDULE: '8h0m0s', ENABLED: false })
  t.equal(config.get('').APP_NAME, 'A = B')
  t.strictSame(config.sourceOf('repository', 'MAX_CREATION_LIMIT'), { kind: 'file', file, line: 5 })
  t.strictSame(config.sourceOf('server', 'HTTP_PORT'), { kind: 'default' })
  t.throws(() => Object.assign(config.get('server'), { HTTP_PORT: 1 }), TypeError)
  t.strictSame(config.get('unheard'), {})
})

t.test('every mistake is named with its line, all at once', async (t) => {
  const text = [
    'APP_NAM = x', // 1
    '[repository]', // 2
    'MAX_CREATION_LIMIT = seven', // 3
    'MAX_CREATION_LIMITS = 7', // 4
    'DEFAULT_PRIVATE = secret', // 5
    'DISABLED_REPO_UNITS = repo.code, repo.cod', // 6
    'DISABLE_STARS = maybe', // 7
    'DEFAULT_BRANCH', // 8
    '= value', // 9
    '[repositry]', // 10
    'ROOT = /x', // 11
    'DEFAULT_BRANCH = y', // 12
    '[cron.update_mirrors', // 13
    '[cron.update_mirrors]', // 14
    'SCHEDULE = soon', // 15
    'ENABLED =', // 16
    '[server]', // 17
    'HTTP_PORT = 70000', // 18
    'ROOT_URL = ftp://x', // 19
    'DOMAIN = `open', // 20
    'HTTP_ADDR = "a" b', // 21
    'DISABLE_STARS = true', // 22
    '[security]', // 23
    'SECRET_KEY = hunter2', // 24
    'DISABLE_WEB_HOOKS = true', // 25
    'DISABLE_WEBHOOKS = false', // 26
    '[database]', // 27
    'URL = mysql://x', // 28
    'POOL = 5 ; five', // 29
    'POOL = 0x10', // 30
    'POOL = 9999999999999999999', // 31
  ].join('\n')
  const { file, read } = ini(t, text)
  const found = complaints(read, file)
  const expected: [number, RegExp][] = [
    [1, /^APP_NAM: unknown key outside any section/],
    [3, /^\[repository\] MAX_CREATION_LIMIT: "seven" is not allowed; allowed: a whole number, -1 or more$/],
    [4, /^\[repository\] MAX_CREATION_LIMITS: unknown key; did you mean MAX_CREATION_LIMIT\?$/],
    [5, /DEFAULT_PRIVATE: "secret" is not allowed; allowed: last \| private \| public$/],
    [6, /DISABLED_REPO_UNITS: .*allowed: a comma list of: repo\.code \| repo\.wiki$/],
    [7, /DISABLE_STARS: "maybe" is not allowed; allowed: true or false$/],
    [8, /"DEFAULT_BRANCH" is neither/],
    [9, /"= value" is neither/],
    [11, /^\[repositry\]: unknown section; did you mean repository\?$/],
    [13, /is not a section/],
    [15, /SCHEDULE: "soon" is not allowed; allowed: a duration such as 10m or 8h0m0s$/],
    [16, /ENABLED: "" is not allowed/],
    [18, /HTTP_PORT: "70000" is not allowed; allowed: a whole number from 0 to 65535$/],
    [19, /ROOT_URL: .*allowed: an http or https URL$/],
    [20, /DOMAIN: the quote ` is not closed$/],
    [21, /HTTP_ADDR: there is text after the closing "$/],
    [22, /^\[server\] DISABLE_STARS: unknown key; did you mean \[repository\] DISABLE_STARS\?$/],
    [24, /SECRET_KEY: the value is not allowed; allowed: at least 32 characters$/],
    [26, /DISABLE_WEBHOOKS: .*:25 sets another value already$/],
    [28, /\[database\] URL: "mysql:\/\/x" is not allowed; allowed: a URL such as postgres:/],
    [29, /POOL: write the comment on a line of its own, or put the value in quotes$/],
    [30, /POOL: "0x10" is not allowed/],
    [31, /POOL: "9999999999999999999" is not allowed/],
  ]
  t.strictSame(found.length, expected.length, found.join('\n'))
  for (const [line, text] of expected) {
    const complaint = found.find((one) => one.startsWith(`:${line}: `))
    t.match(complaint?.slice(`:${line}: `.length), text, `line ${line}`)
  }
  t.notOk(found.join().includes('hunter2'), 'a secret is not repeated')
})

t.test('the environment is checked like the file and wins over it', async (t) => {
  const folder = t.testdir({ 'app.ini': '[server]\nHTTP_PORT = 1\nDOMAIN = file\n', password: 'postgres://a:b@c/d\n' })
  const env = {
    SWITCHYARD__SERVER__HTTP_PORT: '2',
    SWITCHYARD__cron_0x2E_update_mirrors__SCHEDULE: '5m',
    SWITCHYARD____APP_NAME: 'Yard',
    SWITCHYARD__database__URL__FILE: join(folder, 'password'),
    DISABLE_STARS: 'yes',
    DISABLE_WEBHOOKS: '1',
    SWITCHYARD_OTHER: 'not ours',
  }
  const config = read({ data: folder, env })
  t.equal(config.get('server').HTTP_PORT, 2)
  t.equal(config.get('server').DOMAIN, 'file')
  t.equal(config.get('').APP_NAME, 'Yard')
  t.equal(config.get('cron.update_mirrors').SCHEDULE, '5m')
  t.equal(config.get('database').URL, 'postgres://a:b@c/d', 'read from a file, without the line end')
  t.strictSame(config.declared({ section: 'repository', key: 'DISABLE_STARS' }), {
    value: true,
    where: 'environment DISABLE_STARS',
  })
  t.strictSame(config.declared({ section: 'security', key: 'DISABLE_WEB_HOOKS' }), {
    value: true,
    where: 'environment DISABLE_WEBHOOKS',
  })
  t.equal(read({ env: {}, data: folder }).declared({ section: 'repository', key: 'DISABLE_STARS' }), undefined)
  t.equal(read({ env: { DATABASE_URL: 'postgresql://x' } }).get('database').URL, 'postgresql://x')

  const bad = {
    SWITCHYARD__SERVER: 'x',
    SWITCHYARD__SERVER__: 'x',
    SWITCHYARD__SERVER__HTTP_PROT: '1',
    SWITCHYARD__NOWHERE__KEY: '1',
    SWITCHYARD__SERVER__HTTP_PORT: 'many',
    SWITCHYARD__SERVER__DOMAIN__FILE: join(folder, 'missing'),
    DISABLE_STARS: 'perhaps',
    DISABLE_WEB_HOOKS: 'true',
    DISABLE_WEBHOOKS: 'false',
    DATABASE_URL: 'sqlite://x',
  }
  const found = complaints(() => read({ env: bad }))
  for (const [name, text] of [
    ['SWITCHYARD__SERVER', /is not of the form SWITCHYARD__SECTION__KEY/],
    ['SWITCHYARD__SERVER__', /is not of the form/],
    ['SWITCHYARD__SERVER__HTTP_PROT', /\[server\] HTTP_PROT: unknown key; did you mean HTTP_PORT\?/],
    ['SWITCHYARD__NOWHERE__KEY', /\[nowhere\]: unknown section$/],
    ['SWITCHYARD__SERVER__HTTP_PORT', /"many" is not allowed/],
    ['SWITCHYARD__SERVER__DOMAIN__FILE', /cannot read the file that it names: ENOENT/],
    ['DISABLE_STARS', /"perhaps" is not allowed; allowed: true or false/],
    ['DISABLE_WEBHOOKS', /environment DISABLE_WEB_HOOKS sets another value already/],
    ['DATABASE_URL', /\[database\] URL: "sqlite:\/\/x" is not allowed/],
  ] as const) {
    t.match(
      found.find((one) => one.startsWith(`environment ${name}: `)),
      text,
      name,
    )
  }
  t.equal(found.length, 9)
})

t.test('a value that the environment overrides is still checked', async (t) => {
  const { file, read } = ini(t, '[server]\nHTTP_PORT = x\n', { env: { SWITCHYARD__SERVER__HTTP_PORT: '2' } })
  t.match(complaints(read, file), [/^:2: \[server\] HTTP_PORT/])
})

t.test('a key without a default must be set', async (t) => {
  const needed = { schemas: [{ mail: Type.Object({ HOST: Type.String(), FROM: Type.Optional(Type.String()) }) }] }
  t.match(
    complaints(() => readConfig({ env: {}, ...needed })),
    ['default: [mail] HOST: must be set; allowed: text'],
  )
  const config = readConfig({ env: { SWITCHYARD__MAIL__HOST: 'h' }, ...needed })
  t.strictSame(config.get('mail'), { HOST: 'h', FROM: undefined })
})

t.test('two owners may share a section, but not a key', async (t) => {
  const twice = [
    { repository: Type.Object({ A: Type.String({ default: '' }) }) },
    { repository: Type.Object({ a: Type.String({ default: '' }) }) },
  ]
  t.throws(() => readConfig({ env: {}, schemas: twice }), /\[repository\] A is declared by two owners/)
})

t.test('address, URL and domain follow from each other', async (t) => {
  const server = (http: string | undefined, env = {}) => read({ http, env }).get('server')
  t.match(server(undefined), {
    HTTP_ADDR: '127.0.0.1',
    HTTP_PORT: 3000,
    ROOT_URL: 'http://127.0.0.1:3000/',
    DOMAIN: '127.0.0.1',
  })
  t.match(server('0.0.0.0:80'), {
    HTTP_ADDR: '0.0.0.0',
    HTTP_PORT: 80,
    ROOT_URL: 'http://localhost:80/',
    DOMAIN: 'localhost',
  })
  t.match(server('[::1]:3100'), { HTTP_ADDR: '::1', HTTP_PORT: 3100, ROOT_URL: 'http://[::1]:3100/' })
  t.match(server(':3100'), { HTTP_ADDR: '127.0.0.1', HTTP_PORT: 3100 })
  t.match(server('3100'), { HTTP_PORT: 3100 })
  t.match(server(undefined, { SWITCHYARD__SERVER__ROOT_URL: 'https://code.example.org/git' }), {
    ROOT_URL: 'https://code.example.org/git/',
    DOMAIN: 'code.example.org',
  })
  t.equal(
    read({ http: '3100', env: { SWITCHYARD__SERVER__HTTP_PORT: '9' } }).get('server').HTTP_PORT,
    3100,
    'the option wins',
  )
  for (const bad of ['', 'x', '1.2.3.4:', '1.2.3.4:99999', 'a b:80', '::1:80', '[::1:80']) {
    t.match(
      complaints(() => read({ http: bad })),
      [/^option --http: .* is not an address; allowed: ADDR:PORT/],
      `--http "${bad}"`,
    )
  }
})

t.test('folders and the file are found', async (t) => {
  const data = t.testdir({
    'app.ini': '[repository]\nROOT = repos\n[storage]\nPATH = /blobs\n',
    other: { 'x.ini': '[server]\nAPP_DATA_PATH = ../there\n' },
  })
  const config = read({ data })
  t.equal(config.file, join(data, 'app.ini'))
  t.strictSame(config.paths, { data, repositories: join(data, 'repos'), storage: '/blobs', run: join(data, 'run') })
  const elsewhere = read({ file: join(data, 'other/x.ini') })
  t.equal(elsewhere.paths.data, join(data, 'there'), 'a relative data folder counts from the file that names it')
  t.equal(elsewhere.paths.repositories, join(data, 'there/repositories'))
  t.equal(read({ file: join(data, 'other/x.ini'), data: '/d' }).paths.data, '/d', 'the option wins')
  t.equal(read({ env: { SWITCHYARD__SERVER__APP_DATA_PATH: data } }).file, join(data, 'app.ini'))
  t.match(
    complaints(() => read({ file: join(data, 'no.ini') })),
    [/^option --config .*no\.ini: the file cannot be read: ENOENT/],
  )
})

t.test('what decides about schemas can be read before them', async (t) => {
  const { file } = ini(t, '[plugins]\nLOAD = a, b\n')
  t.equal(peek(readSources({ file, env: {} }), 'plugins', 'LOAD')?.text, 'a, b')
  t.equal(peek(readSources({ file, env: { SWITCHYARD__PLUGINS__LOAD: 'c' } }), 'plugins', 'LOAD')?.text, 'c')
  t.equal(peek(readSources({ env: {} }), 'plugins', 'LOAD')?.text, undefined)
})

t.test('durations', async (t) => {
  for (const [text, ms] of Object.entries({
    '10m': 600_000,
    '8h0m0s': 28_800_000,
    '24h': 86_400_000,
    '1.5h': 5_400_000,
    '30': 30_000,
    '0': 0,
    '250ms': 250,
    '1h30m': 5_400_000,
  })) {
    t.equal(duration(text), ms, text)
  }
  for (const bad of ['', 'm', '10 m', '1d', '-5m', '5m-', '1h 2m', '1e3', 'soon', '1..5h', '.5h', '10M']) {
    t.throws(() => duration(bad), RangeError, `"${bad}"`)
  }
})

t.test('the example names every key and is read without complaint', async (t) => {
  const text = exampleConfig(schemas, switches)
  t.match(text, '; Most repositories of one owner. Allowed: a whole number, -1 or more.\n;MAX_CREATION_LIMIT = -1\n')
  t.match(text, '; Turns stars off. Allowed: true or false.\n;DISABLE_STARS = false\n')
  t.match(text, '[cron.update_mirrors]\n; How often. Allowed: a duration such as 10m or 8h0m0s.\n;SCHEDULE = 10m\n')
  t.notMatch(text, ';DISABLE_WEBHOOKS', 'other spellings are not advertised')
  t.ok(text.indexOf(';APP_NAME') < text.indexOf('['), 'keys without a section come first')
  const live = text.replace(/^;(?=[A-Z_]+ =)/gm, '')
  t.not(live, text)
  const config = ini(t, live).read()
  t.strictSame(config.get('repository'), { ...read({}).get('repository') }, 'the defaults written out are the defaults')
})

t.test('secrets are sealed, and only opened whole and with the same key', async (t) => {
  const secrets = createSecrets('k'.repeat(32))
  const sealed = secrets.seal(Buffer.from('hook secret'))
  t.equal(secrets.open(sealed).toString(), 'hook secret')
  t.notSame(sealed, secrets.seal(Buffer.from('hook secret')), 'the same text seals differently')
  t.notOk(sealed.includes('hook'))
  t.equal(secrets.open(secrets.seal(Buffer.alloc(0))).length, 0)
  for (let at = 0; at < sealed.length; at++) {
    const broken = Buffer.from(sealed)
    broken.writeUInt8(broken.readUInt8(at) ^ 1, at)
    t.throws(() => secrets.open(broken), `byte ${at} was changed`)
  }
  t.throws(() => secrets.open(sealed.subarray(0, 20)), /not a sealed secret/)
  t.throws(() => createSecrets('j'.repeat(32)).open(sealed), /SECRET_KEY has changed/)
})

t.test('signatures depend on purpose and on where one part ends', async (t) => {
  const { hmac } = createSecrets('k'.repeat(32))
  t.same(hmac('p', 'a', 'b'), hmac('p', Buffer.from('a'), 'b'))
  t.notSame(hmac('p', 'a', 'b'), hmac('q', 'a', 'b'))
  t.notSame(hmac('p', 'ab', 'c'), hmac('p', 'a', 'bc'))
  t.notSame(hmac('p', 'ab'), hmac('p', 'a', 'b'))
})

t.test('the key is made once, for its owner only', async (t) => {
  const data = join(t.testdir({}), 'deep/data')
  const sealed = openSecrets(read({ data })).seal(Buffer.from('x'))
  t.equal(openSecrets(read({ data })).open(sealed).toString(), 'x', 'a second start has the same key')
  t.equal(statSync(join(data, 'secret')).mode & 0o777, 0o600)
  t.equal(readFileSync(join(data, 'secret'), 'utf8').trim().length, 64)
  const configured = openSecrets(read({ data, env: { SWITCHYARD__SECURITY__SECRET_KEY: 's'.repeat(40) } }))
  t.throws(() => configured.open(sealed), 'a configured key is another key')
  writeFileSync(join(data, 'secret'), '')
  t.throws(() => openSecrets(read({ data })), /secret is damaged/)
})
