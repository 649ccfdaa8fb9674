/** Bad input, made from the description of the API: a clear 4xx in JSON, never a fault of ours, and nothing written. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { query } from '../support/database.ts'
import { createSender, inParallel, type Reply, type Shot } from '../support/hammer.ts'
import { startHost, type TestHost } from '../support/host.ts'
import { fillPath, rawRoutesOf } from '../support/shipped.ts'
import { makeWorld, type World } from '../support/world.ts'
import { accessTable } from './access-table.ts'

t.setTimeout(270_000)

type Schema = {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly format?: string
}
type Parameter = Schema & { readonly in: string; readonly name: string; readonly schema?: Schema }
type Operation = {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly headers: Readonly<Record<string, string>>
  readonly statuses: ReadonlySet<string>
}

let h: TestHost
let world: World
let canaries: string
let send: (shot: Shot) => Promise<Reply>
let operations: Operation[]
let definitions: Readonly<Record<string, Schema>>
let before: { rows: string[]; files: string[] }

t.before(async () => {
  h = await startHost(t as never)
  world = await makeWorld(h)
  canaries = await mkdtemp(join(tmpdir(), 'swy-canary-'))
  t.teardown(() => rm(canaries, { recursive: true, force: true }))
  const sender = createSender(h.base, 8)
  t.teardown(sender.close)
  send = sender.send
  const { body: swagger } = await h.call('GET', '//swagger.v1.json')
  definitions = swagger.definitions
  const admin = `token ${await h.tokenWith('admin', ['all'])}`
  const owner = `token ${h.token('owner')}`
  const password = `Basic ${Buffer.from(`owner:${h.passwordOf('owner')}`).toString('base64')}`
  operations = Object.entries(swagger.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { operationId: string; parameters: Parameter[]; responses: object }>).map(
      ([method, { operationId, parameters, responses }]) => ({
        ...{ id: operationId, method: method.toUpperCase(), path, parameters },
        headers: {
          authorization: path.startsWith('/admin/') ? admin : accessTable[operationId]?.basic ? password : owner,
        },
        statuses: new Set(Object.keys(responses)),
      }),
    ),
  )
  await h.idle()
  before = await state()
})

/** How many rows every table has, and which files the host keeps. */
async function state() {
  const url = h.rooms.opened.url
  const tables = await query<{ name: string }>(
    url,
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
  )
  const rows: string[] = []
  for (const { name } of tables) {
    const [found] = await query<{ count: string }>(url, `select count(*) from "${name}"`)
    rows.push(`${name}: ${found?.count}`)
  }
  const names = await readdir(h.folder, { recursive: true, encoding: 'utf8' })
  // Locks of git and half-written answers come and go while requests run.
  return { rows, files: names.filter((name) => !/\.sock$|\/tmp(\/|$)|\.tmp\//.test(name)).sort() }
}

/** Every test ends with this: what was sent left no trace. */
async function nothingHappened(t: Test) {
  await h.idle()
  const after = await state()
  t.strictSame(after.rows, before.rows, 'no rows')
  t.strictSame(after.files, before.files, 'no files')
  t.strictSame(await readdir(canaries), [], 'no canary')
  t.strictSame(Object.keys(Object.prototype), [], 'no prototype is changed')
}

/** Tokens are one's own; everything else is about somebody else. */
const personOf = ({ id }: Operation) => (accessTable[id]?.basic ? 'owner' : 'ispublic')

type Judged = { what: string; operation: Operation; reply: Reply; mustFail: boolean }

/** What is wrong with an answer, or undefined. */
function fault({ what, operation, reply, mustFail }: Judged): string | undefined {
  const { status, headers, text } = reply
  const name = `${operation.id} ${what}: ${status}`
  if (status >= 500) return `${name} ${text.slice(0, 200)}`
  if (/root:.*:0:0:/.test(text)) return `${name} shows /etc/passwd`
  if (status < 400) return mustFail ? `${name}, although nothing of it is right` : undefined
  if (!/^application\/json/.test(String(headers['content-type']))) return `${name} as ${headers['content-type']}`
  try {
    if (typeof JSON.parse(text).message !== 'string') return `${name} without a message: ${text.slice(0, 100)}`
  } catch {
    // Two refusals of the contract have no body.
    if (text !== '') return `${name} is no JSON: ${text.slice(0, 100)}`
  }
  // The parser of the address answers these before any operation is known.
  const isOurs = ![400, 414, 431].includes(status)
  if (isOurs && !operation.statuses.has(String(status)) && status !== 413) return `${name} is not described`
  return undefined
}

const encode = (text: string) => encodeURIComponent(text).replaceAll('.', '%2E')

/** Values that no path parameter may take seriously, as they are sent. */
function evilSegments(): string[] {
  const canary = (name: string) => encodeURIComponent(join(canaries, name))
  return [
    ...[
      '..',
      '%2e%2e',
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e%2f%2e%2e%2f%2e%2e%2fetc%2fpasswd',
      '..%252f..%252fetc',
      '%2fetc%2fpasswd',
    ],
    ...['%00', 'a%00b', '%ff%fe', '%c0%ae%c0%ae', '%ed%a0%80', '%', '%zz', 'x'.repeat(4000), `${'a%2f'.repeat(1000)}a`],
    ...[
      '-',
      '--help',
      `--output=${canary('output')}`,
      `--upload-pack=touch%20${canary('pack')}`,
      `-o${canary('short')}`,
    ],
    ...[
      `ext::sh%20-c%20touch%20${canary('ext')}`,
      '%60id%60',
      '%24(id)',
      '%3Bid',
      '%7Cid',
      'a%0aid',
      'a%0d%0aX-Evil:%201',
    ],
    ...[
      '%27%20or%201=1--',
      '%22',
      '%5c',
      ':%5E%7B/x%7D',
      ':(glob)**',
      '@%7B-1%7D',
      '%F0%9F%92%A9',
      '.git%2fconfig',
      '%20',
    ],
  ]
}

t.test('path parameters', async (t) => {
  const wrong: string[] = []
  const shots = operations.flatMap((operation) =>
    operation.parameters
      .filter((parameter) => parameter.in === 'path')
      .flatMap(({ name }) => evilSegments().map((evil) => ({ operation, name, evil }))),
  )
  t.ok(shots.length > 1000)
  await inParallel(shots, 8, async ({ operation, name, evil }) => {
    const { method, path, headers } = operation
    const body = accessTable[operation.id]?.body ?? {}
    const hasBody = operation.parameters.some((parameter) => parameter.in === 'body')
    const sent = {
      method,
      path: `/api/v1${fillPath(path, { ...world.pub.values, username: personOf(operation), id: '0', [name]: evil })}`,
      headers: { ...headers, ...(hasBody && { 'content-type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(body) }),
    }
    const reply = await send(sent)
    const found = fault({ what: `${name}=${evil.slice(0, 60)}`, operation, reply, mustFail: method !== 'GET' })
    if (found) wrong.push(found)
  })
  t.strictSame(wrong.sort(), [])
  await nothingHappened(t)
})

t.test('paths outside the REST API', async (t) => {
  const wrong: string[] = []
  for (const { plugin, route } of rawRoutesOf(h.rooms)) {
    const names = [...route.path.matchAll(/\{([^}+]+)\+?\}/g)].map(([, name]) => name as string)
    for (const name of names) {
      for (const evil of evilSegments()) {
        for (const method of [route.method].flat()) {
          const path = fillPath(route.path, { ...world.pub.values, [name]: evil })
          const reply = await send({ method, path, headers: { authorization: `token ${h.token('owner')}` } })
          if (reply.status >= 500 || /root:.*:0:0:/.test(reply.text))
            wrong.push(`${plugin}: ${method} ${path.slice(0, 100)}: ${reply.status} ${reply.text.slice(0, 100)}`)
        }
      }
    }
  }
  t.strictSame(wrong, [])
  await nothingHappened(t)
})

t.test('query parameters', async (t) => {
  const wrong: string[] = []
  const evil = (name: string) => [
    ...[`${name}[]=1`, `${name}[$ne]=1`, `${name}=1&${name}=2`, `${name}=`, name, `${name}=%00`, `${name}=%ff`],
    ...[`${name}=%27%22%3B--`, `${name}=99999999999999999999`, `${name}=-1`, `${name}=1e400`, `${name}=%25_%5C`],
    ...[
      `${name}=${'x'.repeat(4000)}`,
      `${name}=--output%3D${encode(canaries)}%2Fquery`,
      `${name}=..%2F..%2Fetc%2Fpasswd`,
    ],
  ]
  const shots = operations
    .filter(({ method }) => method === 'GET')
    .flatMap((operation) => {
      const own = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
      return [...own, '__proto__'].flatMap((name) => evil(name).map((text) => ({ operation, text })))
    })
  await inParallel(shots, 8, async ({ operation, text }) => {
    const path = `/api/v1${fillPath(operation.path, { ...world.pub.values, username: personOf(operation) })}?${text}`
    const reply = await send({ method: 'GET', path, headers: operation.headers })
    const found = fault({ what: text.slice(0, 60), operation, reply, mustFail: false })
    if (found) wrong.push(found)
  })
  t.ok(shots.length > 1000)
  t.strictSame(wrong.sort(), [])
  await nothingHappened(t)
})

const resolve = (schema: Schema): Schema =>
  schema.$ref ? (definitions[schema.$ref.replace('#/definitions/', '')] ?? {}) : schema

/** A value that fits, so that one wrong field is the only fault of its body. */
function plausible(schema: Schema, depth = 0): unknown {
  const { type, enum: values, items, properties = {}, required = [], format } = resolve(schema)
  if (values) return values[0]
  if (type === 'string')
    return format === 'date-time' ? '2026-01-01T00:00:00Z' : format === 'email' ? 'a@example.com' : 'word'
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return false
  if (type === 'array') return items && depth < 3 ? [plausible(items, depth + 1)] : []
  return Object.fromEntries(required.map((name) => [name, plausible(properties[name] ?? {}, depth + 1)]))
}

/** Values that no field of the type can take. */
function misfits({ type }: Schema): unknown[] {
  if (type === 'string') return [1, true, {}, [], { $ne: 'x' }, ['x'], 'a\u0000b', '\u0000']
  if (type === 'integer') return ['x', 1.5, 1e300, {}, [], true, '1; drop table account']
  if (type === 'number') return ['x', {}, [], true]
  if (type === 'boolean') return ['x', {}, [], 'true or 1=1']
  if (type === 'array') return ['x', {}, 1, true, [[[]]], [{ a: { b: 1 } }]]
  if (type === 'object') return ['x', 1, [], true]
  return []
}

/** Bodies that are no object of JSON. */
const noObjects: readonly (string | Buffer)[] = [
  ...['{', '[', '}', '{"a":', '{"a" 1}', 'nonsense', "{'a':1}", '\u0000', '[]', '[{}]', '"x"', '1', 'true', '-', '{]'],
  ...['['.repeat(100_000), `${'['.repeat(50_000)}${']'.repeat(50_000)}`, '{"a":'.repeat(50_000)],
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
]

/** Bodies that say nothing which an operation would understand, and try to do harm on the way. */
const strangeObjects: readonly (string | Buffer)[] = [
  ...[`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, 'null', '', `{"${'x'.repeat(100_000)}":1}`],
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":1}',
  '{"__proto__":null,"length":-1,"then":"x","toJSON":"x"}',
  Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from('"}')]),
]

const bodyOf = ({ parameters }: Operation) => parameters.find((parameter) => parameter.in === 'body')?.schema
function bodyShot(operation: Operation, body: string | Buffer, type = 'application/json'): Shot {
  const { method, path, headers } = operation
  const values = { ...world.pub.values, username: personOf(operation), filepath: 'new.txt' }
  return { method, body, path: `/api/v1${fillPath(path, values)}`, headers: { ...headers, 'content-type': type } }
}

const withBody = () => operations.filter((operation) => bodyOf(operation) && bodyOf(operation)?.type !== 'string')

t.test('bodies that are no object', async (t) => {
  const wrong: string[] = []
  t.ok(withBody().length > 10)
  const shots = withBody().flatMap((operation) => noObjects.map((body) => ({ operation, body })))
  await inParallel(shots, 8, async ({ operation, body }) => {
    const reply = await send(bodyShot(operation, body))
    const what = String(body).slice(0, 30)
    const found = fault({ what, operation, reply, mustFail: true })
    if (found) wrong.push(found)
    else if (reply.status !== 422) wrong.push(`${operation.id} ${what}: ${reply.status} instead of 422`)
  })
  t.strictSame(wrong.sort(), [])
  await nothingHappened(t)
})

t.test('fields of wrong types, and NUL in texts', async (t) => {
  const wrong: string[] = []
  const shots = operations.flatMap((operation) => {
    const schema = resolve(bodyOf(operation) ?? {})
    const whole = plausible(schema) as Record<string, unknown>
    return Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      misfits(resolve(field)).map((value) => ({ operation, name, body: { ...whole, [name]: value }, value })),
    )
  })
  t.ok(shots.length > 300)
  await inParallel(shots, 8, async ({ operation, name, body, value }) => {
    const reply = await send(bodyShot(operation, JSON.stringify(body)))
    const found = fault({ what: `${name}=${JSON.stringify(value)}`, operation, reply, mustFail: true })
    if (found) wrong.push(found)
  })
  t.strictSame(wrong.sort(), [])
  await nothingHappened(t)
})

t.test('10 MB bodies', async (t) => {
  const wrong: string[] = []
  const huge = Buffer.from(`["${'a'.repeat(10 * 1024 * 1024)}"]`)
  const start = process.memoryUsage().rss
  for (const operation of operations.filter(
    (operation) => bodyOf(operation)?.properties !== undefined || bodyOf(operation)?.$ref,
  )) {
    const found = fault({ what: '10 MB', operation, reply: await send(bodyShot(operation, huge)), mustFail: true })
    if (found) wrong.push(found)
  }
  t.comment(`memory grew by ${Math.round((process.memoryUsage().rss - start) / 1e6)} MB`)
  t.strictSame(wrong, [])
})

/** Sends bytes that no HTTP library would, and answers what comes back before the end. */
const sendBytes = (bytes: Buffer | string) =>
  new Promise<string>((done, reject) => {
    const { hostname, port } = new URL(h.base)
    const socket = connect(Number(port), hostname, () => socket.end(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('error', reject)
    socket.on('close', () => done(text))
  })

t.test('requests that are no HTTP', async (t) => {
  const rest = 'HTTP/1.1\r\nhost: x\r\nconnection: close\r\n'
  const requests: [string, string | Buffer][] = [
    ['NUL in the path', `GET /api/v1/repos/a\u0000b/c ${rest}\r\n`],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from('GET /api/v1/repos/'), Buffer.from([0xff, 0xfe]), Buffer.from(`/c ${rest}\r\n`)]),
    ],
    ['an unknown method', `HACK /api/v1/version ${rest}\r\n`],
    ['two lengths', `POST /api/v1/markdown ${rest}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`],
    [
      'length and chunks',
      `POST /api/v1/markdown ${rest}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a broken chunk',
      `POST /api/v1/markdown ${rest}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
    ],
    [
      'a body that is cut off',
      `POST /api/v1/markdown ${rest}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    ],
    ['a huge header', `GET /api/v1/version ${rest}x: ${'a'.repeat(200_000)}\r\n\r\n`],
    ['an absolute address', `GET http://evil.example/api/v1/version ${rest}\r\n`],
    ['no HTTP at all', '\u0000\u0001\u0002\r\n\r\n'],
  ]
  for (const [what, bytes] of requests) {
    const answer = await sendBytes(bytes).catch((error: Error) => `closed: ${error.message}`)
    t.notMatch(answer, /^HTTP\/1\.1 5\d\d/, what)
    if (answer.startsWith('HTTP/1.1 4'))
      t.match(answer, /content-type: application\/json/i, `${what} is answered in JSON`)
  }
  t.equal((await h.call('GET', '//swagger.v1.json')).status, 200, 'and the host goes on')
  await nothingHappened(t)
})

// Last, because an empty object is a sound body of some operations.
t.test('strange objects, and forms', async (t) => {
  const wrong: string[] = []
  const bodies: [string | Buffer, string][] = [
    ...strangeObjects.map((body) => [body, 'application/json'] as [string | Buffer, string]),
    ['a[b]=c&%00=1&=&&__proto__[polluted]=1', 'application/x-www-form-urlencoded'],
    ['a=1&'.repeat(5000), 'application/x-www-form-urlencoded'],
    ['--x\r\ncontent-disposition: form-data; name="a\u0000"\r\n\r\nb\u0000', 'multipart/form-data; boundary=x'],
    ['no boundary', 'multipart/form-data'],
    ['{}', 'text/plain'],
    ['{}', 'application/json; charset=utf-32'],
    ['{}', ''],
  ]
  for (const operation of withBody()) {
    for (const [body, type] of bodies) {
      const reply = await send(bodyShot(operation, body, type))
      const found = fault({ what: `${type} ${String(body).slice(0, 30)}`, operation, reply, mustFail: false })
      if (found) wrong.push(found)
    }
  }
  t.strictSame(wrong.sort(), [])
  t.strictSame(Object.keys(Object.prototype), [], 'no prototype is changed')
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
  t.equal((await h.call('GET', '/repos/owner/pub', undefined, { as: 'owner' })).status, 200)
})
