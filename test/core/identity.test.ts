import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import t from 'tap'
import { countQueries, type Presenter } from '#core/db'
import {
  type AccountRow,
  type Actor,
  actingAs,
  anonymous,
  authorize,
  emailFault,
  type Guarded,
  type IdentityTables,
  isEmailShaped,
  isNameShaped,
  parsePublicKey,
  User,
  userRecord,
} from '#core/identity'
import { Refusal } from '#core/plugin'
import { openIdentity } from '../support/identity.ts'

type Room = Awaited<ReturnType<typeof openIdentity>>
/** What became of it: `ok`, or kind and text of the refusal. */
const fate = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error) => {
      if (error instanceof Refusal) return `${error.kind}: ${error.message}`
      throw error
    },
  )
const rename = ({ identity, write }: Room, account: AccountRow, name: string) =>
  write((tx) => identity.accounts.rename(tx, account.id, name))
const remove = ({ identity, write }: Room, account: AccountRow, how = {}) =>
  write((tx) => identity.accounts.remove(tx, account.id, how))
const token = (account: AccountRow | undefined, ...scopes: string[]): Actor => ({
  account,
  credential: { method: 'token', sent: 'header', tokenId: 1, scopes },
})

t.test('the tables are what the entities declare', async (t) => {
  const { schemaDifference } = await openIdentity(t)
  t.equal(await schemaDifference(), '')
})

t.test('names', async (t) => {
  const room = await openIdentity(t)
  for (const name of ['a', 'Ada', '0x', 'a-b_c.d', 'admin', 'x'.repeat(40), 'a_b']) t.ok(isNameShaped(name), name)
  for (const name of ['', '-a', 'a-', 'a--b', 'a..b', 'a.', '_a', 'a b', 'ä', 'a/b', 'a\n', 'a\0'])
    t.notOk(isNameShaped(name), JSON.stringify(name))
  const make = (name: string) => fate(room.user(name, { email: `${Math.random()}@example.com` }))
  for (const name of ['api', 'API', 'user', '.well-known', '.', '..', 'ghost', 'swagger.v1.json', 'gitea-actions'])
    t.equal(await make(name), `invalid: name is reserved [name: ${name.toLowerCase()}]`)
  for (const ending of ['keys', 'gpg', 'rss', 'atom', 'png'])
    t.equal(await make(`foo.${ending.toUpperCase()}`), `invalid: name pattern is not allowed [pattern: *.${ending}]`)
  for (const name of ['a b', 'a--b', '-a', 'a\0b', "a'; drop table account"])
    t.equal(
      await make(name),
      `invalid: name is invalid [${name}]: must be valid alpha or numeric or dash(-_) or dot characters`,
    )
  t.match(await make('x'.repeat(41)), /at most 40 characters$/)
  t.equal(await make('admin'), 'ok', 'not reserved')
  t.equal(await make('ADMIN'), 'invalid: user already exists [name: ADMIN]')
})

