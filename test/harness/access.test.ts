/** The access walk: every operation, as everybody, with every kind of token, against the table kept by hand. */
import t, { type Test } from 'tap'
import { scopeCategories } from '#core/identity'
import { createSender, inParallel, type Reply, type Shot } from '../support/hammer.ts'
import type { CallOptions } from '../support/host.ts'
import { startHost, type TestHost } from '../support/host.ts'
import { fillPath, rawRoutesOf, routesOf } from '../support/shipped.ts'
import { makeWorld, marker, type World } from '../support/world.ts'
import {
  type AccountClass,
  accessTable,
  accountCallers,
  accountClasses,
  type Caller,
  isAboutRepository,
  type RepositoryClass,
  type Row,
  rawTable,
  repositoryCallers,
  repositoryClasses,
  type Verdict,
} from './access-table.ts'

t.setTimeout(270_000)

let h: TestHost
let world: World
let send: (shot: Shot) => Promise<Reply>
let statuses: Map<string, Set<number>>
/** Rows whose operations ship, by operationId. */
let rows: [string, Row][]

t.before(async () => {
  h = await startHost(t as never)
  world = await makeWorld(h)
  const sender = createSender(h.base, 8)
  send = sender.send
  t.teardown(sender.close)
  statuses = new Map()
  const shipped = new Set(routesOf(h.rooms).map(({ route }) => route.operationId))
  rows = Object.entries(accessTable).filter(([id]) => shipped.has(id))
})

t.test('every operation has a row, and the row is about that operation', async (t) => {
  for (const { plugin, route } of routesOf(h.rooms)) {
    const path = route.path.replaceAll('+}', '}')
    const told = accessTable[route.operationId]?.route.replace(/\?.*$/, '')
    t.equal(told, `${route.method} ${path}`, `${route.operationId} of ${plugin}`)
  }
  for (const { plugin, route } of rawRoutesOf(h.rooms)) {
    for (const method of [route.method].flat())
      t.ok(rawTable[`${method} ${route.path}`], `${plugin}: ${method} ${route.path}`)
  }
  const waiting = Object.keys(accessTable).filter((id) => !rows.some(([known]) => known === id))
  t.comment(`rows without an operation yet: ${waiting.length} (${waiting.join(' ')})`)
})

const person: Readonly<Record<Caller, string | null>> = {
  anonymous: null,
  ...{ stranger: 'stranger', reader: 'reader', writer: 'writer', admin: 'admin2', owner: 'owner' },
  ...{ other: 'other', self: 'self', site: 'admin' },
}

const basicOf = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

/** Credentials of a person: a token of all scopes, unless the operation takes only passwords. */
async function credentialsOf(name: string | null, row: Row): Promise<string | undefined> {
  if (name === null) return undefined
  if (row.basic) return basicOf(name, h.passwordOf(name))
  if (row.ends === 'token' || name === 'admin') return `token ${await tokenFor(name, ['all'], row.ends === 'token')}`
  return `token ${h.token(name)}`
}

const tokens = new Map<string, string>()
async function tokenFor(name: string, scopes: readonly string[], fresh = false): Promise<string> {
  const key = `${name} ${scopes}`
  const known = fresh ? undefined : tokens.get(key)
  const token = known ?? (await h.tokenWith(name, scopes))
  if (!fresh) tokens.set(key, token)
  return token
}

/** The request of a row. `{words}` in the row's own parameters are taken from the values. */
function shotOf(row: Row, values: Readonly<Record<string, string>>, auth: string | undefined): Shot {
  const [method = '', path = ''] = row.route.split(' ')
  const insert = (text: string) => text.replace(/\{(\w+)\}/g, (_all, word: string) => values[word] ?? 'nothing')
  const own = Object.fromEntries(Object.entries(row.path ?? {}).map(([name, text]) => [name, insert(text)]))
  const body = row.body === undefined ? undefined : typeof row.body === 'string' ? row.body : JSON.stringify(row.body)
  const type = typeof row.body === 'string' ? 'text/plain' : 'application/json'
  return {
    method,
    path: `/api/v1${fillPath(path, { ...values, ...own })}`,
    headers: { ...(auth && { authorization: auth }), ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body }),
  }
}

