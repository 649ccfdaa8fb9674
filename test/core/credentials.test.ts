import { pbkdf2Sync, scryptSync } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { countQueries } from '#core/db'
import { type Actor, covers, coversAll, Hindered, normalScopes, scopeCategories, scopeRefusal } from '#core/identity'
import { Refusal } from '#core/plugin'
import { openIdentity, rightPassword } from '../support/identity.ts'

type Room = Awaited<ReturnType<typeof openIdentity>>
type Sent = { authorization?: string; otp?: string; token?: string; access_token?: string }

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const login = ({ identity }: Room, { authorization, otp, ...query }: Sent) =>
  identity.authenticate({ headers: { authorization, 'x-gitea-otp': otp }, query })
/** The name of whoever the credentials belong to, `anonymous`, or the refusal's text. */
async function who(room: Room, sent: Sent): Promise<string> {
  try {
    return (await login(room, sent)).account?.name ?? 'anonymous'
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}
const wrong = 'invalid username, password or token'
const prohibited = 'This account is prohibited from signing in, please contact your site administrator.'

t.test('every way to send credentials', async (t) => {
  const room = await openIdentity(t)
  const ada = await room.user('Ada', { email: 'Ada@Example.com' })
  await room.write((tx) => room.identity.addresses.add(tx, ada.id, ['second@example.com']))
  const token = await room.token(ada, 'read:user')
  const bad = 'f'.repeat(40)

  t.equal(await who(room, {}), 'anonymous')
  for (const authorization of [
    `token ${token}`,
    `Bearer ${token}`,
    `bEARER   ${token}`,
    basic(token, ''),
    basic(token, 'x-oauth-basic'),
    basic('anybody', token),
  ]) {
    t.equal(await who(room, { authorization }), 'Ada', authorization.slice(0, 12))
  }
  t.equal(await who(room, { token }), 'Ada')
  t.equal(await who(room, { access_token: token }), 'Ada')
  for (const user of ['Ada', 'aDA', 'ada@example.COM', 'second@example.com']) {
    t.equal(await who(room, { authorization: basic(user, rightPassword) }), 'Ada', user)
  }
  for (const authorization of [
    token,
    `token ${token} x`,
    'Basic !!!',
    'Basic',
    basic('x', '').slice(0, 8),
    `Basic ${Buffer.from('nocolon').toString('base64')}`,
    'Negotiate abc',
    '',
  ]) {
    t.equal(await who(room, { authorization }), 'anonymous', `malformed: ${authorization.slice(0, 12)}`)
  }
  for (const authorization of [
    `token ${bad}`,
    'Bearer short',
    basic('Ada', 'wrong'),
    basic('nobody', rightPassword),
    basic('Ada', ''),
    basic('', ''),
    basic('a\0b', 'x'),
    basic('x@y\0', 'x'),
    basic(bad, ''),
    basic('Ada', bad),
  ]) {
    t.equal(await who(room, { authorization }), wrong, authorization.slice(0, 20))
  }
  t.equal(await who(room, { token: bad }), wrong)
  t.equal(await who(room, { token: bad, authorization: `token ${token}` }), wrong, 'the query goes first')
  t.equal(await who(room, { token: bad, authorization: basic('Ada', rightPassword) }), 'Ada', 'Basic finds a user')

  room.set({ SWITCHYARD__SECURITY__DISABLE_QUERY_AUTH_TOKEN: 'true' })
  t.equal(await who(room, { token }), 'anonymous')
  t.equal(await who(room, { token: bad, authorization: `token ${token}` }), 'Ada')
  room.set({ SWITCHYARD__SERVICE__ENABLE_BASIC_AUTHENTICATION: 'false' })
  t.equal(await who(room, { authorization: basic('Ada', rightPassword) }), 'anonymous')
  t.equal(await who(room, { authorization: basic('Ada', token) }), 'Ada', 'tokens in Basic always work')
  t.equal(await who(room, { token: bad, authorization: basic('Ada', rightPassword) }), wrong)

  const { credential } = await login(room, { authorization: basic('x', token) })
  t.match(credential, { method: 'token', sent: 'basic', scopes: ['read:user'] })
  t.match((await login(room, { token })).credential, { sent: 'query' })
})

t.test('a token is found by one query, and no read writes a row', async (t) => {
  const room = await openIdentity(t)
  const ada = await room.user('ada')
  const value = await room.token(ada, 'all')
  const authorization = `token ${value}`
  t.equal(await countQueries(() => login(room, { authorization })), 1)
  const usedAt = async () => (await room.identity.tokens.list(ada.id, { limit: 9, offset: 0 })).rows[0]?.last_used_at
  t.equal(await usedAt(), null)
  await room.identity.tokens.flush()
  const first = await usedAt()
  t.ok(first && Math.abs(Date.now() - first.getTime()) < 60_000, 'the time is written later')
  t.equal(await countQueries(() => room.identity.tokens.flush()), 0, 'nothing is written twice')
  await login(room, { authorization })
  await room.identity.stop()
  t.ok(((await usedAt()) as Date) >= (first as Date), 'and at stop')
  t.same(room.errors, [])

  const stored = await room.db
    .sql<Record<'access_token', { digest: Buffer; last_eight: string }>>()
    .selectFrom('access_token')
    .selectAll()
    .execute()
  t.notOk(JSON.stringify(stored).includes(value), 'the value is not stored')
  t.equal(stored[0]?.last_eight, value.slice(-8))
  t.match(value, /^[0-9a-f]{40}$/)
})

t.test('a right password is remembered until it changes, a wrong one is not', async (t) => {
  const room = await openIdentity(t)
  const ada = await room.user('ada')
  const time = async (authorization: string) => {
    const from = performance.now()
    const name = await who(room, { authorization })
    return { name, ms: performance.now() - from }
  }
  const slow = await time(basic('ada', rightPassword))
  const quick = await time(basic('ada', rightPassword))
  t.equal(quick.name, 'ada')
  t.ok(quick.ms < slow.ms / 2, `${quick.ms} is far less than ${slow.ms}`)
  const together = await time(basic('ada', 'wrong'))
  t.equal(together.name, wrong)

  // Another process changes the password: this one hears of it by reading the row.
  const other = await room.identity.passwords.accept('another password', 'change')
  await room.write((tx) => room.identity.accounts.edit(tx, ada.id, { password: other }))
  t.equal(await who(room, { authorization: basic('ada', rightPassword) }), wrong, 'the old one ends at once')
  t.equal(await who(room, { authorization: basic('ada', 'another password') }), 'ada')
})

t.test('an unknown user takes as long as a wrong password', async (t) => {
  const room = await openIdentity(t)
  await room.user('ada')
  await room.user('robot', { kind: 'bot' })
  // Work is measured, not time: a busy machine does not count.
  const median = async (user: string) => {
    const work: number[] = []
    for (let i = 0; i < 9; i++) {
      const from = process.cpuUsage()
      t.equal(await who(room, { authorization: basic(user, `wrong ${i}`) }), wrong)
      const { user: own, system } = process.cpuUsage(from)
      work.push(own + system)
    }
    return work.sort((a, b) => a - b)[4] as number
  }
  await who(room, { authorization: basic('warm', 'up') })
  const known = await median('ada')
  for (const user of ['nobody', 'robot', 'no@body.org', 'not a name']) {
    const ratio = (await median(user)) / known
    t.ok(ratio > 0.5 && ratio < 2, `${user}: ${ratio.toFixed(2)} times the work`)
  }
})

t.test('a code of the second factor is accepted once', async (t) => {
  const room = await openIdentity(t)
  const ada = await room.user('ada')
  const { secret, uri } = await room.write((tx) => room.identity.totp.enrol(tx, ada.id, 'ada'))
  t.match(uri, /^otpauth:\/\/totp\//)
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const code = totp.generate()
  const authorization = basic('ada', rightPassword)

  t.equal(await who(room, { authorization }), wrong, 'missing')
  for (const otp of ['000000', 'abcdef', '12345', '']) {
    if (otp !== code) t.equal(await who(room, { authorization, otp }), wrong, `wrong: ${otp}`)
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => who(room, { authorization, otp: code })))
  t.equal(answers.filter((name) => name === 'ada').length, 1, 'one of 20 parallel uses')
  t.equal(answers.filter((name) => name === wrong).length, 19)
  t.equal(await who(room, { authorization, otp: code }), wrong, 'used already')
  t.equal(
    await who(room, { authorization: basic('ada', 'wrong'), otp: totp.generate({ timestamp: Date.now() + 30_000 }) }),
    wrong,
  )
  t.equal(
    await who(room, { authorization, otp: totp.generate({ timestamp: Date.now() + 30_000 }) }),
    'ada',
    'the next one',
  )
  t.equal(await who(room, { authorization: `token ${await room.token(ada, 'all')}` }), 'ada', 'tokens need none')

  const stored = await room.db
    .sql<Record<'totp_device', { secret: Buffer }>>()
    .selectFrom('totp_device')
    .selectAll()
    .execute()
  t.notOk(stored[0]?.secret.includes(Buffer.from(Secret.fromBase32(secret).bytes)), 'the secret is sealed')
  await room.write((tx) => room.identity.totp.remove(tx, ada.id))
  t.equal(await who(room, { authorization }), 'ada')
})

t.test('accounts that may not be used, with each credential', async (t) => {
  const room = await openIdentity(t, { SWITCHYARD__SERVER__ROOT_URL: 'https://git.example.org/' })
  const ada = await room.user('ada')
  const token = await room.token(ada, 'all')
  const edit = (changes: object) => room.write((tx) => room.identity.accounts.edit(tx, ada.id, changes))
  const all = {
    header: { authorization: `token ${token}` },
    query: { token },
    inBasic: { authorization: basic('ada', token) },
  }
  const password = { authorization: basic('ada', rightPassword) }
  t.equal(await who(room, password), 'ada')

  await edit({ is_active: false })
  for (const [name, sent] of Object.entries({ ...all, password }))
    t.equal(await who(room, sent), prohibited, `inactive, ${name}`)
  t.equal(await who(room, { authorization: basic('ada', 'wrong') }), wrong, 'the state is told to the owner only')
  room.set({ SWITCHYARD__SERVICE__REGISTER_EMAIL_CONFIRM: 'true' })
  t.equal(await who(room, password), 'This account is not activated.')
  room.set({})

  await edit({ is_active: true, prohibit_login: true })
  for (const [name, sent] of Object.entries(all)) t.equal(await who(room, sent), prohibited, `prohibited, ${name}`)
  t.equal(await who(room, password), wrong)

  await edit({ prohibit_login: false, must_change_password: true })
  for (const [name, sent] of Object.entries({ ...all, password })) {
    t.equal(
      await who(room, sent),
      'You must change your password. Change it at: https://git.example.org//user/change_password',
      name,
    )
  }
  await t.rejects(login(room, password), Hindered)
  await edit({ must_change_password: false })
  t.equal(await who(room, password), 'ada')

  const robot = await room.user('robot', { kind: 'bot' })
  t.equal(await who(room, { authorization: `token ${await room.token(robot, 'all')}` }), 'robot')
  t.equal(await who(room, { authorization: basic('robot', rightPassword) }), wrong)
})

t.test('an administrator acts as others', async (t) => {
  const room = await openIdentity(t)
  const root = await room.user('root', { is_admin: true })
  const ada = await room.user('ada')
  const admin = await login(room, { authorization: `token ${await room.token(root, 'read:user')}` })
  const acting = await room.identity.actAs(admin, 'ADA')
  t.equal(acting?.account?.id, ada.id)
  t.equal(acting?.sudoBy?.id, root.id)
  t.match(acting?.credential, { scopes: ['read:user'] }, 'the scopes of his token still hold')
  t.equal(await room.identity.actAs(admin, 'nobody'), undefined)
  t.equal(await room.identity.actAs(admin, 'a\0b'), undefined)
  t.equal(await room.identity.actAs({ account: ada, credential: { method: 'password' } }, 'root'), undefined)
})

t.test('tokens that a plugin knows', async (t) => {
  const room = await openIdentity(t)
  const ada = await room.user('ada')
  const off = room.registry.contribute(
    { kind: 'point', id: 'identity.credential-sources' },
    {
      name: 'tasks',
      find: async (value: string) => (value === 'a.b.c' ? { account: ada, scopes: ['all'] } : undefined),
    },
  )
  const { account, credential } = await login(room, { authorization: 'Bearer a.b.c' })
  t.equal(account?.name, 'ada')
  t.match(credential, { method: 'token', source: 'tasks', scopes: ['all'] })
  t.equal(await who(room, { authorization: basic('x', 'a.b.c') }), 'ada')
  await room.write((tx) => room.identity.accounts.edit(tx, ada.id, { full_name: 'Ada' }))
  off()
  t.equal(await who(room, { authorization: 'Bearer a.b.c' }), wrong)
})

t.test('hashes of passwords', async (t) => {
  const { identity, set } = await openIdentity(t)
  const { passwords } = identity
  const own = await passwords.hash('secret')
  t.match(own, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.ok(await passwords.verify('secret', own))
  t.notOk(await passwords.verify('Secret', own))
  t.not(own, await passwords.hash('secret'), 'salted')

  const salt = '0123456789abcdef0123456789abcdef'
  const bytes = Buffer.from(salt, 'hex')
  const imports = [
    `pbkdf2$50000$50$${salt}$${pbkdf2Sync('secret', bytes, 50_000, 50, 'sha256').toString('hex')}`,
    `scrypt$16384$8$1$50$${salt}$${scryptSync('secret', bytes, 50, { N: 16_384, r: 8, p: 1 }).toString('hex')}`,
    `pbkdf2$1000$20$shortsalt1$${pbkdf2Sync('secret', 'shortsalt1', 1000, 20, 'sha256').toString('hex')}`,
  ]
  for (const stored of imports) {
    t.ok(await passwords.verify('secret', stored), stored.slice(0, 12))
    t.notOk(await passwords.verify('other', stored))
  }
  for (const stored of [
    '',
    'x',
    '$argon2id$',
    '$1$a$b',
    'pbkdf2$0$50$a$ab',
    'scrypt$3$8$1$4$aa$abcdabcd',
    'md5$x$y',
    'pbkdf2$1$1$a$',
  ])
    t.notOk(await passwords.verify('', stored), `malformed: ${stored}`)

  const refusal = async (work: Promise<unknown>) =>
    work.then(
      () => 'accepted',
      (error: Refusal) => `${error.kind}: ${error.message}`,
    )
  t.equal(await refusal(passwords.accept(undefined)), 'bad-request: PasswordIsRequired')
  t.equal(await refusal(passwords.accept('seven77')), 'bad-request: PasswordIsRequired')
  t.equal(await refusal(passwords.accept('seven77', 'change')), 'bad-request: password must be at least 8 characters')
  set({
    SWITCHYARD__SECURITY__PASSWORD_COMPLEXITY: 'lower,upper,digit,spec',
    SWITCHYARD__SECURITY__MIN_PASSWORD_LENGTH: '6',
  })
  t.equal(await refusal(passwords.accept('lower777')), 'bad-request: PasswordComplexity')
  t.equal(await refusal(passwords.accept('Lower7!')), 'accepted')
  t.equal(await refusal(passwords.accept(passwords.random(12))), 'accepted')

  const flood = await Promise.all(
    Array.from({ length: 230 }, () => refusal(passwords.verify('x', imports[2] as string))),
  )
  t.equal(flood.filter((text) => text === 'accepted').length, 202, 'two at once, 200 in line')
  t.ok(flood.includes('unavailable: too many passwords are being checked, try again'))
})

t.test('scopes', async (t) => {
  t.same(normalScopes(['write:user', 'read:user', 'read:misc', 'public-only', 'read:misc']), [
    'public-only',
    'read:misc',
    'write:user',
  ])
  t.same(normalScopes(scopeCategories.map((category) => `write:${category}`)), ['all'])
  t.same(normalScopes(['all', 'read:user', 'public-only']), ['public-only', 'all'])
  t.same(normalScopes([]), [])
  for (const scope of ['write:bogus', 'sudo', 'read:project', 'READ:user', 'read:user,write:user']) {
    t.throws(() => normalScopes([scope]), {
      kind: 'bad-request',
      message: `invalid access token scope provided: invalid access token scope: ${scope}`,
    })
  }
  for (const category of scopeCategories) {
    const table: [string[], boolean, boolean][] = [
      [[`read:${category}`], true, false],
      [[`write:${category}`], true, true],
      [['all'], true, true],
      [['public-only'], false, false],
      [scopeCategories.filter((other) => other !== category).map((other) => `write:${other}`), false, false],
    ]
    for (const [scopes, read, write] of table) {
      t.equal(covers(scopes, category, 'read'), read, `read ${category} by ${scopes}`)
      t.equal(covers(scopes, category, 'write'), write, `write ${category} by ${scopes}`)
    }
  }
  t.ok(coversAll(['all'], ['public-only', 'write:user']))
  t.notOk(coversAll(['read:user'], ['write:user']))
  t.notOk(coversAll(['public-only', 'all'], ['read:user']))
  t.notOk(coversAll(['write:user'], ['all']))

  const bearer = (...scopes: string[]): Actor => ({
    account: undefined,
    credential: { method: 'token', sent: 'header', tokenId: 1, scopes },
  })
  const start = 'token does not have at least one of required scope(s), '
  t.equal(scopeRefusal(bearer('read:user'), ['user'], 'write'), `${start}required=[write:user], token scope=read:user`)
  t.equal(
    scopeRefusal(bearer('public-only', 'read:user'), ['user', 'organization'], 'read'),
    `${start}required=[read:user read:organization], token scope=public-only,read:user`,
    'all categories are needed',
  )
  t.equal(scopeRefusal(bearer('all'), ['user', 'admin'], 'write'), undefined)
  t.equal(scopeRefusal({ account: undefined, credential: { method: 'password' } }, ['admin'], 'write'), undefined)
})

t.test('a token mints no wider one', async (t) => {
  const room = await openIdentity(t)
  const ada = await room.user('ada')
  const mint = async (parent: string[] | 'password' | 'none', wish: string[], name = `t${Math.random()}`) => {
    const minting =
      typeof parent === 'string'
        ? { method: parent }
        : { method: 'token' as const, sent: 'basic' as const, tokenId: 1, scopes: parent }
    return room
      .write((tx) => room.identity.tokens.create(tx, ada.id, { name, scopes: wish }, minting))
      .then(
        ({ row }) => row.scopes.join(),
        (error: Refusal) => `${error.kind}: ${error.message}`,
      )
  }
  const broader = 'forbidden: cannot create an access token with a broader scope than the authenticating token'
  t.equal(await mint('password', ['all']), 'all')
  t.equal(await mint('none', ['read:user']), broader)
  t.equal(await mint(['read:user'], ['write:user']), broader)
  t.equal(await mint(['write:user'], ['read:user']), 'read:user')
  t.equal(await mint(['write:user'], ['all']), broader)
  t.equal(
    await mint(['public-only', 'write:user'], ['write:user']),
    'public-only,write:user',
    'public-only is inherited',
  )
  t.equal(await mint(['public-only'], []), 'bad-request: access token must have a scope')
  t.equal(await mint('password', []), 'bad-request: access token must have a scope')
  t.equal(await mint('password', ['public-only']), 'public-only')
  t.equal(await mint('password', ['read:user'], 'same'), 'read:user')
  t.equal(await mint('password', ['read:user'], 'same'), 'bad-request: access token name has been used already')

  const { rows, total } = await room.identity.tokens.list(ada.id, { limit: 2, offset: 0 })
  t.equal(total, 5)
  t.equal(rows[0]?.name, 'same', 'newest first')
  const eve = await room.user('eve')
  const id = rows[0]?.id as number
  const remove = (owner: number, which: { id: number } | { name: string }) =>
    room.write((tx) => room.identity.tokens.remove(tx, owner, which))
  t.equal(await remove(eve.id, { id }), false, 'of another account')
  t.equal(await remove(ada.id, { name: 'sa\0me' }), false)
  t.equal(await remove(ada.id, { id: 2 ** 60 }), false)
  t.equal(await remove(ada.id, { name: 'same' }), true)
  t.equal(await room.identity.tokens.byId(ada.id, id), undefined)
})