t.test('addresses', async (t) => {
  for (const address of ['a@b', 'Ada.L+x@Example.org', "o'hara_{x}@sub-1.example.com", '0@0'])
    t.equal(emailFault(address), undefined, address)
  const unsupported = [
    'foo',
    'f(o)o@e.com',
    'fäo@e.com',
    'a b@c.de',
    'a@b@c',
    'a@b_c',
    '',
    '@',
    'a@',
    'a\0@b.c',
    '<a@b.c>',
  ]
  for (const address of unsupported)
    t.equal(emailFault(address), `e-mail address contains unsupported character [email: ${address}]`)
  for (const address of [
    '-foo@e.com',
    'f..o@e.com',
    '.f@e.com',
    'f.@e.com',
    'f@-e.com',
    'f@e..com',
    'f@e.com-',
    `${'x'.repeat(260)}@e.com`,
  ])
    t.equal(emailFault(address), `e-mail invalid [email: ${address}]`)
  t.ok(isEmailShaped('a@b.c'))
  t.notOk(isEmailShaped('a@localhost'))

  const room = await openIdentity(t)
  const { identity, write } = room
  const ada = await room.user('ada')
  const add = (...addresses: string[]) => fate(write((tx) => identity.addresses.add(tx, ada.id, addresses)))
  const drop = (...addresses: string[]) => fate(write((tx) => identity.addresses.remove(tx, ada.id, addresses)))
  const list = async () =>
    (await identity.addresses.list(ada.id)).map(
      (row) => `${row.address}${row.is_primary ? '!' : ''}${row.is_activated ? '' : '?'}`,
    )
  t.equal(await add(), 'invalid: Email list empty')
  t.equal(await add('foo'), 'invalid: Email address "foo" invalid')
  t.equal(await add('ADA@example.com'), 'invalid: Email address has been used: ADA@example.com')
  t.equal(await add('Two@example.com', 'two@example.com'), 'invalid: Email address has been used: two@example.com')
  t.same(await list(), ['ada@example.com!'], 'a refused list adds nothing')
  t.equal(await add('Two@example.com', 'three@example.com'), 'ok')
  room.set({ SWITCHYARD__SERVICE__REGISTER_EMAIL_CONFIRM: 'true' })
  t.equal(await add('later@example.com'), 'ok')
  t.same(await list(), ['ada@example.com!', 'Two@example.com', 'three@example.com', 'later@example.com?'])
  t.equal((await identity.accounts.byEmail('TWO@example.com'))?.id, ada.id)
  t.equal(await identity.accounts.byEmail('later@example.com'), undefined, 'only activated ones')

  t.equal(await drop('four@example.com'), 'not-found: Email address does not exist [email: four@example.com]')
  t.match(await drop('ada@example.com'), /^invalid: /, 'the primary one stays')
  t.equal(await drop('TWO@example.com'), 'ok')
  t.equal(await drop(), 'ok')
  t.equal(
    await fate(write((tx) => identity.addresses.makePrimary(tx, ada.id, 'later@example.com'))),
    'not-found: Email address does not exist [email: later@example.com]',
  )
  await write((tx) => identity.addresses.makePrimary(tx, ada.id, 'three@example.com'))
  t.same(await list(), ['ada@example.com', 'three@example.com!', 'later@example.com?'])

  const replace = async (address: string) => {
    const account = (await identity.accounts.byId(ada.id)) as AccountRow
    return fate(write((tx) => identity.addresses.replacePrimary(tx, account, address)))
  }
  await room.user('eve')
  t.equal(await replace('foo'), 'bad-request: e-mail address contains unsupported character [email: foo]')
  t.equal(await replace('eve@example.com'), 'bad-request: e-mail already in use [email: eve@example.com]')
  t.equal(await replace('later@example.com'), 'ok')
  t.same(await list(), ['ada@example.com', 'later@example.com!'], 'the old one goes, the new one is activated')
  t.equal((await identity.accounts.byId(ada.id))?.email, 'later@example.com')

  room.set({ SWITCHYARD__SERVICE__EMAIL_DOMAIN_BLOCKLIST: '*.evil.org, bad?.net' })
  t.equal(await add('x@a.evil.org'), 'invalid: Email address "x@a.evil.org" invalid')
  t.match(await replace('x@bad1.net'), /^bad-request: the domain of user email x@bad1.net conflicts with EMAIL_DOMAIN/)
  t.match(
    await fate(room.user('bob', { email: 'b@bad2.net' })),
    /conflicts with EMAIL_DOMAIN_ALLOWLIST or EMAIL_DOMAIN_BLOCKLIST$/,
  )
  t.equal(await fate(room.user('bob', { email: 'b@bad2.net', checkDomain: false })), 'ok', 'an administrator may')
  room.set({ SWITCHYARD__SERVICE__EMAIL_DOMAIN_ALLOWLIST: 'example.com' })
  t.notOk(identity.addresses.isAllowed('x@example.org'))
  t.ok(identity.addresses.isAllowed('x@EXAMPLE.com'))
})

