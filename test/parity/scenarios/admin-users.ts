import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'POST /admin/users as admin',
    path: 'body.email',
    why: 'the reference lower-cases the address in this one answer, and shows it as it was given everywhere else',
  },
]

/** What a site administrator does with users: make, change, rename, delete. */
export default async ({ call, user, name, suffix, admin, basic, token }: Play) => {
  const alice = await user('alice')
  const bob = await user('bob')
  const fields = (label: string) => ({
    username: name(label),
    email: `${name(label)}@example.com`,
    password: 'long enough',
  })
  await call('GET', '/admin/users', undefined, { as: null, text: true })
  await call('GET', '/admin/users', undefined, { as: 'alice', text: true })
  await call('POST', '/admin/users', fields('carl'), { as: 'alice', text: true })
  await call('POST', '/admin/users', {
    ...fields('Carl'),
    full_name: 'Carl C',
    visibility: 'limited',
    restricted: true,
  })
  const bad: readonly Record<string, unknown>[] = [
    fields('carl'),
    { ...fields('dora'), email: `${bob}@example.com` },
    { ...fields('dora'), email: 'nonsense' },
    { ...fields('dora'), email: `${name('ü')}@example.com` },
    { ...fields('dora'), password: '' },
    { ...fields('dora'), password: 'a' },
    { ...fields('dora'), username: '' },
    { ...fields('dora'), username: 'api' },
    { ...fields('dora'), username: 'ghost' },
    { ...fields('dora'), username: `${name('x')}.keys` },
    { ...fields('dora'), username: `-${suffix}` },
    { ...fields('dora'), username: `a..${suffix}` },
    { ...fields('dora'), username: `a b ${suffix}` },
    { ...fields('dora'), username: 'x'.repeat(41) },
    { ...fields('dora'), visibility: 'secret' },
    { ...fields('dora'), source_id: 99 },
    { username: name('dora') },
    {},
  ]
  for (const body of bad) await call('POST', '/admin/users', body, { text: true })
  await call('POST', '/admin/users', 'username=1', { headers: { 'content-type': 'application/json' } })
  await call('POST', '/admin/users', {
    ...fields('eve'),
    created_at: '2020-02-03T04:05:06Z',
    must_change_password: true,
  })
  await call('GET', '/user', undefined, { auth: basic(name('eve'), 'long enough') })
  await call('GET', '/version', undefined, { auth: basic(name('eve'), 'long enough') })
  const list = `/admin/users?q=${suffix}`
  await call('GET', list)
  for (const filter of [
    'is_active=true',
    'is_admin=true',
    'is_restricted=true',
    'is_prohibit_login=true',
    'is_2fa_enabled=true',
    'visibility=limited',
    'limit=2',
    'limit=2&page=2',
    'sort=created',
    'sort=id&order=desc',
    'sort=name&order=desc',
    `login_name=${alice}`,
    'source_id=0',
  ]) {
    await call('GET', `${list}&${filter}`)
  }
  await call('GET', `${list}&visibility=secret`, undefined, { text: true })
  await call('GET', `${list}&sort=bad`, undefined, { text: true })
  await call('GET', `${list}&sort=name&order=bad`, undefined, { text: true })
  const edit = (body: unknown, login = alice) => call('PATCH', `/admin/users/${login}`, body, { text: true })
  await edit({ full_name: 'No Login Name' })
  const base = { source_id: 0, login_name: alice }
  await edit({ ...base, full_name: 'Alice', website: 'http://example.com', location: 'Here', description: 'text' })
  await edit({ ...base, email: `${name('new')}@example.com` })
  await edit({ ...base, email: 'nonsense' })
  await edit({ ...base, email: `${bob}@example.com` })
  await edit({ ...base, website: 'nonsense' })
  await edit({ ...base, password: 'a' })
  await edit({
    ...base,
    visibility: 'private',
    restricted: true,
    max_repo_creation: 0,
    allow_create_organization: false,
  })
  await call('POST', '/user/repos', { name: 'one-too-many' }, { as: 'alice', text: true })
  await edit({ ...base, visibility: 'public', restricted: false, max_repo_creation: -1 })
  await edit({ ...base, active: false })
  await call('GET', '/user', undefined, { as: 'alice', text: true })
  await edit({ ...base, active: true, prohibit_login: true })
  await call('GET', '/user', undefined, { as: 'alice', text: true })
  await call('GET', '/user', undefined, { auth: basic(alice, 'passw0rd-alice'), text: true })
  await edit({ ...base, prohibit_login: false, password: 'another password' })
  await call('GET', '/user', undefined, { as: 'alice' })
  await call('GET', '/user', undefined, { auth: basic(alice, 'passw0rd-alice'), text: true })
  await edit({ ...base, admin: true })
  await call('GET', '/admin/users?limit=1', undefined, { as: 'alice', bodiless: true })
  await edit({ ...base, admin: false })
  await edit({ source_id: 0, login_name: 'x' }, name('nobody'))
  const rename = (login: string, body: unknown, as = 'admin') =>
    call('POST', `/admin/users/${login}/rename`, body, { as, text: true })
  await rename(alice, { new_username: name('alicia') }, 'bob')
  await rename(alice, {})
  await rename(alice, { new_username: bob })
  await rename(alice, { new_username: 'api' })
  await rename(alice, { new_username: 'a b' })
  await rename(name('nobody'), { new_username: name('x') })
  await call('POST', '/user/repos', { name: 'kept', auto_init: true }, { as: 'alice', skip: true })
  await rename(alice, { new_username: name('alicia') })
  await call('GET', `/users/${alice}`, undefined, { as: null })
  await call('GET', `/users/${alice}/repos?limit=3`, undefined, { as: 'bob' })
  await call('GET', `/repos/${alice}/kept/branches?page=1`, undefined, { as: null })
  await call('DELETE', `/repos/${alice}/kept`, undefined, { as: 'bob' })
  await call('GET', `/repos/${name('alicia')}/kept`, undefined, { as: null })
  await call('GET', `/users/${name('alicia')}`, undefined, { as: 'alice' })
  await call('POST', '/admin/users', fields('alice'))
  await call('GET', `/users/${alice}`, undefined, { as: null })
  const remove = (login: string, query = '') =>
    call('DELETE', `/admin/users/${login}${query}`, undefined, { text: true })
  await call('DELETE', `/admin/users/${bob}`, undefined, { as: 'alice', text: true })
  await remove(admin)
  await remove(name('alicia'))
  await remove(name('alicia'), '?purge=true')
  await remove(name('alicia'))
  await call('GET', `/repos/${name('alicia')}/kept`, undefined, { as: 'bob' })
  await call('POST', `/admin/users/${bob}/repos`, { name: 'given', private: true })
  await call('POST', `/admin/users/${bob}/repos`, { name: 'given' }, { as: 'bob', text: true })
  await call('POST', `/admin/users/${name('nobody')}/repos`, { name: 'given' })
  await token('bobs', 'bob', ['read:admin'])
  await call('GET', '/admin/users', undefined, { as: 'bobs', text: true })
}