const messageOf = ({ text }: Reply): string => {
  try {
    return String((JSON.parse(text) as { message?: unknown }).message)
  } catch {
    return text
  }
}

/** What is wrong with an answer, or undefined. */
function judge(id: string, row: Row, verdict: Verdict, reply: Reply): string | undefined {
  const { status } = reply
  const seen = statuses.get(id) ?? new Set()
  statuses.set(id, seen.add(status))
  if (verdict !== 'ok') {
    const expected = [verdict].flat()
    return expected.includes(status)
      ? undefined
      : `${status} (${messageOf(reply).slice(0, 120)}) instead of ${expected}`
  }
  const fine = row.passes?.includes(status) ?? (status < 500 && ![401, 403, 404].includes(status))
  return fine ? undefined : `${status} (${messageOf(reply).slice(0, 120)}) instead of passing`
}

/** A repository that may be deleted, with all the roles of the world. */
async function freshRepository(isPrivate: boolean, index: number): Promise<string> {
  const name = `fresh${index}`
  await h.call('POST', '/user/repos', { name, private: isPrivate }, { as: 'owner' })
  for (const [who, permission] of [
    ['reader', 'read'],
    ['writer', 'write'],
    ['admin2', 'admin'],
  ] as const) {
    await h.call('PUT', `/repos/owner/${name}/collaborators/${who}`, { permission }, { as: 'owner' })
  }
  return name
}

t.test('operations about a repository, as everybody', async (t) => {
  let made = 0
  for (const [id, row] of rows.filter(([, row]) => isAboutRepository(row))) {
    const wrong: string[] = []
    for (const isPrivate of [false, true]) {
      const values = (isPrivate ? world.priv : world.pub).values
      for (const caller of repositoryCallers) {
        const verdicts = repositoryClasses[row.who as RepositoryClass]
        const outside = caller === 'anonymous' || caller === 'stranger'
        const hidden = caller === 'anonymous' && row.user ? 401 : 404
        const verdict = isPrivate && outside ? hidden : verdicts[caller]
        const repo = row.ends === 'repository' ? { repo: await freshRepository(isPrivate, made++) } : {}
        const reply = await send(shotOf(row, { ...values, ...repo }, await credentialsOf(person[caller], row)))
        const fault = judge(id, row, verdict, reply)
        if (fault) wrong.push(`${isPrivate ? 'private' : 'public'}, ${caller}: ${fault}`)
      }
    }
    t.strictSame(wrong, [], `${id}: ${row.who}`)
  }
})

const visibilities = ['public', 'limited', 'private'] as const

t.test('operations about accounts and the host, as everybody', async (t) => {
  for (const visibility of visibilities) await h.user(`victim${visibility}`, { visibility })
  for (const [id, row] of rows.filter(([, row]) => !isAboutRepository(row))) {
    const wrong: string[] = []
    for (const visibility of row.route.includes('{username}') ? visibilities : (['public'] as const)) {
      for (const caller of accountCallers) {
        const name = caller === 'self' ? `is${visibility}` : person[caller]
        const values = {
          id: '999999',
          token: 'nothing',
          username: `is${visibility}`,
          visibility,
          caller: name ?? 'guest',
        }
        const reply = await send(shotOf(row, values, await credentialsOf(name, row)))
        const fault = judge(id, row, accountClasses[row.who as AccountClass][visibility][caller], reply)
        if (fault) wrong.push(`${visibility} account, ${caller}: ${fault}`)
      }
    }
    t.strictSame(wrong, [], `${id}: ${row.who}`)
  }
})

const grants = scopeCategories.flatMap((category) => [`read:${category}`, `write:${category}`])

/** The text of the refusal by the contract, or undefined where the token suffices. */
function refusalFor(row: Row, scope: string): string | undefined {
  if (row.scope === 'none') return undefined
  const level = row.route.startsWith('GET') ? 'read' : 'write'
  const [has, of] = scope.split(':')
  const lacks = row.scope.find((category) => !(category === of && (has === 'write' || level === 'read')))
  if (lacks === undefined) return undefined
  return `token does not have at least one of required scope(s), required=[${level}:${lacks}], token scope=${scope}`
}