t.test('making accounts', async (t) => {
  const room = await openIdentity(t)
  const { identity, write } = room
  t.equal(await fate(room.user('ada', { email: '-x@example.com' })), 'invalid: e-mail invalid [email: -x@example.com]')
  const ada = await room.user('Ada', { full_name: 'Ada L' })
  t.match(ada, { kind: 'individual', lower_name: 'ada', visibility: 'public', is_admin: false, max_repo_creation: -1 })
  t.notOk('password_hash' in ada, 'the hash stays in this room')
  t.equal(
    await fate(room.user('bob', { email: 'ADA@example.com' })),
    'invalid: e-mail already in use [email: ADA@example.com]',
  )
  t.equal(await identity.accounts.byName('bob'), undefined, 'nothing is left of a refused one')

  const racing = await Promise.all(
    Array.from({ length: 50 }, (_, i) => fate(room.user(i % 2 ? 'race' : 'RACE', { email: `r${i}@example.com` }))),
  )
  t.equal(racing.filter((text) => text === 'ok').length, 1)
  t.equal(racing.filter((text) => /^invalid: user already exists \[name: race\]$/i.test(text)).length, 49)
  const posting = await Promise.all(
    Array.from({ length: 20 }, (_, i) => fate(room.user(`mail${i}`, { email: 'One@example.com' }))),
  )
  t.equal(posting.filter((text) => text === 'ok').length, 1)
  t.equal(posting.filter((text) => text === 'invalid: e-mail already in use [email: One@example.com]').length, 19)

  const hash = await identity.passwords.hash('a password')
  const make = (more: object) =>
    fate(write((tx) => identity.accounts.create(tx, { name: 'new', email: 'new@example.com', ...more })))
  t.equal(await make({}), 'bad-request: PasswordIsRequired')
  t.equal(await make({ kind: 'bot', password: hash }), 'bad-request: password can only be set for individual users')
  t.equal(
    await make({ kind: 'bot', must_change_password: true }),
    'bad-request: password can only be set for individual users',
  )
  t.equal(await make({ password: hash, visibility: 'secret' }), 'invalid: visibility is not allowed: secret')
  room.set({
    SWITCHYARD__SERVICE__ALLOWED_USER_VISIBILITY_MODES: 'limited',
    SWITCHYARD__SERVICE__DEFAULT_USER_VISIBILITY: 'limited',
    SWITCHYARD__SERVICE__DEFAULT_USER_IS_RESTRICTED: 'true',
    SWITCHYARD__SERVICE__DEFAULT_KEEP_EMAIL_PRIVATE: 'true',
    SWITCHYARD__SERVICE__DEFAULT_ALLOW_CREATE_ORGANIZATION: 'false',
  })
  t.equal(await make({ password: hash, visibility: 'private' }), 'invalid: visibility is not allowed: private')
  t.match(await room.user('cy'), {
    visibility: 'limited',
    is_restricted: true,
    hide_email: true,
    allow_create_organization: false,
  })
  t.match(
    await room.user('club', { kind: 'organization' }),
    { kind: 'organization', visibility: 'public' },
    'organisations fit',
  )

  const first = { password: hash, domain: 'localhost' }
  t.equal(await write((tx) => identity.accounts.createFirst(tx, first)), undefined, 'there are accounts')
  const fresh = await openIdentity(t)
  const firsts = await Promise.all(
    Array.from({ length: 8 }, () => fresh.write((tx) => fresh.identity.accounts.createFirst(tx, first))),
  )
  t.match(firsts.filter(Boolean), [{ name: 'admin', is_admin: true, email: 'admin@localhost' }])
  t.equal(firsts.filter(Boolean).length, 1, 'of processes that start at once, one makes it')
})

t.test('editing', async (t) => {
  const room = await openIdentity(t)
  const { identity, write } = room
  const root = await room.user('root', { is_admin: true })
  const ada = await room.user('ada')
  const edit = (account: AccountRow, changes: object) => write((tx) => identity.accounts.edit(tx, account.id, changes))
  const events: unknown[] = []
  room.outbox.onPublish(async (_, name, payload) => void events.push([name, payload]))
  t.match(await edit(ada, { full_name: 'A', website: 'https://a.b' }), {
    full_name: 'A',
    website: 'https://a.b',
    name: 'ada',
  })
  t.same(events, [['account.changed', { accountId: ada.id, fields: ['full_name', 'website'] }]])
  await edit(ada, { full_name: 'A', website: undefined })
  t.equal(events.length, 1, 'nothing changed, nothing is told')
  await edit(ada, { visibility: 'private' })
  t.same(events.slice(1), [
    ['account.changed', { accountId: ada.id, fields: ['visibility'] }],
    ['account.access-changed', { accountId: ada.id }],
  ])
  t.equal(
    await fate(edit(root, { is_admin: false })),
    `bad-request: can not delete the last admin user [uid: ${root.id}]`,
  )
  const second = await room.user('second', { is_admin: true })
  const both = await Promise.all([fate(edit(root, { is_admin: false })), fate(edit(second, { is_admin: false }))])
  t.equal(both.filter((text) => text === 'ok').length, 1, 'two administrators cannot both step down')
  t.equal(await fate(edit({ ...ada, id: 999 }, { full_name: 'x' })), 'not-found: user does not exist')
  const robot = await room.user('robot', { kind: 'bot' })
  const password = await identity.passwords.hash('x')
  t.equal(await fate(edit(robot, { password })), 'bad-request: password can only be set for individual users')
})

