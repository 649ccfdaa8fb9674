import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  answer,
  anyone,
  Bytes,
  createApp,
  Empty,
  type Gatekeeper,
  type HttpOptions,
  later,
  list,
  notFound,
  nullable,
  Problem,
  type RawRoute,
  Redirect,
  type Route,
  rawRoute,
  record,
  route,
  signedIn,
  siteAdmin,
  Text,
  Type,
} from '#core/http'
import { type Actor, anonymous, Hindered } from '#core/identity'
import { type Face, Refusal } from '#core/plugin'

type Fields = Partial<NonNullable<Actor['account']>>
const account = (fields: Fields) =>
  ({ id: 1, name: 'ann', is_admin: false, ...fields }) as NonNullable<Actor['account']>
const token = (scopes: string[], fields: Fields = {}): Actor => ({
  account: account(fields),
  credential: { method: 'token', sent: 'header', tokenId: 1, scopes },
})
const actors: Record<string, Actor> = {
  ann: { account: account({}), credential: { method: 'password' } },
  root: { account: account({ id: 2, name: 'root', is_admin: true }), credential: { method: 'password' } },
  reader: token(['read:user', 'read:issue']),
  writer: token(['write:user']),
  public: token(['public-only', 'all']),
}

/** Believes what `Authorization: actor NAME` says; stands for identity, whose own test is elsewhere. */
const keeper: Gatekeeper = {
  async authenticate({ headers }) {
    const name = headers.authorization?.toString().replace('actor ', '')
    if (name === undefined) return anonymous
    if (name === 'locked') throw new Hindered('This account is not activated.')
    const actor = actors[name]
    if (!actor) throw new Refusal('unauthenticated', 'invalid username, password or token')
    return actor
  },
  actAs: async (actor, name) => (name === 'bob' ? { ...actor, account: account({ id: 7, name }) } : undefined),
}
const as = (name: string) => ({ authorization: `actor ${name}` })

const User = record('User', { id: Type.Integer(), login: Type.String() })
const Thing = record('Thing', {
  id: Type.Integer(),
  title: Type.String(),
  owner: nullable(User),
  state: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  parent: Type.Optional(nullable(later<object>('Thing'))),
  tags: Type.Array(Type.String()),
  closed_at: nullable(Type.String({ format: 'date-time' })),
})
const thing = { id: 1, title: 'a <b> & ü', owner: null, state: 'open', tags: ['x'], closed_at: null }
const CreateThing = record('CreateThingOption', {
  title: Type.String({ rule: 'AlphaDashDot', maxLength: 10 }),
  private: Type.Optional(Type.Boolean()),
  count: Type.Optional(Type.Integer()),
  labels: Type.Optional(Type.Array(Type.String())),
  website: Type.Optional(Type.String({ rule: 'Url' })),
  email: Type.Optional(Type.String({ format: 'email' })),
  branch: Type.Optional(Type.String({ rule: 'GitRefName', fieldName: 'RefName' })),
  kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
  due: Type.Optional(Type.String({ format: 'date-time' })),
  either: Type.Optional(Type.Union([Type.String(), Type.Boolean()])),
  free: Type.Optional(Type.Unknown()),
  config: Type.Optional(Type.Record(Type.String(), Type.String())),
  inner: Type.Optional(Type.Object({ Name: Type.String() })),
})
const Found = Type.Object({ query: Type.Unknown(), page: Type.Unknown() })

const common = { tag: 'test', summary: 'for the test', access: anyone, scope: 'none' } as const
const streamed = { destroyed: 0 }
const waiting = { entered: () => {}, release: Promise.resolve() }