t.test('token scopes: what is lacking is refused in the words of the contract, whatever the object', async (t) => {
  const nowhere = { owner: 'nobody', repo: 'nothing', username: 'nobody', repository: '999999999', sha: '0' }
  const wrong: string[] = []
  const judged = { refused: 0, passed: 0 }
  const all = rows.flatMap(([id, row]) => grants.map((scope) => ({ id, row, scope })))
  await inParallel(all, 8, async ({ id, row, scope }) => {
    const token = await tokenFor('guest', [scope], row.ends === 'token')
    const auth = row.basic ? basicOf('guest', token) : `token ${token}`
    const reply = await send(shotOf(row, { ...world.pub.values, ...nowhere }, auth))
    const refusal = refusalFor(row, scope)
    const message = messageOf(reply)
    const isRefused = reply.status === 403 && message.startsWith('token does not have')
    if (refusal === undefined ? isRefused : reply.status !== 403 || message !== refusal)
      wrong.push(`${id} with ${scope}: ${reply.status} ${message}`)
    judged[refusal === undefined ? 'passed' : 'refused']++
  })
  t.ok(judged.refused > 500 && judged.passed > 100, `${judged.refused} refused, ${judged.passed} passed`)
  t.strictSame(wrong.sort(), [])
})

t.test('several scopes: each that is needed is enough together, and `all` is', async (t) => {
  const wrong: string[] = []
  for (const [id, row] of rows) {
    if (row.scope === 'none' || row.who === 'site' || row.ends || row.basic) continue
    const level = row.route.startsWith('GET') ? 'read' : 'write'
    for (const scopes of [row.scope.map((category) => `${level}:${category}`), ['all']]) {
      const reply = await send(
        shotOf(
          row,
          { ...world.pub.values, username: 'ispublic', caller: 'owner' },
          `token ${await tokenFor('owner', scopes)}`,
        ),
      )
      if (messageOf(reply).startsWith('token does not have')) wrong.push(`${id} with ${scopes}: ${messageOf(reply)}`)
    }
  }
  t.strictSame(wrong, [])
})

t.test('public-only tokens stay with what is public', async (t) => {
  const auth = `token ${await tokenFor('owner', ['public-only', 'all'])}`
  const refused = 'this endpoint is not available for public-only tokens'
  for (const [id, row] of rows) {
    if (row.ends || row.basic || row.who === 'site') continue
    const wrong: string[] = []
    const ask = async (values: Readonly<Record<string, string>>) => {
      const reply = await send(shotOf(row, { ...values, caller: 'owner' }, auth))
      return { status: reply.status, message: messageOf(reply) }
    }
    const expect = (what: string, got: { status: number; message: string }, status: number, message?: string) => {
      if (got.status !== status || (message !== undefined && got.message !== message))
        wrong.push(`${what}: ${got.status} ${got.message.slice(0, 120)} instead of ${status}`)
    }
    if (row.publicOnly) expect('anything', await ask(world.pub.values), 403, refused)
    else if (isAboutRepository(row)) {
      expect('own private repository', await ask(world.priv.values), 404)
      const open = await ask(world.pub.values)
      if (open.status === 403 || (open.status === 404 && !row.passes?.includes(404)))
        expect('own public repository', open, 200)
    } else if (row.route.includes('/users/{username}') && row.who !== 'self') {
      const limited = 'token scope is limited to public users'
      expect('a limited account', await ask({ ...world.pub.values, username: 'islimited' }), 403, limited)
      if ((await ask({ ...world.pub.values, username: 'ispublic' })).status === 403) wrong.push('a public account: 403')
    }
    t.strictSame(wrong, [], id)
  }
})

