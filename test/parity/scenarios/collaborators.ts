import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'PUT /repos/alice-SFX/one/collaborators/bob-SFX as alice #2',
    path: 'status',
    ours: 422,
    why: 'an unknown permission is a reference bug',
  },
]

/** Collaborators, what they may do, and watching. */
export default async ({ call, user, name }: Play) => {
  const alice = await user('alice')
  const [bob, carol, dave] = [await user('bob'), await user('carol'), await user('dave')]
  await call('POST', '/user/repos', { name: 'one', private: true, auto_init: true }, { as: 'alice', skip: true })
  const repo = `/repos/${alice}/one`
  const put = (who: string, body: unknown, as: string | null = 'alice') =>
    call('PUT', `${repo}/collaborators/${who}`, body, { as, text: true })
  await call('GET', `${repo}/collaborators`, undefined, { as: 'alice' })
  await put(bob, { permission: 'read' }, null)
  await put(bob, { permission: 'read' }, 'bob')
  await put(bob, { permission: 'read' })
  await put(carol, { permission: 'write' })
  await put(dave, { permission: 'admin' })
  await put(bob, { permission: 'bad' })
  await put(bob, {})
  await put(bob, { permission: 'read' })
  await put(alice, { permission: 'read' })
  await put(name('nobody'), { permission: 'read' })
  await call('GET', `${repo}/collaborators`, undefined, { as: 'alice', unordered: true })
  await call('GET', `${repo}/collaborators?limit=1&page=1`, undefined, { as: 'bob', bodiless: true })
  for (const who of [alice, bob, name('nobody')])
    await call('GET', `${repo}/collaborators/${who}`, undefined, { as: 'bob' })
  for (const [who, as] of [
    [bob, 'bob'],
    [carol, 'bob'],
    [carol, 'alice'],
    [dave, 'dave'],
    [alice, 'admin'],
    [name('nobody'), 'alice'],
  ] as const) {
    await call('GET', `${repo}/collaborators/${who}/permission`, undefined, { as, text: true })
  }
  for (const as of ['bob', 'carol', 'dave', 'admin', 'alice', null]) {
    await call('GET', repo, undefined, { as })
    await call('PATCH', repo, {}, { as, text: true, bodiless: true })
    await call('POST', `${repo}/branches`, { new_branch_name: `by-${as}` }, { as, text: true, bodiless: true })
    await call('GET', `${repo}/branches/main`, undefined, { as, ignore: ['commit'] })
  }
  await call('DELETE', repo, undefined, { as: 'dave', text: true })
  await call('GET', '/user/repos', undefined, { as: 'bob', unordered: true })
  const watch = `${repo}/subscription`
  await call('GET', watch, undefined, { as: 'alice' })
  await call('GET', watch, undefined, { as: 'bob', text: true })
  await call('GET', watch, undefined, { as: null })
  await call('PUT', watch, undefined, { as: 'bob' })
  await call('PUT', watch, undefined, { as: 'bob' })
  await call('PUT', watch, undefined, { as: null })
  await call('GET', watch, undefined, { as: 'bob' })
  await call('GET', `${repo}/subscribers`, undefined, { as: 'bob', unordered: true })
  await call('GET', '/user/subscriptions', undefined, { as: 'bob' })
  await call('GET', `/users/${bob}/subscriptions`, undefined, { as: 'carol', unordered: true })
  await call('GET', `/users/${bob}/subscriptions`, undefined, { as: 'bob' })
  await call('DELETE', watch, undefined, { as: 'bob' })
  await call('DELETE', watch, undefined, { as: 'bob' })
  await call('GET', watch, undefined, { as: 'bob' })
  await call('PUT', watch, undefined, { as: 'bob', skip: true })
  await call('DELETE', `${repo}/collaborators/${bob}`, undefined, { as: 'carol', text: true })
  await call('DELETE', `${repo}/collaborators/${bob}`, undefined, { as: 'alice' })
  await call('DELETE', `${repo}/collaborators/${bob}`, undefined, { as: 'alice' })
  await call('DELETE', `${repo}/collaborators/${name('nobody')}`, undefined, { as: 'alice' })
  await call('GET', repo, undefined, { as: 'bob' })
  await call('GET', `${repo}/subscribers`, undefined, { as: 'alice' })
  await call('GET', '/user/subscriptions', undefined, { as: 'bob' })
}