t.test('renames and redirects', async (t) => {
  const room = await openIdentity(t)
  const { identity } = room
  const ada = await room.user('ada')
  await room.user('eve')
  for (const [name, text] of [
    ['eve', 'invalid: user already exists [name: eve]'],
    ['EVE', 'invalid: user already exists [name: EVE]'],
    ['api', 'invalid: name is reserved [name: api]'],
    ['a.keys', 'invalid: name pattern is not allowed [pattern: *.keys]'],
    ['a b', 'invalid: name is invalid [a b]: must be valid alpha or numeric or dash(-_) or dot characters'],
  ] as const)
    t.equal(await fate(rename(room, ada, name)), text)
  t.equal((await rename(room, ada, 'ada')).name, 'ada', 'the same name')
  t.equal((await rename(room, ada, 'ADA')).name, 'ADA', 'another case')
  t.equal(await identity.accounts.redirectOf('ada'), undefined)

  await rename(room, ada, 'lovelace')
  t.same(await identity.findVisible(anonymous, 'Ada'), { kind: 'moved', name: 'lovelace' })
  await rename(room, ada, 'byron')
  t.same(
    await identity.findVisible(anonymous, 'ada'),
    { kind: 'moved', name: 'byron' },
    'older names lead to the newest',
  )
  await rename(room, ada, 'lovelace')
  t.match(await identity.findVisible(anonymous, 'lovelace'), { kind: 'found', account: { id: ada.id } }, 'back again')
  t.same(await identity.findVisible(anonymous, 'byron'), { kind: 'moved', name: 'lovelace' })

  const newcomer = await room.user('Ada', { email: 'new@example.com' })
  t.match(
    await identity.findVisible(anonymous, 'ada'),
    { kind: 'found', account: { id: newcomer.id } },
    'taken by creation',
  )
  const third = await room.user('third')
  await rename(room, third, 'Byron')
  t.match(
    await identity.findVisible(anonymous, 'byron'),
    { kind: 'found', account: { id: third.id } },
    'taken by a rename',
  )

  await room.write((tx) => identity.accounts.edit(tx, third.id, { visibility: 'private' }))
  t.same(
    await identity.findVisible(anonymous, 'third'),
    { kind: 'hidden' },
    'a redirect does not tell of a hidden account',
  )
  t.same(await identity.findAny(anonymous, 'third'), { kind: 'hidden' })
  t.match(await identity.findAny(anonymous, 'byron'), { kind: 'found' })
  t.same(await identity.findVisible(actingAs(third), 'third'), { kind: 'moved', name: 'Byron' })
  for (const name of ['nobody', '', 'a\0b', '..', "x' or '1'='1"])
    t.same(await identity.findVisible(anonymous, name), { kind: 'hidden' })

  const [x, y] = [await room.user('x1'), await room.user('y1')]
  const racing = await Promise.all([fate(rename(room, x, 'goal')), fate(rename(room, y, 'goal'))])
  t.same(racing.sort(), ['invalid: user already exists [name: goal]', 'ok'])
  await remove(room, ada)
  t.same(await identity.findVisible(anonymous, 'byron'), { kind: 'hidden' }, 'the target is gone or hidden')
})