t.test('nothing of what is hidden is in any answer', async (t) => {
  const confined = `token ${await tokenFor('owner', ['public-only', 'all'])}`
  const viewers: [string, CallOptions][] = [
    ['anonymous', { as: null }],
    ['a stranger', { as: 'stranger' }],
    ['the owner with a public-only token', { auth: confined }],
  ]
  const lists = new Set(
    routesOf(h.rooms).flatMap(({ route }) => (route.paging || route.query ? route.operationId : [])),
  )
  const queries = ['', '?limit=50', '?q=zq', `?q=${marker}`, '?private=true', '?sort=updated&order=desc']
  const asked = new Map<string, string>()
  for (const [id, row] of rows.filter(([, { route }]) => route.startsWith('GET'))) {
    for (const repo of [world.pub, world.priv]) {
      for (const username of ['owner', 'reader', 'isprivate']) {
        const { path } = shotOf(row, { ...repo.values, username }, undefined)
        const searchable = lists.has(id) && !/\?|archive/.test(path)
        for (const query of searchable ? queries : ['']) asked.set(path + query, id)
      }
    }
  }
  const wrong: string[] = []
  await inParallel([...asked], 6, async ([path, id]) => {
    for (const [who, options] of viewers) {
      const { body, headers } = await h.call('GET', `/${path}`, undefined, options)
      const text = `${JSON.stringify(body)} ${JSON.stringify([...headers].filter(([name]) => name !== 'link'))}`
      if (text.includes(marker)) wrong.push(`${id} ${path}: ${who}`)
    }
  })
  t.strictSame(wrong, [])
  const seen = await h.call('GET', '/repos/owner/priv', undefined, { as: 'owner' })
  t.ok(JSON.stringify(seen.body).includes(marker), 'who may see it does')
})

/** An answer without what necessarily differs. */
const shadow = ({ status, headers, text }: Reply, ...words: string[]) => {
  const { date: _date, 'content-length': _length, ...rest } = headers
  const plain = words.reduce((left, word) => left.replaceAll(word, '…'), `${JSON.stringify(rest)}\n${text}`)
  return `${status} ${plain}`
}

t.test('private and missing look alike', async (t) => {
  await h.call('POST', '/user/repos', { name: 'former', private: true }, { as: 'owner' })
  const renamed = await h.call('PATCH', '/repos/owner/former', { name: 'latter' }, { as: 'owner' })
  t.equal(renamed.status, 200)
  const auths = [
    undefined,
    `token ${h.token('stranger')}`,
    `token ${await tokenFor('stranger', ['public-only', 'all'])}`,
  ]
  for (const [id, row] of rows) {
    const wrong: string[] = []
    const compare = async (hidden: Record<string, string>, missing: Record<string, string>, words: string[]) => {
      for (const auth of auths) {
        const shots = [hidden, missing].map((values) => shotOf(row, { ...world.priv.values, ...values }, auth))
        const [one, two] = (await Promise.all(shots.map(send))) as [Reply, Reply]
        if (shadow(one, ...words) !== shadow(two, ...words))
          wrong.push(`${shadow(one, ...words)}\n≠ ${shadow(two, ...words)}`)
      }
    }
    if (row.path?.id === '{repository}')
      await compare({ repository: String(world.priv.row.id) }, { repository: '987654321' }, [])
    else if (isAboutRepository(row) && !row.ends) {
      await compare({ repo: 'priv' }, { repo: 'nope' }, ['priv', 'nope'])
      await compare({ repo: 'former' }, { repo: 'nope' }, ['former', 'nope'])
    }
    if (row.who === 'visible' || (row.who === 'self' && !row.basic))
      await compare({ username: 'isprivate' }, { username: 'isnowhere' }, ['isprivate', 'isnowhere'])
    t.strictSame(wrong, [], id)
  }
})