const routes: Route[] = [
  route({
    ...common,
    method: 'GET',
    path: '/things',
    operationId: 'listThings',
    paging: 'link',
    answers: { 200: Type.Array(Thing) },
    handle: ({ page }) => list(page.offset < 7 ? [thing] : [], 7),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/counted',
    operationId: 'listCounted',
    paging: 'total',
    answers: { 200: nullable(Type.Array(Thing)) },
    handle: () => answer(200, list(null, 7), { 'x-page': '1' }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/wrapped',
    operationId: 'listWrapped',
    paging: 'link',
    answers: { 200: Type.Object({ ok: Type.Boolean(), data: Type.Array(Thing) }) },
    handle: () => list([thing], 1, (data) => ({ ok: true, data })),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/things',
    operationId: 'createThing',
    body: CreateThing,
    answers: { 201: Type.Unknown() },
    handle: ({ body }) => body,
  }),
  route({
    ...common,
    method: 'PATCH',
    path: '/things',
    operationId: 'editThing',
    body: CreateThing,
    answers: { 200: Type.Unknown() },
    handle: ({ body }) => body,
  }),
  route({
    ...common,
    method: 'GET',
    path: '/things/{id}',
    operationId: 'getThing',
    params: Type.Object({ id: Type.Integer() }),
    answers: { 200: Thing },
    refusals: [404],
    handle: ({ params }) => ({
      ...thing,
      id: params.id,
      secret: 'x',
      parent: { ...thing, parent: null, password: 'x' },
    }),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/things/{id}',
    operationId: 'deleteThing',
    params: Type.Object({ id: Type.Integer() }),
    answers: { 204: Empty },
    handle: () => undefined,
  }),
  route({
    ...common,
    method: 'GET',
    path: '/files/{owner}/{filepath+}',
    operationId: 'getFile',
    params: Type.Object({ owner: Type.String(), filepath: Type.String() }),
    answers: { 200: Type.Unknown() },
    handle: ({ params }) => params,
  }),
  route({
    ...common,
    method: 'GET',
    path: '/commits/{sha}.{type}',
    mount: '/commits/:sha.:type',
    operationId: 'getDiff',
    params: Type.Object({ sha: Type.String(), type: Type.String() }),
    answers: { 200: Text },
    handle: ({ params }) => `${params.sha} as ${params.type}`,
  }),
  route({
    ...common,
    method: 'GET',
    path: '/search',
    operationId: 'search',
    query: Type.Object({
      q: Type.Optional(Type.String()),
      ids: Type.Optional(Type.Array(Type.Integer())),
      on: Type.Optional(Type.Boolean()),
      n: Type.Optional(Type.Integer()),
      since: Type.Optional(Type.String({ format: 'date-time' })),
      state: Type.Optional(Type.Union([Type.Literal('open'), Type.Literal('closed')])),
    }),
    answers: { 200: Found },
    handle: ({ query, page }) => ({ query, page }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/bytes',
    operationId: 'getBytes',
    answers: { 200: Bytes },
    handle() {
      const stream = Readable.from([Buffer.from('abc'), Buffer.from('def')])
      stream.on('close', () => streamed.destroyed++)
      return answer(200, stream, { 'content-type': 'image/png', etag: '"1"' })
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/upload',
    operationId: 'upload',
    body: 'raw',
    files: ['attachment'],
    answers: { 201: Type.Unknown() },
    async handle(call) {
      if (!call.isMultipart) return { bytes: (await buffer(call.raw)).length }
      const seen: unknown[] = []
      for await (const part of call.parts({ fileSize: 10 }))
        seen.push(
          part.type === 'file' ? [part.filename, (await buffer(part.file)).length] : [part.fieldname, part.value],
        )
      return seen
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/me',
    operationId: 'me',
    access: signedIn,
    scope: ['user'],
    answers: { 200: Type.Unknown() },
    handle: ({ me }) => ({ name: me.name }),
  }),
  route({
    ...common,
    method: 'PUT',
    path: '/me',
    operationId: 'putMe',
    access: signedIn,
    scope: [['user', 'issue']],
    publicOnly: 'refuse',
    body: CreateThing,
    answers: { 204: Empty },
    handle: () => undefined,
  }),
  route({
    ...common,
    method: 'GET',
    path: '/site',
    operationId: 'site',
    access: siteAdmin,
    scope: ['admin'],
    answers: { 204: Empty },
    handle: () => undefined,
  }),
  route({
    ...common,
    method: 'GET',
    path: '/moved',
    operationId: 'moved',
    answers: { 200: Empty },
    handle: () => {
      throw new Redirect(307, '/api/v1/things?x=1')
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/fails/{how}',
    operationId: 'fails',
    params: Type.Object({ how: Type.String() }),
    answers: { 200: User },
    handle({ params }) {
      if (params.how === 'problem')
        throw new Problem(422, 'bad topics', { invalidTopics: ['a'] }, { 'x-why': 'topics' })
      if (params.how === 'refusal') throw new Refusal('locked', 'repo is archived')
      if (params.how === 'missing') throw notFound('no such thing')
      if (params.how === 'shape') return { id: 'one' }
      if (params.how === 'status') return answer(202, {})
      throw new TypeError('secret of the database')
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/links',
    operationId: 'links',
    answers: { 200: Type.Unknown() },
    handle: ({ base, remoteAddress, method, url }) => ({ base, remoteAddress, method, url }),
  }),
  route({
    ...common,
    method: 'GET',
    path: '/waits',
    operationId: 'waits',
    answers: { 204: Empty },
    async handle() {
      waiting.entered()
      await waiting.release
    },
  }),
]

const raw: RawRoute[] = [
  rawRoute({
    method: ['GET', 'POST'],
    path: '/git/{owner}/{rest+}',
    access: anyone,
    scope: ['repository'],
    refusals: 'text',
    realm: 'Test',
    async handle(call) {
      if (call.params.owner === 'closed') throw new Refusal('unauthenticated', 'who are you')
      const echo = new PassThrough()
      call.raw.pipe(echo)
      return answer(200, echo, { 'content-type': 'application/x-git', 'x-rest': String(call.params.rest) })
    },
  }),
  rawRoute({
    method: 'GET',
    path: '/api/healthz',
    access: anyone,
    scope: 'none',
    open: true,
    governed: false,
    handle: () => answer(200, '{}', { 'content-type': 'application/json' }),
  }),
]

const facts = {
  rootUrl: 'http://forge.example/',
  version: '1.27.0',
  paging: { standard: 2, most: 5 },
  bodyLimit: 1_000_000,
  detectPublicUrl: true,
  swagger: true,
}

type Started = { base: string; port: number; door: { face: Face | undefined; inside: number }; lines: () => string }

async function start(t: Test, options: Partial<HttpOptions> = {}): Promise<Started> {
  const door = { face: undefined as Face | undefined, inside: 0 }
  const gate = { face: () => door.face, enter: () => void door.inside++, leave: () => void door.inside-- }
  const log: string[] = []
  const stream = new PassThrough().on('data', (line) => log.push(String(line)))
  const app = await createApp({
    routes: routes.map((route) => ({ plugin: 'test', route, door: gate })),
    raw: raw.map((route) => ({ plugin: 'test', route, door: gate })),
    keeper,
    service: () => {
      throw new Error('no service is needed here')
    },
    facts,
    log: { level: 'info', stream },
    validateAnswers: true,
    ...options,
  })
  const base = await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  return { base, port: Number(new URL(base).port), door, lines: () => log.join('') }
}

type Reply = { status: number; headers: Headers; text: string; body: unknown }
async function ask(base: string, path: string, init: RequestInit = {}): Promise<Reply> {
  const answer = await fetch(base + path, { redirect: 'manual', ...init })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') && text !== ''
  return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined }
}
const json = { 'content-type': 'application/json' }
const post = (base: string, body: unknown, headers: Record<string, string> = json, method = 'POST') =>
  ask(base, '/api/v1/things', { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })

const messageOf = ({ body }: Reply) => (body as { message?: string } | undefined)?.message

/** Sends bytes as they are and gives back all that comes, until the connection ends or is quiet. */
function sendRaw(port: number, bytes: string | Buffer, quiet = 400): Promise<string> {
  return new Promise((resolve) => {
    let got = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const end = () => {
      socket.destroy()
      resolve(got)
    }
    socket.setTimeout(quiet, end)
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
    })
    socket.on('close', end).on('error', end)
  })
}

t.test('answers: bodies, headers, HEAD, slashes', async (t) => {
  const { base } = await start(t)
  const one = await ask(base, '/api/v1/things/5')
  t.equal(one.status, 200)
  t.same(one.body, { ...thing, id: 5, parent: { ...thing, parent: null } }, 'only what is declared is answered')
  t.ok(one.text.endsWith('}\n'), 'ends with a newline')
  t.ok(one.text.includes('a \\u003cb\\u003e \\u0026 ü'), 'harmless inside HTML, otherwise raw UTF-8')
  t.match(Object.fromEntries(one.headers), {
    'content-type': 'application/json;charset=utf-8',
    'cache-control': 'max-age=0, private, must-revalidate',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
  })
  const head = await ask(base, '/api/v1/things/5', { method: 'HEAD' })
  t.equal(head.text, '')
  t.equal(head.headers.get('content-length'), one.headers.get('content-length'))
  t.equal((await ask(base, '/api/v1//things/5/')).status, 200)
  t.equal((await ask(base, '/api/v1/Things/5')).status, 404, 'paths are case-sensitive')
  const gone = await ask(base, '/api/v1/things/5', { method: 'DELETE' })
  t.match([gone.status, gone.text], [204, ''])
  t.same((await ask(base, '/api/v1/files/a%2Fb/c/d%2Fe%20f')).body, { owner: 'a/b', filepath: 'c/d/e f' })
  t.same((await ask(base, '/api/v1/files/%25/x%252Fy')).body, { owner: '%', filepath: 'x%2Fy' })
  const diff = await ask(base, '/api/v1/commits/abc.diff')
  t.match([diff.text, diff.headers.get('content-type')], ['abc as diff', 'text/plain; charset=utf-8'])
  const bytes = await ask(base, '/api/v1/bytes')
  t.match([bytes.text, bytes.headers.get('content-type'), bytes.headers.get('etag')], ['abcdef', 'image/png', '"1"'])
  const before = streamed.destroyed
  const none = await ask(base, '/api/v1/bytes', { method: 'HEAD' })
  t.match([none.status, none.text, none.headers.get('content-type')], [200, '', 'image/png'])
  t.equal(streamed.destroyed, before + 1, 'nobody reads a stream for HEAD, and it is closed')
})

t.test('what no route takes', async (t) => {
  const { base, port } = await start(t)
  for (const path of ['/api/v1', '/api/v1/', '/api/v1/nope', '/nope', '/api/v1/things/1/2']) {
    const reply = await ask(base, path)
    t.equal(reply.status, 404, path)
    t.same(reply.body, { message: 'not found', url: 'http://forge.example/api/swagger' })
  }
  for (const method of ['DELETE', 'OPTIONS', 'PROPFIND']) {
    const reply = await ask(base, '/api/v1/things', { method })
    t.equal(reply.status, 405, method)
    t.equal(reply.headers.get('allow'), 'GET, HEAD, PATCH, POST')
    t.equal(messageOf(reply), 'method not allowed')
  }
  t.match(await sendRaw(port, 'TRACE /api/v1/things HTTP/1.1\r\nHost: x\r\n\r\n'), /^HTTP\/1.1 405 [\s\S]*"message"/)
  t.match(await sendRaw(port, 'BREW /api/v1/things HTTP/1.1\r\nHost: x\r\n\r\n'), /^HTTP\/1.1 405 [\s\S]*"message"/)
  t.equal((await ask(base, '/api/v1/nope', { method: 'POST', body: 'x' })).status, 404)
  t.equal((await ask(base, '/api/v1/things', { method: 'PUT', body: '{', headers: json })).status, 405)
  for (const id of ['abc', '1.5', '1e3', '', '99999999999999999999', '0x1', '%20']) {
    const reply = await ask(base, `/api/v1/things/${id || 'null'}`)
    t.match([reply.status, messageOf(reply)], [404, 'not found'], `id ${id}`)
  }
})

t.test('refusals', async (t) => {
  const { base, lines } = await start(t)
  const url = 'http://forge.example/api/swagger'
  const problem = await ask(base, '/api/v1/fails/problem', { headers: { host: 'evil.example' } })
  t.equal(problem.status, 422)
  t.same(problem.body, { message: 'bad topics', url, invalidTopics: ['a'] })
  t.equal(problem.headers.get('x-why'), 'topics')
  const refusal = await ask(base, '/api/v1/fails/refusal')
  t.match([refusal.status, messageOf(refusal)], [423, 'repo is archived'])
  t.equal(messageOf(await ask(base, '/api/v1/fails/missing')), 'no such thing')
  const fault = await ask(base, '/api/v1/fails/unforeseen?token=hush')
  t.equal(fault.status, 500)
  t.notMatch(fault.text, /secret of the database|TypeError|core\/http/)
  const id = /names it (\S+)$/.exec(messageOf(fault) ?? '')?.[1]
  t.ok(id && lines().includes(`"reqId":"${id}"`), 'the log tells under the same id')
  t.match(lines(), /secret of the database/)
  t.notMatch(lines(), /hush/, 'tokens in addresses are not logged')
  t.equal((await ask(base, '/api/v1/fails/shape')).status, 500, 'an answer that is not as declared is loud in tests')
  t.match(lines(), /answered what it does not declare/)
  t.equal((await ask(base, '/api/v1/fails/status')).status, 500)
  const moved = await ask(base, '/api/v1/moved')
  t.match([moved.status, moved.headers.get('location')], [307, '/api/v1/things?x=1'])
})

t.test('the gate judges in the order of the contract, before the body is read', async (t) => {
  const { base, door, port } = await start(t)
  const put = (headers: Record<string, string>, query = '') =>
    ask(base, `/api/v1/me${query}`, { method: 'PUT', headers: { ...json, ...headers }, body: '{' })
  const wrong = await put(as('nobody'))
  t.match([wrong.status, messageOf(wrong)], [401, 'invalid username, password or token'])
  t.equal((await ask(base, '/api/v1/things', { headers: as('nobody') })).status, 401, 'also where nobody must sign in')
  const locked = await put(as('locked'))
  t.equal(locked.status, 403)
  t.same(locked.body, { message: 'This account is not activated.' }, 'without url')
  t.same((await put({ ...as('ann'), sudo: 'bob' })).body, { message: 'Only administrators allowed to sudo.' })
  t.same((await put({ sudo: 'bob' })).body, { message: 'Only administrators allowed to sudo.' })
  t.equal((await put(as('root'), '?sudo=nobody')).status, 404)

  door.face = { status: 403, message: 'Tests are disabled.' }
  t.match(
    await put({ ...as('reader') }),
    { status: 403, body: { message: 'Tests are disabled.' } },
    'switch before scope',
  )
  t.equal(messageOf(await put(as('nobody'))), 'invalid username, password or token', 'credentials before switch')
  t.equal((await ask(base, '/api/healthz')).status, 200, 'not governed')
  door.face = undefined

  t.equal(
    messageOf(await put(as('reader'))),
    'token does not have at least one of required scope(s), required=[write:user write:issue], token scope=read:user,read:issue',
  )
  t.equal(messageOf(await put(as('public'))), 'this endpoint is not available for public-only tokens')
  t.match(await put({}), { status: 401, body: { message: 'token is required' } })
  t.match(await put(as('ann')), { status: 422 }, 'the body comes last')
  t.match(await ask(base, '/api/v1/me', { headers: as('reader') }), { status: 200, body: { name: 'ann' } })
  t.match(await ask(base, '/api/v1/me', { headers: as('writer') }), { status: 200 }, 'write includes read')
  t.match(await ask(base, '/api/v1/me?sudo=bob', { headers: as('root') }), { status: 200, body: { name: 'bob' } })
  t.match(await ask(base, '/api/v1/site', { headers: as('ann') }), {
    status: 403,
    body: { message: 'user should be the site admin' },
  })
  t.match(await ask(base, '/api/v1/site'), { status: 401 })
  t.equal((await ask(base, '/api/v1/site', { headers: as('root') })).status, 204)
  t.ok((await ask(base, '/api/v1/things?token=x')).headers.has('x-gitea-warning'))

  const early = await sendRaw(
    port,
    'PUT /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n',
  )
  t.match(early, /^HTTP\/1.1 401 /, 'answered although the body never came')
  t.equal(door.inside, 0, 'every request has left the plugin')
})

t.test('sign-in may be required of everybody', async (t) => {
  let required = true
  const { base } = await start(t, { requireSigninView: () => required })
  const refused = await ask(base, '/api/v1/things')
  t.equal(refused.status, 403)
  t.same(refused.body, { message: 'Only signed in user is allowed to call APIs.' })
  t.equal((await ask(base, '/swagger.v1.json')).status, 403)
  t.equal((await ask(base, '/api/healthz')).status, 200, 'open')
  t.equal((await ask(base, '/api/v1/things', { headers: as('ann') })).status, 200)
  required = false
  t.equal((await ask(base, '/api/v1/things')).status, 200, 'followed without a restart')
})

t.test('a plugin knows which requests are inside it', async (t) => {
  const { base, door, port } = await start(t)
  const entered = new Promise<void>((resolve) => {
    waiting.entered = resolve
  })
  let release = () => {}
  waiting.release = new Promise((resolve) => {
    release = resolve
  })
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/v1/waits HTTP/1.1\r\nHost: x\r\n\r\n')
  await entered
  t.equal(door.inside, 1)
  socket.destroy()
  await sleep(100)
  t.equal(door.inside, 1, 'the client went away, the handler is still at work')
  release()
  for (let i = 0; door.inside > 0 && i < 50; i++) await sleep(20)
  t.equal(door.inside, 0)
  await ask(base, '/api/v1/fails/unforeseen')
  await ask(base, '/api/v1/bytes')
  for (let i = 0; door.inside > 0 && i < 50; i++) await sleep(20)
  t.equal(door.inside, 0, 'also after failures and streams')
})

t.test('bodies', async (t) => {
  const { base } = await start(t)
  const says = async (body: unknown, headers?: Record<string, string>, method?: string) => {
    const reply = await post(base, body, headers, method)
    return reply.status < 300 ? reply.body : `${reply.status} ${messageOf(reply)}`
  }
  t.same(await says({ TITLE: 'a', Labels: ['x'], private: null, unknown: 1 }), { title: 'a', labels: ['x'] })
  t.same(await says('{"title":"a"} and more'), { title: 'a' })
  t.same(await says({ title: 'a' }, { 'content-type': 'application/vnd.x+json; charset=utf-8' }), { title: 'a' })
  t.equal(await says(''), '422 [Title]: Required', 'an empty body is {}')
  t.equal(await says({ title: '' }), '422 [Title]: Required')
  t.match(await says('{"title": b}'), /^422 \[\]: /)
  t.match(await says('{"title'), /^422 \[\]: /)
  t.match(await says('[1]'), /^422 \[\]: json: cannot unmarshal array/)
  t.match(await says('"x"'), /^422 \[\]: json: cannot unmarshal string/)
  t.match(await says({ title: 1 }), /^422 \[\]: json: cannot unmarshal number/)
  t.match(await says({ title: '!', private: 'yes' }), /^422 \[\]: json: cannot unmarshal string/, 'types before rules')
  t.match(await says({ title: 'a', count: 1.5 }), /^422 \[\]: json: /)
  t.match(await says({ title: 'a', labels: 'x' }), /^422 \[\]: json: /)
  t.match(await says({ title: 'a', config: { a: 1 } }), /^422 \[\]: json: /)
  t.match(await says({ title: 'a', due: 'tomorrow' }), /^422 \[\]: parsing time "tomorrow"/)
  t.equal(await says({ title: 'a b' }), '422 [Title]: AlphaDashDot')
  t.equal(await says({ title: 'abcdefghijk' }), '422 [Title]: MaxSize')
  t.equal(await says({ title: 'a', website: 'ftp://x' }), '422 [Website]: Url')
  t.same(await says({ title: 'a', website: 'http://x:80/y' }), { title: 'a', website: 'http://x:80/y' })
  t.equal(await says({ title: 'a', website: 'http://x:y/' }), '422 [Website]: Url')
  t.equal(await says({ title: 'a', email: 'a@b' }), '422 [Email]: Email')
  t.equal(await says({ title: 'a', branch: 'a..b' }), '422 [RefName]: GitRefName')
  t.equal(await says({ title: 'a', kind: 'c' }), '422 [Kind]: In')
  t.equal(await says({ title: 'a', inner: {} }), '422 [Name]: Required')
  t.same(await says({ title: 'a', inner: { name: 'x' } }), { title: 'a', inner: { Name: 'x' } })
  t.same(await says({ title: 'a', either: true }), { title: 'a', either: true })
  t.same(await says({ title: 'a', either: 'true' }), { title: 'a', either: 'true' })
  t.match(await says({ title: 'a', either: 1 }), /^422 /)
  t.same(await says({ title: 'a', website: '' }), { title: 'a', website: '' }, 'other rules pass over empty values')
  t.same(await says('{"title":"a","free":{"__proto__":{"x":1},"b":[1,null]},"__proto__":{"private":true}}'), {
    title: 'a',
    free: { b: [1, null] },
  })
  t.equal(({} as Record<string, unknown>).x, undefined)
  t.match(await says('{"title":"a","free":"\\u0000"}'), /^422 /)
  t.match(await says('{"title":"a","free":{"\\u0000":1}}'), /^422 /)
  t.same(await says('{"title":"a","free":"\\ud800"}'), { title: 'a', free: '\ufffd' })
  t.match(await says(`{"title":"a","free":${'['.repeat(400_000)}${']'.repeat(400_000)}}`), /^422 \[\]: json: exceeded/)
  t.match(await says(`{"title":"a","unknown":${'{"a":'.repeat(150_000)}`), /^422 /)
  t.match(await says('['.repeat(900_000)), /^422 /)

  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  t.same(await says('title=q&labels=a&labels=b,c&private=on&count=3&free=x', form), {
    title: 'q',
    labels: ['a', 'b,c'],
    private: true,
    count: 3,
    free: 'x',
  })
  t.equal(await says('title=q&count=x', form), '422 [Count]: IntegerType')
  t.equal(await says('title=%zz%ff', form), '422 [Title]: AlphaDashDot')
  const data = new FormData()
  data.set('title', 'mp')
  data.append('labels', '1')
  data.append('labels', '2')
  data.set('file', new Blob(['x'.repeat(1000)]), 'n.txt')
  const multipart = await ask(base, '/api/v1/things', { method: 'POST', body: data })
  t.same(multipart.body, { title: 'mp', labels: ['1', '2'] })
  t.match(await says('no boundary here', { 'content-type': 'multipart/form-data' }), /^422 \[\]: /)
  t.match(await says('--x\r\nbroken', { 'content-type': 'multipart/form-data; boundary=x' }), /^422 \[\]: /)

  t.equal(await says('x', { 'content-type': 'text/plain' }), '422 []: Unsupported Content-Type')
  t.equal(await says('x', { 'content-type': ';;;' }), '422 []: Unsupported Content-Type')
  t.match(
    await sendRaw((await start(t)).port, 'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'),
    /^HTTP\/1.1 422 [\s\S]*\[\]: Empty Content-Type/,
  )
  const { port } = await start(t)
  t.match(
    await sendRaw(
      port,
      'PATCH /api/v1/things?title=fromquery HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n{"title":"b"}',
    ),
    /^HTTP\/1.1 200 [\s\S]*\{"title":"fromquery"\}/,
    'PATCH without Content-Type reads the query',
  )
  t.equal(await says('x', { 'content-type': 'text/plain' }, 'PATCH'), '422 []: Unsupported Content-Type')
})

t.test('bodies that are too large', async (t) => {
  const { base, port } = await start(t)
  const large = await post(base, 'x'.repeat(10_000_000))
  t.match([large.status, messageOf(large)], [413, 'request body is too large'])
  const counted = await ask(base, '/api/v1/things', {
    method: 'POST',
    headers: json,
    body: Readable.toWeb(Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(65_536, 0x20)))) as never,
    duplex: 'half',
  } as RequestInit)
  t.equal(counted.status, 413, 'counted where nothing is declared')
  const data = new FormData()
  data.set('title', 'x'.repeat(2_000_000))
  t.equal((await ask(base, '/api/v1/things', { method: 'POST', body: data })).status, 413)
  data.set('title', 'x')
  data.set('file', new Blob(['x'.repeat(2_000_000)]), 'n')
  t.equal((await ask(base, '/api/v1/things', { method: 'POST', body: data })).status, 413)
  t.match(
    await sendRaw(
      port,
      'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{',
    ),
    /^HTTP\/1.1 413 [\s\S]*"message"/,
    'refused by what is declared, before it is sent',
  )
  const cut = connect(port, '127.0.0.1')
  cut.write(
    'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"ti',
  )
  await sleep(50)
  cut.destroy()
  t.equal((await ask(base, '/api/v1/things')).status, 200, 'a client that hangs up harms nobody')
})

t.test('uploads and raw bodies', async (t) => {
  const { base } = await start(t)
  const data = new FormData()
  data.set('name', 'n')
  data.set('attachment', new Blob(['123456789']), 'a.txt')
  t.same((await ask(base, '/api/v1/upload', { method: 'POST', body: data })).body, [
    ['name', 'n'],
    ['a.txt', 9],
  ])
  const bytes = await ask(base, '/api/v1/upload', {
    method: 'POST',
    body: Buffer.alloc(3_000_000),
    headers: { 'content-type': 'application/octet-stream' },
  })
  t.same(bytes.body, { bytes: 3_000_000 })
  const body = Buffer.alloc(2_000_000, 'git')
  for (const type of ['application/x-git-receive-pack-request', 'application/json', 'multipart/form-data']) {
    const echo = await fetch(`${base}/git/some/re%2Fpo.git/git-receive-pack`, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    })
    t.ok(Buffer.from(await echo.arrayBuffer()).equals(body), `${type} passes through untouched`)
    t.equal(echo.headers.get('x-rest'), 're/po.git/git-receive-pack')
  }
  const closed = await ask(base, '/git/closed/x')
  t.match(
    [closed.status, closed.text, closed.headers.get('www-authenticate')],
    [401, 'who are you\n', 'Basic realm="Test"'],
  )
  const scope = await ask(base, '/git/some/x', { headers: as('writer') })
  t.match([scope.status, scope.text], [403, /^token does not have/])
  t.equal((await ask(base, '/git/some/x', { method: 'PUT' })).status, 405)
})

