/** What users have to do with each other, and what administrators do with them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startHost, type TestHost } from '../../support/host.ts'

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const names = (users: { login: string }[]) => users.map((user) => user.login)

let h: TestHost

t.before(async () => {
  h = await startHost(t, { config: { 'service.EMAIL_DOMAIN_BLOCKLIST': '*.bad' } })
  for (const name of ['alice', 'bob', 'carol']) await h.user(name)
  await h.user('hidden', { visibility: 'private' })
})

const status = async (...call: Parameters<TestHost['call']>) => (await h.call(...call)).status
const follow = (as: string, whom: string) => status('PUT', `/user/following/${whom}`, undefined, { as })
const follows = async (as: string, whom: string) =>
  (await status('GET', `/user/following/${whom}`, undefined, { as })) === 204

t.test('followers', async (t) => {
  for (const who of ['bob', 'carol', 'hidden']) t.equal(await follow(who, 'alice'), 204)
  t.equal(await follow('alice', 'hidden'), 204)
  t.equal(await follow('bob', 'bob'), 204)
  t.match(
    (await h.call('GET', '/users/bob')).body,
    { followers_count: 0, following_count: 1 },
    'nobody follows himself',
  )
  t.match((await h.call('GET', '/users/alice')).body, { followers_count: 3, following_count: 1 })
  const listed = async (path: string, as: string) => names((await h.call('GET', path, undefined, { as })).body)
  t.same(await listed('/users/alice/followers', 'bob'), ['bob', 'carol'], 'as far as one may know')
  t.same(await listed('/users/alice/followers', 'admin'), ['bob', 'carol', 'hidden'])
  t.same(await listed('/user/followers', 'hidden'), ['alice'])
  t.same(await listed('/users/hidden/following', 'bob'), ['alice'])
  const page = await h.call('GET', '/users/alice/followers?limit=1&page=2', undefined, { as: 'bob' })
  t.same(names(page.body), ['carol'])
  t.equal(page.headers.get('x-total-count'), '2')
  t.match(page.headers.get('link'), /page=1>; rel="prev"$/)
  t.equal(await status('GET', '/users/bob/following/alice', undefined, { as: 'carol' }), 204)
  t.equal(await status('GET', '/users/alice/following/bob', undefined, { as: 'carol' }), 404)
  const auth = `token ${await h.tokenWith('carol', ['public-only', 'read:user'])}`
  t.equal(await status('GET', '/users/alice/following/hidden', undefined, { auth }), 404)
  await h.user('gone')
  await follow('gone', 'alice')
  await h.call('DELETE', '/admin/users/gone')
  t.equal((await h.call('GET', '/users/alice')).body.followers_count, 3, 'who is deleted follows nobody')
})

t.test('a block ends everything between two', async (t) => {
  await h.call('POST', '/user/repos', { name: 'of-bob' }, { as: 'bob' })
  await h.call('POST', '/user/repos', { name: 'of-carol' }, { as: 'carol' })
  const role = (owner: string, who: string) =>
    status('GET', `/repos/${owner}/of-${owner}/collaborators/${who}`, undefined, { as: owner })
  const give = (owner: string, who: string) =>
    status('PUT', `/repos/${owner}/of-${owner}/collaborators/${who}`, { permission: 'write' }, { as: owner })
  t.equal(await give('bob', 'carol'), 204)
  t.equal(await give('carol', 'bob'), 204)
  t.equal(await give('bob', 'alice'), 204)
  t.equal(await status('PUT', '/user/starred/bob/of-bob', undefined, { as: 'carol' }), 204)
  await follow('bob', 'carol')
  await follow('carol', 'bob')

  t.equal(await status('PUT', '/user/blocks/carol?note=why', undefined, { as: 'bob' }), 204)
  t.same(names((await h.call('GET', '/user/blocks', undefined, { as: 'bob' })).body), ['carol'])
  t.notOk((await follows('bob', 'carol')) || (await follows('carol', 'bob')))
  t.same([await role('bob', 'carol'), await role('carol', 'bob')], [404, 404], 'roles end both ways')
  t.equal(await role('bob', 'alice'), 204, 'those of others stay')
  t.equal((await h.call('GET', '/repos/bob/of-bob')).body.stars_count, 0)
  t.same([await follow('bob', 'carol'), await follow('carol', 'bob')], [403, 403])
  t.equal(await give('carol', 'bob'), 403)
  t.equal(await status('DELETE', '/user/blocks/carol', undefined, { as: 'bob' }), 204)
  t.match(await h.call('DELETE', '/user/blocks/carol', undefined, { as: 'bob' }), {
    status: 400,
    body: { message: 'cannot unblock the user' },
  })
  t.equal(await follow('carol', 'bob'), 204)
})

t.test('who hides can be blocked, and a site administrator is never treated as blocked', async (t) => {
  t.equal(await status('PUT', '/user/blocks/hidden', undefined, { as: 'bob' }), 204)
  t.equal(await status('DELETE', '/user/blocks/hidden', undefined, { as: 'bob' }), 204)
  await follow('bob', 'admin')
  t.equal(await status('PUT', '/user/blocks/admin', undefined, { as: 'bob' }), 204)
  t.notOk(await follows('bob', 'admin'), 'what was between them ends once')
  t.equal(await follow('bob', 'admin'), 204)
  t.equal(await status('PUT', '/user/following/bob'), 204)
  t.equal(await status('PUT', '/user/blocks/admin', undefined, { as: 'bob' }), 400)
  t.equal(await status('DELETE', '/user/blocks/admin', undefined, { as: 'bob' }), 204)
})

t.test('switched off: the routes say so, and data stays right', async (t) => {
  await follow('alice', 'carol')
  await h.rooms.settings.set('plugins', 'DISABLE_ACCOUNTS', 'true')
  await h.rooms.plugins.reconcile()
  const off = { status: 403, body: { message: 'The feature accounts is disabled.' } }
  t.match(await h.call('GET', '/user'), off)
  t.match(await h.call('GET', '/users/alice'), off)
  t.equal((await h.call('GET', '/repos/bob/of-bob')).body.owner.followers_count, 0)
  const { identity, opened } = h.rooms
  const [alice, carol] = await Promise.all([identity.accounts.byName('alice'), identity.accounts.byName('carol')])
  if (!alice || !carol) throw new Error('they exist')
  await opened.database.tx((tx) => identity.blocks.add(tx, carol.id, alice))
  await h.rooms.settings.set('plugins', 'DISABLE_ACCOUNTS', null)
  await h.rooms.plugins.reconcile()
  t.notOk(await follows('alice', 'carol'))
  await h.call('DELETE', '/user/blocks/alice', undefined, { as: 'carol' })
})

t.test('administrators make users', async (t) => {
  const make = (fields: object) =>
    h.call('POST', '/admin/users', { username: 'made', email: 'made@example.com', password: 'long enough', ...fields })
  const warned = await make({ email: 'made@host.bad', created_at: '2020-01-02T03:04:05Z', full_name: 'Made' })
  t.match(warned, { status: 201, body: { login: 'made', created: '2020-01-02T03:04:05Z', active: true } })
  t.match(warned.headers.get('x-gitea-warning'), /EMAIL_DOMAIN_BLOCKLIST/)
  t.match(await make({}), { status: 422, body: { message: 'user already exists [name: made]' } })
  t.match(await make({ username: 'other', source_id: 7 }), {
    status: 422,
    body: { message: 'login source does not exist [id: 7]' },
  })
  t.match(await make({ username: 'a..b' }), { status: 422, body: { message: '[Username]: invalid username' } })
  t.match(await make({ username: 'other', password: 'short' }), {
    status: 400,
    body: { message: 'PasswordIsRequired' },
  })
  const basic = `Basic ${Buffer.from('made:long enough').toString('base64')}`
  t.match(await h.call('GET', '/user', undefined, { auth: basic }), {
    status: 403,
    body: { message: /^You must change/ },
  })
})

t.test('administrators edit users', async (t) => {
  const edit = (name: string, fields: object) =>
    h.call('PATCH', `/admin/users/${name}`, { login_name: name, ...fields })
  t.match(await h.call('PATCH', '/admin/users/made', {}), { status: 422, body: { message: '[LoginName]: Required' } })
  const both = await edit('made', { full_name: 'Changed', email: 'bob@example.com' })
  t.match(both, { status: 400, body: { message: 'e-mail already in use [email: bob@example.com]' } })
  t.equal((await h.call('GET', '/users/made')).body.full_name, 'Made', 'all of it or nothing')
  t.match(await edit('made', { email: 'x@host.bad' }), { status: 400 })
  t.match(await edit('made', { source_id: 7 }), { status: 422 })
  t.match(await edit('made', { email: 'new@example.com', visibility: '' }), {
    status: 200,
    body: { email: 'new@example.com' },
  })
  const found = await h.call('GET', '/admin/emails/search?q=MADE')
  t.same(
    found.body.map((row: { email: string }) => row.email),
    ['new@example.com'],
    'the old primary address is gone',
  )
  t.match(await edit('admin', { admin: false }), { status: 400, body: { message: /last admin/ } })
  t.equal((await h.call('GET', '/user')).body.is_admin, true)
})

t.test('organisations are none of it', async (t) => {
  const { identity, opened } = h.rooms
  await opened.database.tx((tx) => identity.accounts.create(tx, { kind: 'organization', name: 'club' }))
  const refused = { status: 422, body: { message: 'target is an organization but not user' } }
  t.match(await h.call('PATCH', '/admin/users/club', { login_name: 'club' }), refused)
  t.match(await h.call('POST', '/admin/users/club/rename', { new_username: 'x' }), refused)
  t.match(await h.call('DELETE', '/admin/users/club'), refused)
  t.match(await h.call('POST', '/users/club/tokens', { name: 'x', scopes: ['all'] }), refused)
  t.match(await h.call('PUT', '/user/blocks/club', undefined, { as: 'bob' }), { status: 400 })
  t.equal(await follow('bob', 'club'), 204)
  const following = await h.call('GET', '/user/following', undefined, { as: 'bob' })
  t.ok(names(following.body).includes('club'), 'they can be followed')
  t.match(await h.call('GET', '/users/club'), { status: 200, body: { login: 'club' } })
  t.notOk(names((await h.call('GET', '/users/search?q=club')).body.data).includes('club'))
})

t.test('a renamed user is found under the old name until somebody takes it', async (t) => {
  await h.user('before')
  const rename = (name: string, to: string) => status('POST', `/admin/users/${name}/rename`, { new_username: to })
  t.equal(await rename('before', 'Before'), 204, 'only the case')
  t.equal(await rename('before', 'after'), 204)
  const moved = async (path: string, as: string | null = 'bob') => {
    const { status, headers } = await h.call('GET', path, undefined, { as })
    return `${status} ${headers.get('location') ?? ''}`
  }
  t.equal(await moved('/users/BEFORE?x=1'), '307 /api/v1/users/after?x=1')
  t.equal(await moved('/users/bob/following/before'), '307 /api/v1/users/bob/following/after')
  t.equal(await moved('//before.keys'), '307 /after.keys')
  t.match(await h.call('PUT', '/user/following/before', undefined, { as: 'bob' }), { status: 307 })
  await h.call('PATCH', '/admin/users/after', { login_name: 'after', visibility: 'private' })
  t.equal(await moved('/users/before', null), '404 ', 'hidden ones do not show')
  t.equal(await moved('//before.keys', null), '404 ')
  t.equal(await rename('bob', 'api'), 422)
  t.equal(await rename('bob', 'alice'), 422)
  t.equal(await rename('carol', 'before'), 204)
  t.equal(await moved('/users/before'), '200 ')
  t.equal(await rename('before', 'carol'), 204)
  t.equal(await moved('/users/before'), '307 /api/v1/users/carol')
})

t.test('deleting users', async (t) => {
  await h.user('owner')
  await h.call('POST', '/user/repos', { name: 'kept' }, { as: 'owner' })
  await h.call('POST', '/user/avatar', { image: png }, { as: 'owner' })
  const pictures = () =>
    readdirSync(join(h.folder, 'storage'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /[0-9a-f]{64}$/.test(name),
    )
  t.equal(pictures().length, 1)
  const { id } = (await h.call('GET', '/users/owner')).body
  t.match(await h.call('DELETE', '/admin/users/owner'), {
    status: 422,
    body: { message: `user still has ownership of repositories [uid: ${id}]` },
  })
  t.match(await h.call('DELETE', '/admin/users/admin'), {
    status: 422,
    body: { message: 'you cannot delete yourself' },
  })
  await h.user('boss', { is_admin: true })
  await h.call('PATCH', '/admin/users/admin', { login_name: 'admin', admin: false }, { as: 'boss' })
  const { rooms } = h
  const boss = await rooms.identity.accounts.byName('boss')
  await t.rejects(
    rooms.opened.database.tx((tx) => rooms.identity.accounts.remove(tx, boss?.id ?? 0)),
    { message: `can not delete the last admin user [uid: ${boss?.id}]` },
  )
  await h.call('PATCH', '/admin/users/admin', { login_name: 'admin', admin: true }, { as: 'boss' })
  t.equal(await status('DELETE', '/admin/users/owner?purge=true'), 204)
  t.equal(await status('GET', '/users/owner'), 404)
  await h.idle()
  t.same(pictures(), [], 'the picture goes with its user')
  t.equal(await status('GET', '/user', undefined, { as: 'owner' }), 401)
})
