/** What users do with their own accounts, and what others see of them. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { imageSize } from 'image-size'
import t from 'tap'
import { startHost, type TestHost } from '../../support/host.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let h: TestHost

t.before(async () => {
  h = await startHost(t, { config: { 'picture.AVATAR_MAX_WIDTH': '2000', 'service.EMAIL_DOMAIN_BLOCKLIST': '*.bad' } })
  await h.user('alice')
  await h.user('bob')
  await h.user('limited', { visibility: 'limited' })
  await h.user('hidden', { visibility: 'private' })
  await h.user('narrow', { is_restricted: true })
})

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const names = (users: { login: string }[]) => users.map((user) => user.login)

function sshKey(folder: string, comment = ''): string {
  const file = join(folder, `key${Math.random()}`)
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', file])
  return execFileSync('cat', [`${file}.pub`])
    .toString()
    .trim()
}

t.test('the tables are as the entities say', async (t) => {
  t.equal(await h.rooms.opened.schemaDifference(), '')
})

t.test('what a public-only token is refused', async (t) => {
  const auth = `token ${await h.tokenWith('alice', ['public-only', 'write:user'])}`
  const refused = { status: 403, body: { message: 'this endpoint is not available for public-only tokens' } }
  for (const [method, path] of [
    ['GET', '/user/settings'],
    ['PATCH', '/user/settings'],
    ['GET', '/user/emails'],
    ['POST', '/user/emails'],
    ['DELETE', '/user/emails'],
    ['GET', '/user/keys'],
    ['POST', '/user/keys'],
    ['GET', '/user/keys/1'],
    ['DELETE', '/user/keys/1'],
    ['POST', '/user/avatar'],
    ['DELETE', '/user/avatar'],
    ['GET', '/user/blocks'],
    ['PUT', '/user/blocks/bob'],
  ] as const) {
    t.match(await h.call(method, path, undefined, { auth }), refused, `${method} ${path}`)
  }
  t.equal((await h.call('GET', '/user', undefined, { auth })).status, 200)
  t.match(await h.call('GET', '/users/limited', undefined, { auth }), {
    status: 403,
    body: { message: 'token scope is limited to public users' },
  })
  t.equal((await h.call('PUT', '/user/following/hidden', undefined, { auth })).status, 403)
  const found = await h.call('GET', '/users/search?q=i', undefined, { auth })
  t.same(names(found.body.data), ['admin', 'alice'], 'only public users are found')
})

t.test('who is found', async (t) => {
  const search = async (query: string, as: string | null) =>
    names((await h.call('GET', `/users/search?${query}`, undefined, { as })).body.data)
  t.same(await search('q=i', null), ['admin', 'alice'])
  t.same(await search('q=I', 'alice'), ['admin', 'alice', 'limited'])
  t.same(await search('q=d', 'hidden'), ['admin', 'hidden', 'limited'], 'oneself, too')
  t.same(await search('q=i', 'admin'), ['admin', 'alice', 'hidden', 'limited'])
  t.same(await search('', 'narrow'), ['narrow'], 'a restricted user finds himself')
  t.same(await search('q=%25', 'admin'), [], 'no wildcards')
  t.same(await search('uid=-1', null), ['Ghost'])
  t.same(await search('uid=999999', 'admin'), [])
  t.same(await search('q=bob@example', 'alice'), ['bob'], 'by address')
  await h.call('PATCH', '/user/settings', { hide_email: true }, { as: 'bob' })
  t.same(await search('q=bob@example', 'alice'), [], 'not by one that is hidden')
  t.same(await search('q=bob@example', 'bob'), ['bob'])
  t.same(await search('q=bob@example', 'admin'), ['bob'])
  await h.call('PATCH', '/user/settings', { hide_email: false }, { as: 'bob' })
})

t.test('bots are shown by name and listed nowhere', async (t) => {
  const { identity, opened } = h.rooms
  const bot = await opened.database.tx((tx) =>
    identity.accounts.create(tx, { kind: 'bot', name: 'robot', email: 'robot@example.com' }),
  )
  t.match(await h.call('GET', '/users/robot', undefined, { as: null }), { status: 200, body: { login: 'robot' } })
  t.same((await h.call('GET', '/users/search?q=robot')).body.data, [])
  t.same((await h.call('GET', `/users/search?uid=${bot.id}`)).body.data, [])
  t.same((await h.call('GET', '/admin/users?q=robot')).body, [])
  t.match(await h.call('PATCH', '/admin/users/robot', { login_name: 'robot', password: 'long enough' }), {
    status: 400,
    body: { message: 'password can only be set for individual users' },
  })
  t.equal((await h.call('PUT', '/user/following/robot', undefined, { as: 'alice' })).status, 204)
  t.same((await h.call('GET', '/user/following', undefined, { as: 'alice' })).body, [])
  const token = await h.tokenWith('robot', ['all'])
  t.match(await h.call('GET', '/user', undefined, { auth: `token ${token}` }), { status: 200, body: { id: bot.id } })
  t.equal((await h.call('DELETE', '/admin/users/robot')).status, 204)
})

t.test('settings', async (t) => {
  t.match(await h.call('GET', '/user/settings', undefined, { as: 'bob' }), {
    body: { theme: 'gitea-auto', language: '' },
  })
  const changed = await h.call(
    'PATCH',
    '/user/settings',
    { theme: 'x', hide_activity: true, location: 'Bern' },
    { as: 'bob' },
  )
  t.match(changed, { status: 200, body: { theme: 'x', hide_activity: true, location: 'Bern', hide_email: false } })
  const again = await h.call('PATCH', '/user/settings', { location: '' }, { as: 'bob' })
  t.match(again.body, { theme: 'x', location: '' }, 'an empty text is one, what is not given stays')
  t.match(await h.call('PATCH', '/user/settings', { website: 'javascript:alert(1)' }, { as: 'bob' }), {
    status: 422,
    body: { message: '[Website]: Url' },
  })
})

t.test('addresses', async (t) => {
  const add = (...emails: string[]) => h.call('POST', '/user/emails', { emails }, { as: 'alice' })
  t.match(await add('x@host.bad'), { status: 422, body: { message: 'Email address "x@host.bad" invalid' } })
  const both = await add('a1@example.com', 'bob@example.com')
  t.match(both, { status: 422, body: { message: 'Email address has been used: bob@example.com' } })
  t.equal((await h.call('GET', '/user/emails', undefined, { as: 'alice' })).body.length, 1, 'all of it or nothing')
  t.match(await h.call('DELETE', '/user/emails', { emails: ['alice@example.com'] }, { as: 'alice' }), { status: 422 })
})

t.test('keys', async (t) => {
  const folder = t.testdir()
  const key = sshKey(folder, 'alice at home')
  const made = await h.call('POST', '/user/keys', { title: 'home', key }, { as: 'alice' })
  t.match(made, { status: 201, body: { key, title: 'home', key_type: 'user', user: { login: 'alice' } } })
  t.equal(made.body.url, `${h.base}/api/v1/user/keys/${made.body.id}`)
  const seen = await h.call('GET', `/user/keys/${made.body.id}`, undefined, { as: 'bob' })
  t.match(seen, { status: 200, body: { title: 'home' } })
  t.notOk('user' in seen.body || 'key_type' in seen.body, 'others do not learn whose it is')
  const text = await h.call('GET', '//alice.keys', undefined, { as: null })
  t.match(text.headers.get('content-type'), /^text\/plain/)
  t.equal(
    text.body,
    `# This host is no key server: the keys are as the user added them.\n${key.split(' ', 2).join(' ')}\n`,
  )
  t.equal((await h.call('GET', '//hidden.keys', undefined, { as: null })).status, 404)
  t.equal((await h.call('GET', '//hidden.keys', undefined, { as: 'hidden' })).status, 200)
  t.match(await h.call('GET', '//no.body.keys', undefined, { as: null }), { status: 404, body: /not exist/ })
  t.match(await h.call('DELETE', `/admin/users/bob/keys/${made.body.id}`), {
    status: 403,
    body: { message: 'You do not have access to this key' },
  })
  t.equal((await h.call('DELETE', `/admin/users/alice/keys/${made.body.id}`)).status, 204)
  t.equal((await h.call('GET', `/user/keys/${made.body.id}`, undefined, { as: 'alice' })).status, 404)
})

t.test('tokens', async (t) => {
  const password = basic('alice', h.passwordOf('alice'))
  const post = (body: object, auth = password) => h.call('POST', '/users/alice/tokens', body, { auth })
  const made = await post({ name: '42', scopes: ['read:user', 'public-only'] })
  t.match(made, { status: 201, body: { name: '42', scopes: ['public-only', 'read:user'], sha1: /^[0-9a-f]{40}$/ } })
  const auth = basic('alice', made.body.sha1)
  t.equal((await post({ name: 'child', scopes: ['read:user'] }, auth)).status, 403, 'making one is writing')
  const wide = await post({ name: 'wide', scopes: ['write:user', 'public-only'] })
  const child = await post({ name: 'child', scopes: ['read:user'] }, basic('alice', wide.body.sha1))
  t.same(child.body.scopes, ['public-only', 'read:user'], 'public-only is inherited')
  t.equal(
    (await h.call('DELETE', '/users/alice/tokens/42', undefined, { auth: password })).status,
    404,
    'digits are an id',
  )
  t.equal((await h.call('DELETE', '/users/alice/tokens/child', undefined, { auth: password })).status, 204)
  const as = (value: string) => ({ auth: `token ${value}` })
  t.match(await h.call('GET', '/token', undefined, as(made.body.sha1)), {
    status: 200,
    body: { id: made.body.id, name: '42', user: { login: 'alice' } },
  })
  t.equal((await h.call('GET', '/token', undefined, { auth: password })).status, 404)
  t.equal((await h.call('DELETE', '/token', undefined, as(made.body.sha1))).status, 204)
  t.equal((await h.call('GET', '/token', undefined, as(made.body.sha1))).status, 401)
})

t.test('the token of an administrator who acts for somebody is his own', async (t) => {
  await h.user('boss', { is_admin: true })
  const auth = `token ${await h.tokenWith('boss', ['all'])}`
  t.match(await h.call('GET', '/user?sudo=alice', undefined, { auth }), { body: { login: 'alice' } })
  t.match(await h.call('GET', '/token?sudo=alice', undefined, { auth }), {
    status: 200,
    body: { user: { login: 'boss' } },
  })
  t.equal((await h.call('DELETE', '/admin/users/boss')).status, 204)
})

t.test('pictures', async (t) => {
  const stored = () => {
    const folder = join(h.folder, 'storage')
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /avatars\/..\/[0-9a-f]{64}$/.test(name),
    )
  }
  const avatar = async () =>
    new URL((await h.call('GET', '/user', undefined, { as: 'alice' })).body.avatar_url).pathname
  const get = (path: string, headers: Record<string, string> = {}) => fetch(h.base + path, { headers })

  const generated = await avatar()
  t.match(generated, /^\/avatars\/[0-9a-f]{32}$/)
  const first = await get(generated)
  t.match(Object.fromEntries(first.headers), { 'content-type': 'image/png', 'cache-control': 'public, max-age=21600' })
  const bytes = Buffer.from(await first.arrayBuffer())
  t.match(imageSize(bytes), { type: 'png', width: 256, height: 256 })
  t.same(Buffer.from(await (await get(generated)).arrayBuffer()), bytes, 'always the same')
  for (const [asked, side] of [
    ['64', 64],
    ['1', 16],
    ['99999', 512],
    ['-3', 256],
    ['x', 256],
  ] as const) {
    const sized = Buffer.from(await (await get(`${generated}?size=${asked}`)).arrayBuffer())
    t.equal(imageSize(sized).width, side, `size ${asked}`)
  }
  const { etag = '' } = Object.fromEntries(first.headers)
  t.equal((await get(generated, { 'if-none-match': etag })).status, 304)
  t.equal((await get('/assets/img/avatar_default.png')).status, 200, 'of users who are gone')

  const post = (image: string) => h.call('POST', '/user/avatar', { image }, { as: 'alice' })
  t.match(await post(`data:image/png;base64,${png}`), {
    status: 400,
    body: { message: /^illegal base64 data at input byte 4/ },
  })
  t.equal(
    (await post(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>').toString('base64')))
      .status,
    422,
  )
  const wide = Buffer.from(png, 'base64')
  wide.writeUInt32BE(2001, 16)
  t.match(await post(wide.toString('base64')), { status: 422, body: { message: /2000 × 4096/ } })
  t.same(stored(), [], 'nothing was stored')

  t.equal((await post(png)).status, 204)
  const one = await avatar()
  t.match(one, /^\/avatars\/[0-9a-f]{64}$/)
  const shown = await get(one)
  t.same(Buffer.from(await shown.arrayBuffer()), Buffer.from(png, 'base64'))
  t.equal((await get(one, { 'if-modified-since': shown.headers.get('last-modified') ?? '' })).status, 304)
  t.equal((await post(png)).status, 204)
  const two = await avatar()
  t.not(two, one)
  t.equal((await get(one)).status, 404, 'the one before is gone')
  t.equal(stored().length, 1)
  t.equal((await h.call('DELETE', '/user/avatar', undefined, { as: 'alice' })).status, 204)
  t.equal(await avatar(), generated)
  t.same(stored(), [])
  for (const path of ['/avatars/..%2f..%2fsecret', '/avatars/x', `/avatars/${'0'.repeat(64)}`]) {
    t.equal((await get(path)).status, 404, path)
  }
})

t.test('what the operator decided about searching and keys', async (t) => {
  const config = { 'service.explore.REQUIRE_SIGNIN_VIEW': 'true', 'admin.USER_DISABLED_FEATURES': 'manage_ssh_keys' }
  const other = await startHost(t, { config })
  await other.user('alice')
  t.match(await other.call('GET', '/users/search', undefined, { as: null }), {
    status: 401,
    body: { message: 'you must be signed in to search for users' },
  })
  t.equal((await other.call('GET', '/users/search', undefined, { as: 'alice' })).status, 200)
  const key = { title: 'k', key: sshKey(t.testdir()) }
  const refused = { status: 404, body: { message: 'ssh keys setting is not allowed to be changed' } }
  t.match(await other.call('POST', '/user/keys', key, { as: 'alice' }), refused)
  t.match(await other.call('DELETE', '/user/keys/1', undefined, { as: 'alice' }), refused)
  t.equal((await other.call('POST', '/admin/users/alice/keys', key)).status, 201, 'administrators still do')
  const closed = await startHost(t, { config: { 'service.explore.DISABLE_USERS_PAGE': 'true' } })
  t.equal((await closed.call('GET', '/users/search')).status, 404)
})