t.test('deletion', async (t) => {
  const room = await openIdentity(t)
  const { identity, write } = room
  const root = await room.user('root', { is_admin: true })
  const club = await room.user('club', { kind: 'organization' })
  const ada = await room.user('ada')
  const eve = await room.user('eve')
  t.equal(await fate(remove(room, root, { by: root.id })), 'invalid: you cannot delete yourself')
  t.equal(await fate(remove(room, root)), `invalid: can not delete the last admin user [uid: ${root.id}]`)
  t.equal(await fate(remove(room, club)), 'invalid: target is an organization but not user')
  t.equal(await fate(remove(room, { ...ada, id: 12345 })), 'not-found: user does not exist')

  await room.token(ada, 'all')
  await write(async (tx) => {
    await identity.totp.enrol(tx, ada.id, 'ada')
    await identity.blocks.add(tx, ada.id, eve)
    await identity.blocks.add(tx, eve.id, ada)
    await identity.addresses.add(tx, ada.id, ['second@example.com'])
    await identity.keys.add(tx, ada.id, { title: 'k', content: keyOf(t, 'ed25519') })
    await identity.accounts.rename(tx, ada.id, 'lovelace')
  })
  const events: string[] = []
  const off = room.outbox.onPublish(async (_, name) => {
    if (name === 'account.deleting')
      throw new Refusal('invalid', `user still has ownership of repositories [uid: ${ada.id}]`)
  })
  t.equal(await fate(remove(room, ada)), `invalid: user still has ownership of repositories [uid: ${ada.id}]`, 'a veto')
  off()
  t.ok(await identity.accounts.byId(ada.id))

  await sql`create table owned (account_id bigint references account (id))`.execute(room.db.sql())
  await sql`insert into owned values (${ada.id})`.execute(room.db.sql())
  t.match(
    await fate(remove(room, ada)),
    /^invalid: user still has data that must be removed first \[uid: \d+, owned_account_id_fkey\]$/,
  )
  await sql`drop table owned`.execute(room.db.sql())

  room.outbox.onPublish(async (_, name) => void events.push(name))
  await remove(room, ada, { by: root.id, purge: true })
  t.same(events, ['account.deleting', 'account.deleted', 'account.access-changed'])
  const columns = await sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and (column_name like '%account_id' or column_name = 'blocked_id' or (table_name, column_name) = ('account', 'id'))
  `.execute(room.db.sql())
  t.ok(columns.rows.length >= 8, 'every table that names accounts is looked at')
  for (const { table_name: table, column_name: column } of columns.rows) {
    const { rows } = await sql`select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${ada.id}`.execute(
      room.db.sql(),
    )
    t.equal(rows.length, 0, `${table}.${column}`)
  }
  t.equal(await fate(room.user('lovelace', { email: 'second@example.com' })), 'ok', 'name and addresses are free again')
})

t.test('who sees whom', async (t) => {
  const room = await openIdentity(t)
  const { identity } = room
  const open = await room.user('open')
  const limited = await room.user('limited', { visibility: 'limited' })
  const hidden = await room.user('hidden', { visibility: 'private' })
  const club = await room.user('club', { kind: 'organization', visibility: 'private' })
  const restricted = await room.user('restricted', { is_restricted: true })
  const root = await room.user('root', { is_admin: true })
  const all = [open, limited, hidden, club, restricted, root]
  /** Asks both forms of the rule, which must agree. */
  const seen = async (viewer: Actor) => {
    const rows = await room.db
      .sql<IdentityTables>()
      .selectFrom('account')
      .select('name')
      .where(identity.visibility.condition(viewer))
      .orderBy('id')
      .execute()
    const one = []
    for (const account of all) if (await identity.visibility.canSee(viewer, account)) one.push(account.name)
    t.same(
      one,
      rows.map((row) => row.name),
      'question and condition agree',
    )
    return one
  }
  const check = async () => {
    t.same(await seen(anonymous), ['open', 'restricted', 'root'])
    t.same(await seen(actingAs(open)), ['open', 'limited', 'restricted', 'root'])
    t.same(await seen(actingAs(hidden)), ['open', 'limited', 'hidden', 'restricted', 'root'], 'oneself')
    t.same(
      await seen(actingAs(root)),
      all.map((account) => account.name),
    )
    t.same(await seen(token(root, 'public-only', 'all')), ['open', 'restricted', 'root'], 'confined to public ones')
    t.same(await seen(token(hidden, 'public-only')), ['open', 'restricted', 'root'])
  }
  await check()
  t.same(await seen(actingAs(restricted)), ['restricted'], 'only what was granted')
  room.registry.contribute(
    { kind: 'point', id: 'identity.account-grants' },
    {
      name: 'test',
      opens: (viewer: RawBuilder<number>, account: RawBuilder<number>) =>
        sql<SqlBool>`(${viewer} = ${restricted.id} and ${account} in (${club.id}, ${limited.id}))`,
    },
  )
  t.same(await seen(actingAs(restricted)), ['limited', 'club', 'restricted'], 'and what is granted')
  t.same(await seen(token(restricted, 'public-only')), ['restricted'])
  await check()
  t.match(await identity.findVisible(token(root, 'public-only'), 'hidden'), { kind: 'found' }, 'the 403 is the route’s')
  t.same(await identity.findVisible(actingAs(restricted), 'open'), { kind: 'hidden' })
})

t.test('blocks', async (t) => {
  const room = await openIdentity(t)
  const { blocks } = room.identity
  const [ada, eve] = [await room.user('ada'), await room.user('eve')]
  const root = await room.user('root', { is_admin: true })
  const club = await room.user('club', { kind: 'organization' })
  const add = (a: AccountRow, b: AccountRow) => fate(room.write((tx) => blocks.add(tx, a.id, b, 'rude')))
  const drop = (a: AccountRow, b: AccountRow) => fate(room.write((tx) => blocks.remove(tx, a.id, b.id)))
  t.equal(await add(ada, club), 'bad-request: cannot block an organization')
  t.equal(await add(ada, ada), 'bad-request: cannot block the user')
  t.equal(await add(ada, eve), 'ok')
  t.equal(await add(ada, eve), 'bad-request: cannot block the user')
  t.equal(await blocks.isBlocked(ada, eve), true)
  t.equal(await blocks.isBlocked(eve, ada), true, 'both ways')
  t.equal(await blocks.has(ada.id, eve.id), true)
  t.equal(await blocks.has(eve.id, ada.id), false)
  t.equal(await add(ada, root), 'ok')
  t.equal(await blocks.isBlocked(root, ada), false, 'an administrator is never treated as blocked')
  t.equal(await drop(ada, eve), 'ok')
  t.equal(await drop(ada, eve), 'bad-request: cannot unblock the user')
  t.equal(await blocks.isBlocked(ada, eve), false)
})

t.test('user records', async (t) => {
  const followers: Presenter = {
    record: 'User',
    fields: { followers_count: { schema: Type.Integer(), off: 0, value: (id) => sql`(select ${id} * 10)` } },
  }
  const room = await openIdentity(t, { SWITCHYARD__SERVER__ROOT_URL: 'https://git.example.org' }, [followers])
  const { identity } = room
  t.equal(identity.noReplyDomain(), 'noreply.git.example.org')
  const noReply = identity.noReplyDomain()
  const base = 'http://here'
  const ada = await room.user('Ada', { email: 'Ada@Example.com', login_name: 'al', is_restricted: true })
  const eve = await room.user('eve')
  const root = await room.user('root', { is_admin: true })
  const show = (as: Actor | 'owner', account = ada) => userRecord(account, {}, { as, base, noReply })

  const own: User = show(actingAs(ada))
  t.same(
    Object.keys(own).join(),
    'id,login,login_name,source_id,full_name,email,avatar_url,html_url,language,is_admin,last_login,created,restricted,active,prohibit_login,location,website,description,visibility,followers_count,following_count,starred_repos_count,username',
  )
  t.match(own, {
    login: 'Ada',
    username: 'Ada',
    login_name: 'al',
    email: 'Ada@Example.com',
    active: true,
    restricted: true,
    html_url: 'http://here/Ada',
  })
  t.equal(own.last_login, '1970-01-01T00:00:00Z', 'never')
  t.match(own.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.match(own.avatar_url, /^http:\/\/here\/avatars\/[0-9a-f]{32}$/)
  t.same(show(actingAs(root)), own, 'an administrator sees the same')
  const stranger = {
    login_name: '',
    source_id: 0,
    language: '',
    is_admin: false,
    last_login: '0001-01-01T00:00:00Z',
    active: false,
    prohibit_login: false,
    restricted: true,
  }
  t.match(show(actingAs(eve)), { ...stranger, email: 'Ada@Example.com' })
  t.match(show('owner'), { ...stranger, email: 'Ada@Example.com' })
  t.match(show(anonymous), { ...stranger, email: `${ada.id}+ada@noreply.git.example.org` })
  t.match(show(actingAs(eve), root), { is_admin: false })

  const shy = { ...ada, hide_email: true }
  for (const as of [anonymous, actingAs(eve), 'owner'] as const) {
    t.equal(show(as, shy).email, `${ada.id}+ada@noreply.git.example.org`)
    t.not(show(as, shy).avatar_url, own.avatar_url, 'no hash of a hidden address')
    t.notOk(JSON.stringify(show(as, shy)).toLowerCase().includes('ada@example.com'))
  }
  t.equal(show(actingAs(shy), shy).email, 'Ada@Example.com')
  t.equal(show(anonymous, { ...ada, avatar: 'f'.repeat(64) }).avatar_url, `http://here/avatars/${'f'.repeat(64)}`)

  const queries = await countQueries(async () => {
    const records = await identity.records.present([eve, ada, eve], { as: anonymous, base, noReply })
    t.same(
      records.map((record) => [record.login, record.followers_count, record.starred_repos_count]),
      [
        ['eve', eve.id * 10, 0],
        ['Ada', ada.id * 10, 0],
        ['eve', eve.id * 10, 0],
      ],
    )
    for (const record of records) t.same(Object.keys(record), Object.keys(User.properties), 'the schema')
  })
  t.equal(queries, 1)
  t.equal(await countQueries(() => identity.records.present([], { as: anonymous, base, noReply })), 0)
})

