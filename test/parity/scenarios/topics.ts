import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where ours is meant to differ from the reference. */
export const explained: Explained[] = [
  {
    step: 'PUT /repos/alice-SFX/one/topics/delta as nobody',
    path: 'status',
    ours: 401,
    why: 'contract 06: 401 is fine',
  },
]

/** Topics of a repository. */
export default async ({ call, user }: Play) => {
  const alice = await user('alice')
  await user('bob')
  await call('POST', '/user/repos', { name: 'one' }, { as: 'alice', skip: true })
  const topics = `/repos/${alice}/one/topics`
  const as = 'alice'
  await call('GET', topics, undefined, { as: null })
  await call('PUT', topics, { topics: ['beta', 'Alpha', 'beta', ' gamma '] }, { as })
  await call('GET', topics, undefined, { as: null })
  await call('GET', `${topics}?limit=1&page=2`, undefined, { as: null })
  await call('PUT', topics, { topics: ['fine', 'not fine', '-bad', 'x'.repeat(36)] }, { as, text: true })
  await call('PUT', topics, { topics: Array.from({ length: 26 }, (_, i) => `topic${i}`) }, { as, text: true })
  await call('PUT', topics, { topics: 'one' }, { as })
  await call('PUT', topics, { topics: ['x'] }, { as: 'bob', text: true })
  await call('PUT', topics, { topics: ['x'] }, { as: null, text: true })
  await call('GET', topics, undefined, { as: null })
  await call('PUT', `${topics}/delta`, undefined, { as })
  await call('PUT', `${topics}/delta`, undefined, { as })
  await call('PUT', `${topics}/Delta`, undefined, { as })
  await call('PUT', `${topics}/not%20fine`, undefined, { as, text: true })
  await call('PUT', `${topics}/delta`, undefined, { as: 'bob', text: true })
  await call('PUT', `${topics}/delta`, undefined, { as: null, text: true })
  await call('GET', topics, undefined, { as: null })
  await call('DELETE', `${topics}/delta`, undefined, { as })
  await call('DELETE', `${topics}/delta`, undefined, { as, text: true })
  await call('DELETE', `${topics}/not%20fine`, undefined, { as, text: true })
  await call('DELETE', `${topics}/beta`, undefined, { as: 'bob' })
  await call('PUT', topics, {}, { as })
  await call('GET', topics, undefined, { as: null })
  await call('PUT', topics, { topics: Array.from({ length: 25 }, (_, i) => `topic${i}`) }, { as })
  await call('PUT', `${topics}/one-more`, undefined, { as, text: true })
  await call('GET', `/repos/${alice}/one`, undefined, { as: null })
  await call('GET', `/repos/${alice}/none/topics`, undefined, { as })
}