t.test('queries', async (t) => {
  const { base } = await start(t)
  const query = async (text: string) =>
    (await ask(base, `/api/v1/search?${text}`)).body as { query: unknown; page: unknown }
  const standard = { page: 1, limit: 2, offset: 0 }
  for (const text of ['', 'page=0&limit=0', 'page=-1&limit=-5', 'page=x&limit=y', 'page=&limit=', 'page=1e9&limit=1.5'])
    t.same((await query(text)).page, standard, text)
  t.same((await query('page=3&limit=99')).page, { page: 3, limit: 5, offset: 10 })
  t.same((await query('page=99999999999999999999')).page, standard)
  t.same((await query('q=a&q=b')).query, { q: 'a' })
  t.same((await query('q[]=a&q[x]=b')).query, { q: 'a' })
  t.same((await query('ids=1,2&ids=3&ids=x')).query, { ids: [1, 2, 3] })
  t.same((await query('ids[]=1&ids[]=2')).query, { ids: [1, 2] })
  t.same((await query('n=x&on=')).query, {}, 'what cannot be read is absent')
  for (const yes of ['1', 't', 'TRUE', 'on']) t.same((await query(`on=${yes}`)).query, { on: true })
  for (const no of ['0', 'f', 'yes', 'x']) t.same((await query(`on=${no}`)).query, { on: false })
  t.same((await query('state=open')).query, { state: 'open' })
  t.same((await query('state=other&n=99999999999999999999')).query, {})
  t.same((await query('__proto__=1&constructor=2&q=%ff%zz')).query, { q: '%ff%zz' })
  t.same((await query('since=2024-01-02T03:04:05%2B01:00')).query, { since: '2024-01-02T03:04:05+01:00' })
  for (const bad of ['2024-01-02', '2024-13-02T03:04:05Z', '2024-01-02T03:04:05 01:00', 'x']) {
    const reply = await ask(base, `/api/v1/search?since=${bad}`)
    t.match([reply.status, messageOf(reply)], [422, /^parsing time "/], bad)
  }
})

t.test('pages of lists', async (t) => {
  const { base } = await start(t)
  const root = 'http://forge.example/api/v1/things'
  const link = async (query: string) => (await ask(base, `/api/v1/things${query}`)).headers.get('link')
  const first = await ask(base, '/api/v1/things')
  t.equal(first.headers.get('x-total-count'), '7')
  t.equal(first.headers.get('access-control-expose-headers'), 'Link, X-Total-Count')
  t.equal(first.headers.get('link'), `<${root}?page=2>; rel="next",<${root}?page=4>; rel="last"`)
  t.equal(
    await link('?z=1&page=2&limit=3&a=x%20y&a=%26'),
    ['3>; rel="next"', '3>; rel="last"', '1>; rel="first"', '1>; rel="prev"']
      .map((end) => `<${root}?a=x+y&a=%26&limit=3&page=${end.replace('>', '&z=1>')}`)
      .join(','),
  )
  t.equal(await link('?page=4'), `<${root}?page=1>; rel="first",<${root}?page=3>; rel="prev"`)
  const beyond = await ask(base, '/api/v1/things?page=50')
  t.same(beyond.body, [])
  t.equal(beyond.headers.get('x-total-count'), '7')
  t.equal(beyond.headers.get('link'), `<${root}?page=1>; rel="first",<${root}?page=3>; rel="prev"`)
  const counted = await ask(base, '/api/v1/counted')
  t.match(
    [counted.text, counted.headers.get('x-total-count'), counted.headers.get('link'), counted.headers.get('x-page')],
    ['null\n', '7', null, '1'],
  )
  t.equal(counted.headers.get('access-control-expose-headers'), 'X-Total-Count')
  const wrapped = await ask(base, '/api/v1/wrapped')
  t.same(wrapped.body, { ok: true, data: [thing] })
  t.equal(wrapped.headers.get('link'), null, 'one page has no links')
})

t.test('links follow the address of the request, or ROOT_URL', async (t) => {
  const { base, port } = await start(t)
  t.match((await ask(base, '/api/v1/links')).body, {
    base: `http://127.0.0.1:${port}`,
    remoteAddress: '127.0.0.1',
    url: '/api/v1/links',
  })
  t.match(
    (await ask(base, '/api/v1/links', { headers: { 'x-forwarded-for': '9.9.9.9' } })).body,
    { remoteAddress: '127.0.0.1' },
    'nobody is believed unless trusted',
  )
  const host = async (value: string) =>
    /"base":"([^"]*)"/.exec(
      await sendRaw(port, `GET /api/v1/links HTTP/1.1\r\nHost: ${value}\r\nConnection: close\r\n\r\n`),
    )?.[1]
  t.equal(await host('other.example:8080'), 'http://other.example:8080')
  t.equal(await host('a/b"<script>'), 'http://forge.example', 'only what can be a host name')
  const fixed = await start(t, {
    facts: { ...facts, detectPublicUrl: false, rootUrl: 'https://forge.example/sub/', trustedProxies: ['127.0.0.1'] },
  })
  const inside = await ask(fixed.base, '/sub/api/v1/links', { headers: { 'x-forwarded-for': '9.9.9.9' } })
  t.match(inside.body, { base: 'https://forge.example/sub', remoteAddress: '9.9.9.9' })
  t.equal((await ask(fixed.base, '/api/v1/links')).status, 200, 'with or without the path of ROOT_URL')
  t.match((await ask(fixed.base, '/sub/swagger.v1.json')).body, { basePath: '/sub/api/v1' })
  t.equal((await ask(fixed.base, '/api/v1/swagger')).headers.get('location'), '/sub/api/swagger')
})