/** The public half of a new key, as ssh-keygen writes it. */
function keyOf(test: { testdir: typeof t.testdir }, ...kind: [type: string, bits?: number]): string {
  const file = join(test.testdir(), `${kind.join('-')}${Math.random()}`)
  execFileSync('ssh-keygen', [
    '-q',
    '-t',
    kind[0],
    ...(kind[1] ? ['-b', String(kind[1])] : []),
    '-N',
    '',
    '-C',
    'ada@laptop home',
    '-f',
    file,
  ])
  return readFileSync(`${file}.pub`, 'utf8')
}

t.test('SSH keys', async (t) => {
  for (const kind of [['ed25519'], ['ecdsa', 256], ['ecdsa', 384], ['ecdsa', 521], ['rsa', 3072]] as [
    string,
    number?,
  ][]) {
    const line = keyOf(t, ...kind)
    const key = parsePublicKey(`  ${line}\n`)
    const printed = execFileSync('ssh-keygen', ['-l', '-f', '-'], { input: line }).toString().split(' ')[1]
    t.equal(key.fingerprint, printed, kind.join(' '))
    t.equal(key.content, line.split(' ').slice(0, 2).join(' '))
    t.equal(key.comment, 'ada@laptop home')
  }
  const security = Buffer.concat(
    ['sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 7), 'ssh:'].map((part) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      return Buffer.concat([length, Buffer.from(part)])
    }),
  ).toString('base64')
  t.equal(parsePublicKey(`sk-ssh-ed25519@openssh.com ${security}`).type, 'sk-ssh-ed25519@openssh.com')

  const bad = (text: string) =>
    t.throws(() => parsePublicKey(text), { kind: 'invalid', message: /^Invalid key content: / }, text.slice(0, 30))
  const good = keyOf(t, 'ed25519').trim()
  const [type = '', blob = ''] = good.split(' ')
  const ecdsa = Buffer.from(keyOf(t, 'ecdsa', 256).split(' ')[1] ?? '', 'base64')
  ecdsa[ecdsa.length - 1] = (ecdsa.at(-1) as number) ^ 1
  for (const text of [
    '',
    'foo',
    type,
    `${type} `,
    `${type} AAAA`,
    `${type} ${blob.slice(0, -8)}`,
    `${type} ${blob}AAAA`,
    `${type} !${blob}`,
    `ssh-rsa ${blob}`,
    `ssh-dss AAAAB3NzaC1kc3M=`,
    `constructor ${blob}`,
    `${good}\n${good}`,
    `${type}\0 ${blob}`,
    'x'.repeat(20_000),
    `ecdsa-sha2-nistp256 ${ecdsa.toString('base64')}`,
    `command="x" ${good}`,
  ])
    bad(text)
  t.throws(() => parsePublicKey(keyOf(t, 'rsa', 2048)), {
    message: 'Invalid key content: key length is not enough: got 2048, needs 3071',
  })

  const room = await openIdentity(t)
  const { keys } = room.identity
  const [ada, eve] = [await room.user('ada'), await room.user('eve')]
  const add = (account: AccountRow, title: string, content: string) =>
    room.write((tx) => keys.add(tx, account.id, { title, content }))
  const row = await add(ada, 'laptop', good)
  t.match(row, { title: 'laptop', content: `${type} ${blob}`, account_id: ada.id, last_used_at: null })
  t.equal(await fate(add(ada, 'other', good)), 'invalid: Key content has been used as non-deploy key')
  t.equal(await fate(add(eve, 'laptop', good)), 'invalid: Key content has been used as non-deploy key')
  t.equal(await fate(add(ada, 'laptop', keyOf(t, 'ed25519'))), 'invalid: Key title has been used')
  t.equal(await fate(add(eve, 'laptop', keyOf(t, 'ed25519'))), 'ok', 'titles are per user')
  const page = { limit: 10, offset: 0 }
  t.match(await keys.list({ accountId: ada.id }, page), { total: 1, rows: [{ id: row.id }] })
  t.match(await keys.list({ fingerprint: row.fingerprint }, page), { total: 1 })
  t.match(await keys.list({ fingerprint: row.fingerprint, accountId: eve.id }, page), { total: 0, rows: [] })
  t.equal(await room.write((tx) => keys.remove(tx, eve.id, row.id)), false, 'of another account')
  t.equal(await room.write((tx) => keys.remove(tx, ada.id, row.id)), true)
  t.equal(await keys.byId(row.id), undefined)
})