t.test('git and pages outside the REST API use the same rights', async (t) => {
  const paths = rawRoutesOf(h.rooms).map(({ route }) => route.path)
  if (!paths.includes('/{owner}/{repo}/info/refs')) return t.pass('git is not here')
  const asks: [string, Omit<Shot, 'path'> & { path: string }][] = [
    ['fetch', { method: 'GET', path: 'info/refs?service=git-upload-pack' }],
    ['push', { method: 'GET', path: 'info/refs?service=git-receive-pack' }],
    [
      'upload-pack',
      { method: 'POST', path: 'git-upload-pack', headers: { 'content-type': 'application/x-git-upload-pack-request' } },
    ],
    [
      'receive-pack',
      {
        method: 'POST',
        path: 'git-receive-pack',
        headers: { 'content-type': 'application/x-git-receive-pack-request' },
      },
    ],
    ['dumb', { method: 'GET', path: 'HEAD' }],
  ]
  const ask = (repo: string, { path, headers, ...rest }: (typeof asks)[number][1], auth?: string) =>
    send({ ...rest, path: `/owner/${repo}/${path}`, headers: { ...headers, ...(auth && { authorization: auth }) } })
  const writes = (what: string) => what === 'push' || what === 'receive-pack'
  for (const [what, shot] of asks) {
    await t.test(what, async (t: Test) => {
      const anonymous = await ask('priv', shot)
      t.equal(anonymous.status, 401, 'anonymous callers are asked who they are')
      t.match(anonymous.headers['www-authenticate'], /^Basic realm=/)
      t.equal(shadow(anonymous, 'priv'), shadow(await ask('nope', shot), 'nope').replaceAll('nope', '…'))
      const stranger = basicOf('stranger', h.passwordOf('stranger'))
      const [hidden, missing] = [await ask('priv', shot, stranger), await ask('nope', shot, stranger)]
      t.ok([403, 404].includes(hidden.status), `a stranger gets ${hidden.status}`)
      t.equal(shadow(hidden, 'priv'), shadow(missing, 'nope'), 'as if it were not there')
      t.equal((await ask('pub', shot)).status === 401, writes(what), 'anonymous callers read what is public')
      const outcomes: [string, readonly string[], boolean][] = [
        ['read:repository', ['read:repository'], !writes(what)],
        ['write:repository', ['write:repository'], true],
        ['write:issue', ['write:issue'], false],
        ['public-only', ['public-only', 'all'], false],
      ]
      for (const [name, scopes, passes] of outcomes) {
        const token = await tokenFor('owner', scopes)
        for (const auth of [
          basicOf('owner', token),
          basicOf(token, 'x-oauth-basic'),
          `token ${token}`,
          `Bearer ${token}`,
        ]) {
          const { status } = await ask('priv', shot, auth)
          t.equal(status < 300, passes, `${name} as ${auth.split(' ')[0]}: ${status}`)
        }
      }
    })
  }
})

t.test('pages about repositories and people use the same rights', async (t) => {
  const get = (path: string, auth?: string) =>
    send({ method: 'GET', path, headers: auth ? { authorization: auth } : {} })
  const stranger = `token ${h.token('stranger')}`
  for (const { route } of rawRoutesOf(h.rooms)) {
    const kind = rawTable[`${[route.method].flat()[0]} ${route.path}`]
    const pathOf = (values: Readonly<Record<string, string>>) =>
      fillPath(route.path, { ...world.priv.values, ...values })
    if (kind === 'repository') {
      for (const auth of [undefined, stranger]) {
        const [hidden, missing] = [await get(pathOf({}), auth), await get(pathOf({ repo: 'nope' }), auth)]
        t.equal(hidden.status, 404)
        t.equal(shadow(hidden, 'priv'), shadow(missing, 'nope'), `${route.path}: as if it were not there`)
      }
      t.equal((await get(fillPath(route.path, world.pub.values))).status, 200)
      const outcomes = { 'read:repository': 200, 'read:issue': 403, 'public-only,all': 404 }
      for (const [scopes, status] of Object.entries(outcomes)) {
        const token = await tokenFor('owner', scopes.split(','))
        t.equal((await get(pathOf({}), `token ${token}`)).status, status, `${route.path} with ${scopes}`)
      }
    }
    if (kind === 'account') {
      for (const auth of [undefined, stranger]) {
        const hidden = await get(pathOf({ username: 'isprivate' }), auth)
        const missing = await get(pathOf({ username: 'isnowhere' }), auth)
        t.equal(hidden.status, 404)
        t.equal(shadow(hidden, 'isprivate'), shadow(missing, 'isnowhere'), `${route.path}: as if nobody was called so`)
      }
      t.equal((await get(pathOf({ username: 'ispublic' }))).status, 200)
    }
  }
})

t.test('what was answered is described', async (t) => {
  const { body: swagger } = await h.call('GET', '//swagger.v1.json')
  const wrong: string[] = []
  const hidden = new Set(routesOf(h.rooms).flatMap(({ route }) => (route.hidden ? route.operationId : [])))
  for (const [id, row] of rows.filter(([id]) => !hidden.has(id))) {
    const [method = '', path = ''] = row.route.replace(/\?.*$/, '').split(' ')
    const described = swagger.paths[path]?.[method.toLowerCase()]?.responses ?? {}
    for (const status of statuses.get(id) ?? []) if (!(status in described)) wrong.push(`${id} answers ${status}`)
  }
  t.strictSame(wrong, [])
})