t.test('hostile requests are answered with a JSON 4xx, and harm nobody', async (t) => {
  const { base, port, door } = await start(t)
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`
  const corpus = [
    get('/api/v1/things/%00'),
    get('/api/v1/search?q=%00'),
    get('/api/v1/files/a/%zz'),
    get('/api/v1/files/%/x'),
    get('/api/v1/files/%ff%fe/x'),
    get('/api/v1/files/%c0%ae/x'),
    get('/api/v1/files/%e0%80/%80'),
    get('/api/v1/things/..'),
    get('/api/v1/../../../etc/passwd'),
    get('/%2e%2e/%2e%2e/etc/passwd'),
    get('/api/swagger/static/..%2f..%2fpackage.json'),
    get('/api/swagger/static/%00'),
    get('/api/swagger/static/../../package.json'),
    get('/\x00'),
    get('/api/v1/things\x01'),
    get('*'),
    get('http://['),
    get('/api/v1/things', `X-Big: ${'a'.repeat(100_000)}\r\n`),
    get(`/${'a'.repeat(200_000)}`),
    get('/api/v1/things', 'no colon here\r\n'),
    get('/api/v1/things', 'Expect: miracles\r\n'),
    'GET /api/v1/things HTTP/9.9\r\n\r\n',
    'GET /api/v1/things HTTP/1.1\r\n\r\n',
    '\x16\x03\x01\x02\x00',
    'rubbish\r\n\r\n',
    'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b',
  ]
  for (const bytes of corpus) {
    const reply = await sendRaw(port, Buffer.from(bytes, 'latin1'), 300)
    const name = JSON.stringify(bytes.slice(0, 70))
    t.match(reply, /^HTTP\/1\.1 4\d\d /, name)
    t.match(reply, /content-type: application\/json/i, name)
    t.match(reply, /\{"message":/, name)
  }
  const pipelined = await sendRaw(
    port,
    `${'GET /api/v1/things/1 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20)}GET /api/v1/nope HTTP/1.1\r\nHost: x\r\n\r\n`,
  )
  t.equal(pipelined.split('HTTP/1.1 200').length - 1, 20)
  t.equal(pipelined.split('HTTP/1.1 404').length - 1, 1)
  const halves = await sendRaw(port, 'GET /api/v1/things/1 HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n')
  t.notMatch(halves, /HTTP\/1\.1 5/)
  t.equal((await ask(base, '/api/v1/things/1')).status, 200)
  t.equal(door.inside, 0)
})