t.test('the one rule of access', async (t) => {
  const object = (mode: ReturnType<Guarded['modeFor']>, more: Partial<Guarded> = {}): Guarded => ({
    kind: 'thing',
    isPublic: true,
    hidden: false,
    modeFor: (unit) => (unit === 'off' ? 'none' : mode),
    ...more,
  })
  const modes = ['none', 'read', 'write', 'admin', 'owner'] as const
  const actions = ['read', 'write', 'admin', 'owner'] as const
  const account = { id: 1, is_admin: false } as AccountRow
  const user = actingAs(account)
  for (const [have, mode] of modes.entries()) {
    for (const [need, action] of actions.entries()) {
      t.equal(authorize(user, action, object(mode)).ok, have > need, `${mode} allows ${action}`)
    }
    t.equal(authorize(user, 'site', object(mode)).ok, false)
  }
  t.same(authorize(user, 'write', object('read')), {
    ok: false,
    answer: 'denied',
    message: 'user should have a permission to write the thing',
  })
  t.same(authorize(user, 'write', object('read', { refusals: { write: 'no' } })), {
    ok: false,
    answer: 'denied',
    message: 'no',
  })
  t.same(authorize(user, 'site', object('owner')), {
    ok: false,
    answer: 'denied',
    message: 'user should be the site admin',
  })
  t.same(authorize(user, 'site', object('none', { hidden: true })), { ok: false, answer: 'hidden' })
  t.same(authorize(user, 'read', object('owner', { hidden: true })), { ok: false, answer: 'hidden' })
  t.equal(authorize(user, 'read', object('owner'), 'off').ok, false, 'a unit of its own')
  const root = { id: 2, is_admin: true } as AccountRow
  t.ok(authorize(actingAs(root), 'site', object('none', { hidden: true })).ok)
  t.same(authorize(token(root, 'public-only', 'all'), 'read', object('owner', { isPublic: false })), {
    ok: false,
    answer: 'hidden',
  })
  t.ok(authorize(token(account, 'public-only', 'all'), 'write', object('write')).ok)
})
