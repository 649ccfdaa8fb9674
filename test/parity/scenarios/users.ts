import type { Play } from '../play.ts'

/** What others see of a user, who is found, and what hidden users answer. */
export default async ({ call, user, name, suffix }: Play) => {
  const alice = await user('alice', { full_name: 'Alice <A>' })
  await user('bob')
  const lim = await user('limited', { visibility: 'limited' })
  const hid = await user('hidden', { visibility: 'private' })
  for (const as of ['alice', 'bob', 'admin', null]) await call('GET', `/users/${alice}`, undefined, { as })
  for (const as of ['limited', 'bob', 'admin', null]) await call('GET', `/users/${lim}`, undefined, { as })
  for (const as of ['hidden', 'bob', 'admin', null]) await call('GET', `/users/${hid}`, undefined, { as })
  await call('GET', `/users/${alice.toUpperCase()}`, undefined, { as: 'bob' })
  await call('GET', `/users/${name('nobody')}`, undefined, { as: 'bob', text: true })
  await call('GET', '/users/ghost', undefined, { as: 'bob' })
  await call('GET', '/user', undefined, { as: 'alice' })
  await call('GET', '/user', undefined, { as: null, text: true })
  await call('GET', '/user', undefined, { auth: 'token 0000000000000000000000000000000000000000', text: true })
  await call('GET', '/version', undefined, { auth: 'token 0000000000000000000000000000000000000000', text: true })
  await call('GET', '/user', undefined, { auth: 'Basic ???', text: true })
  for (const as of ['alice', 'bob', 'hidden', 'admin', null]) {
    await call('GET', `/users/search?q=${suffix}`, undefined, { as })
  }
  await call('GET', `/users/search?q=ALICE-${suffix}`, undefined, { as: 'bob' })
  await call('GET', `/users/search?q=${name('nobody')}`, undefined, { as: 'bob' })
  await call('GET', `/users/search?q=${suffix}&limit=1&page=2`, undefined, { as: 'admin' })
  await call('GET', `/users/search?q=${suffix}&limit=1&page=99`, undefined, { as: 'admin' })
  await call('GET', `/users/search?q=${suffix}&limit=0&page=-1`, undefined, { as: 'admin' })
  await call('GET', `/users/search?q=${suffix}&limit=x&page=y`, undefined, { as: 'admin' })
  const id = (await call('GET', `/users/${alice}`, undefined, { skip: true })).body.id
  await call('GET', `/users/search?uid=${id}`, undefined, { as: 'bob' })
  await call('GET', `/users/search?uid=x&q=${suffix}`, undefined, { as: 'bob' })
  await call('GET', `/users/${alice}/repos`, undefined, { as: null })
  await call('GET', `/users/${hid}/repos`, undefined, { as: null })
  await call('GET', `/users/${lim}/repos`, undefined, { as: 'bob' })
  for (const path of ['followers', 'following', 'keys', 'starred', 'subscriptions']) {
    await call('GET', `/users/${alice}/${path}`, undefined, { as: null, text: true })
    await call('GET', `/users/${hid}/${path}`, undefined, { as: 'bob' })
    await call('GET', `/users/${name('nobody')}/${path}`, undefined, { as: 'bob' })
  }
  await call('PATCH', '/user/settings', { hide_email: true }, { as: 'alice' })
  for (const as of ['alice', 'bob', 'admin', null]) await call('GET', `/users/${alice}`, undefined, { as })
  await call('DELETE', `/users/${alice}`, undefined, { as: 'alice', bodiless: true })
}