t.test('other origins', async (t) => {
  const closed = await start(t)
  t.equal(
    (await ask(closed.base, '/api/v1/things', { headers: { origin: 'http://a.example' } })).headers.get(
      'access-control-allow-origin',
    ),
    null,
  )
  const cors = {
    allowDomain: ['a.example', '*.b.example'],
    methods: ['GET', 'POST'],
    maxAgeSeconds: 600,
    allowCredentials: true,
    headers: ['X-More'],
  }
  const { base } = await start(t, { facts: { ...facts, cors } })
  const from = async (origin: string) =>
    (await ask(base, '/api/v1/things', { headers: { origin } })).headers.get('access-control-allow-origin')
  t.equal(await from('https://a.example:8080'), 'https://a.example:8080')
  t.equal(await from('https://x.b.example'), 'https://x.b.example')
  t.equal(await from('https://evil-b.example'), null)
  t.equal(await from('https://a.example.evil'), null)
  t.equal((await ask(base, '/api/v1/things')).headers.get('vary'), 'Origin')
  const preflight = (headers: Record<string, string>) =>
    ask(base, '/api/v1/me', {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST', ...headers },
    })
  const granted = await preflight({ 'access-control-request-headers': 'authorization, x-more' })
  t.match(Object.fromEntries(granted.headers), {
    'access-control-allow-origin': 'https://a.example',
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization, x-more',
    'access-control-max-age': '600',
  })
  t.equal(granted.status, 200)
  for (const headers of [
    { 'access-control-request-headers': 'x-evil' },
    { 'access-control-request-method': 'PUT' },
    { origin: 'https://evil.example' },
  ] as Record<string, string>[]) {
    const denied = await preflight(headers)
    t.equal(denied.status, 200)
    t.notOk(
      [...denied.headers.keys()].some((name) => name.startsWith('access-control-allow')),
      JSON.stringify(headers),
    )
  }
})

