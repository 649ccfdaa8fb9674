import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where ours is meant to differ from the reference. */
export const explained: Explained[] = [
  {
    step: /users\/alice-SFX\/starred as (bob|admin)/,
    path: 'headers.x-total-count',
    ours: '1',
    why: 'what is hidden is not counted',
  },
]

/** Stars. */
export default async ({ call, user, name }: Play) => {
  const alice = await user('alice')
  const [bob, carol] = [await user('bob'), await user('carol')]
  await call('POST', '/user/repos', { name: 'one' }, { as: 'alice', skip: true })
  await call('POST', '/user/repos', { name: 'hidden', private: true }, { as: 'alice', skip: true })
  const star = `/user/starred/${alice}/one`
  await call('GET', star, undefined, { as: 'bob', text: true })
  await call('GET', star, undefined, { as: null, text: true })
  await call('PUT', star, undefined, { as: null })
  await call('PUT', star, undefined, { as: 'bob' })
  await call('PUT', star, undefined, { as: 'bob' })
  await call('PUT', star, undefined, { as: 'carol' })
  await call('PUT', star, undefined, { as: 'alice' })
  await call('GET', star, undefined, { as: 'bob' })
  await call('PUT', `/user/starred/${alice}/hidden`, undefined, { as: 'bob' })
  await call('PUT', `/user/starred/${alice}/hidden`, undefined, { as: 'alice' })
  await call('PUT', `/user/starred/${alice}/none`, undefined, { as: 'bob' })
  await call('PUT', `/user/starred/${name('nobody')}/none`, undefined, { as: 'bob' })
  await call('GET', `/repos/${alice}/one/stargazers`, undefined, { as: null, unordered: true })
  await call('GET', `/repos/${alice}/one/stargazers?limit=1&page=2`, undefined, { as: null, bodiless: true })
  await call('GET', `/repos/${alice}/hidden/stargazers`, undefined, { as: 'bob' })
  await call('GET', `/repos/${alice}/one`, undefined, { as: 'bob' })
  await call('GET', `/users/${bob}`, undefined, { as: null })
  await call('GET', '/user/starred', undefined, { as: 'bob' })
  await call('GET', '/user/starred', undefined, { as: 'alice', unordered: true })
  await call('GET', '/user/starred?limit=1', undefined, { as: 'alice', bodiless: true })
  await call('GET', `/users/${alice}/starred`, undefined, { as: 'bob' })
  await call('GET', `/users/${alice}/starred`, undefined, { as: 'admin', unordered: true })
  await call('GET', `/users/${alice}/starred`, undefined, { as: null })
  await call('GET', `/users/${carol}/starred`, undefined, { as: 'bob' })
  await call('DELETE', star, undefined, { as: 'carol' })
  await call('DELETE', star, undefined, { as: 'carol' })
  await call('DELETE', star, undefined, { as: null })
  await call('GET', `/repos/${alice}/one`, undefined, { as: 'bob' })
  await call('PATCH', `/repos/${alice}/one`, { private: true }, { as: 'alice' })
  await call('GET', `/repos/${alice}/one`, undefined, { as: 'alice' })
  await call('GET', '/user/starred', undefined, { as: 'bob' })
  await call('GET', '/user/starred', undefined, { as: 'alice' })
  await call('PATCH', `/repos/${alice}/one`, { private: false }, { as: 'alice', skip: true })
  await call('PUT', star, undefined, { as: 'bob' })
  await call('DELETE', `/repos/${alice}/one`, undefined, { as: 'alice', skip: true })
  await call('GET', '/user/starred', undefined, { as: 'bob' })
  await call('GET', `/users/${bob}`, undefined, { as: null })
}