t.test('descriptions', async (t) => {
  const { base } = await start(t)
  const { body } = await ask(base, '/swagger.v1.json')
  t.match(body, {
    swagger: '2.0',
    basePath: '/api/v1',
    info: { version: '1.27.0' },
    securityDefinitions: {
      BasicAuth: {},
      Token: {},
      AccessToken: {},
      AuthorizationHeaderToken: {},
      SudoParam: {},
      SudoHeader: {},
      TOTPHeader: {},
    },
    definitions: {
      Thing: {
        properties: {
          owner: { allOf: [{ $ref: '#/definitions/User' }], 'x-nullable': true },
          state: { type: 'string', enum: ['open', 'closed'] },
          closed_at: { type: 'string', format: 'date-time', 'x-nullable': true },
        },
      },
    },
    paths: {
      '/things': {
        get: { responses: { 200: { schema: { type: 'array', items: { $ref: '#/definitions/Thing' } } } } },
        post: {
          parameters: [{ in: 'body', schema: { $ref: '#/definitions/CreateThingOption' } }],
          responses: { 422: { $ref: '#/responses/validationError' } },
        },
      },
      '/files/{owner}/{filepath}': { get: {} },
      '/commits/{sha}.{type}': { get: { responses: { 200: { schema: { type: 'string' } } } } },
      '/upload': { post: { parameters: [{ in: 'formData', name: 'attachment', type: 'file' }] } },
      '/site': { get: { responses: { 401: {}, 403: {} } } },
    },
  })
  const text = JSON.stringify(body)
  t.notMatch(text, /fieldName|"rule"|"wire"/, 'our own keywords are not described')
  for (const [, name] of text.matchAll(/"#\/definitions\/([^"]+)"/g))
    t.ok(text.includes(`"${name}":{`), `${name} is defined`)
  const open = await ask(base, '/openapi3.v1.json')
  t.match(open.body, {
    openapi: '3.1.0',
    servers: [{ url: '/api/v1' }],
    components: {
      schemas: {
        Thing: {
          properties: {
            closed_at: { type: ['string', 'null'] },
            owner: { anyOf: [{ $ref: '#/components/schemas/User' }, { type: 'null' }] },
          },
        },
      },
    },
  })
  const page = await ask(base, '/api/swagger')
  t.equal(page.status, 200)
  t.notMatch(page.text, /https?:\/\//, 'nothing from elsewhere')
  t.match(page.headers.get('content-security-policy'), /script-src 'self';/)
  for (const [, path] of page.text.matchAll(/(?:src|href)="([^"]+)"/g))
    t.equal((await ask(base, path ?? '')).status, 200, String(path))
  const old = await ask(base, '/api/v1/swagger')
  t.match([old.status, old.headers.get('location')], [303, '/api/swagger'])
  const off = await start(t, { facts: { ...facts, swagger: false } })
  for (const path of ['/swagger.v1.json', '/api/v1/swagger']) t.equal((await ask(off.base, path)).status, 404, path)
})

t.test('what cannot be served does not boot', async (t) => {
  const first = routes[0] as Route
  const boot = (changed: object, ...others: Route[]) =>
    createApp({
      routes: [...others, { ...first, ...changed } as Route].map((route) => ({ plugin: 'stars', route })),
      keeper,
      service: () => undefined as never,
      facts,
    })
  await t.rejects(boot({ access: undefined }), /plugin stars, GET \/things: declares no access/)
  await t.rejects(boot({ scope: undefined }), /declares no scope/)
  await t.rejects(boot({ answers: {} }), /no successful answer/)
  await t.rejects(boot({ answers: { 200: undefined } }), /without a schema/)
  await t.rejects(boot({ params: Type.Object({ owner: Type.String() }) }), /path parameter owner/)
  await t.rejects(boot({ body: CreateThing }), /body although it is a GET/)
  await t.rejects(boot({ path: '/else' }, first), /operationId listThings is already taken by plugin stars/)
  await t.rejects(boot({ operationId: 'other' }, first), /GET \/things is already taken/)
  await t.rejects(
    boot({ path: '/else', operationId: 'else', answers: { 200: record('User', { id: Type.String() }) } }, first),
    /two different records are named User/,
  )
  const git = { ...(raw[0] as RawRoute), access: undefined } as unknown as RawRoute
  await t.rejects(
    createApp({ routes: [], raw: [{ plugin: 'git', route: git }], keeper, service: () => undefined as never, facts }),
    /plugin git, GET,POST .*: declares no access/,
  )
  const settled = await start(t, {
    records: [record('User', { ...User.properties, stars: Type.Optional(Type.Integer()) })],
  })
  t.match(
    (await ask(settled.base, '/swagger.v1.json')).body,
    { definitions: { User: { properties: { stars: {} } } } },
    'a settled record stands in',
  )
})
