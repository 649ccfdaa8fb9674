import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where ours is meant to differ from the reference. */
export const explained: Explained[] = [
  { step: /\/user\?(access_)?token=/, path: 'headers.x-gitea-warning', why: 'the words are our own' },
]

/** Access tokens: making, listing, deleting, the ways to send them, and what a scope allows. */
export default async ({ call, user, token, tokenOf, basic, password }: Play) => {
  const alice = await user('alice')
  const bob = await user('bob')
  const auth = basic(alice, password('alice'))
  const tokens = `/users/${alice}/tokens`
  await call('GET', tokens, undefined, { as: 'alice', text: true })
  await call('GET', tokens, undefined, { as: null })
  await call('GET', tokens, undefined, { auth: basic(bob, password('bob')) })
  await call('GET', tokens, undefined, { auth: basic(alice, 'wrong-password'), text: true })
  await call('GET', tokens, undefined, { auth })
  const made = await call(
    'POST',
    tokens,
    { name: 'one', scopes: ['read:user', 'write:repository', 'read:repository'] },
    { auth },
  )
  await call('POST', tokens, { name: 'one', scopes: ['all'] }, { auth, text: true })
  await call('POST', tokens, { name: 'two', scopes: ['public-only', 'all'] }, { auth })
  await call('POST', tokens, { name: 'three' }, { auth, text: true })
  await call('POST', tokens, { name: 'three', scopes: [] }, { auth, text: true })
  await call('POST', tokens, { name: 'three', scopes: ['read:nothing'] }, { auth, text: true })
  await call('POST', tokens, { scopes: ['all'] }, { auth, text: true })
  await call('POST', tokens, { name: 'x'.repeat(300), scopes: ['all'] }, { auth })
  await call('POST', tokens, { name: 'three', scopes: 'all' }, { auth })
  await call('POST', tokens, { name: 'by admin', scopes: ['read:user'] })
  await call('GET', tokens, undefined, { auth, unordered: true })
  await call('GET', `${tokens}?limit=1&page=2`, undefined, { auth, bodiless: true })
  const sha1 = made.body.sha1
  for (const header of [
    `token ${sha1}`,
    `Bearer ${sha1}`,
    `TOKEN ${sha1}`,
    basic(alice, sha1),
    basic(sha1, ''),
    basic(sha1, 'x-oauth-basic'),
  ]) {
    await call('GET', '/user', undefined, { auth: header, ignore: ['last_login'] })
  }
  await call('GET', '/user', undefined, { auth: sha1, text: true })
  await call('GET', '/token', undefined, { auth: `token ${sha1}` })
  await call('GET', '/token', undefined, { auth })
  await call('GET', '/token', undefined, { as: null })
  const basicToken = basic(alice, sha1)
  await call('POST', tokens, { name: 'broader', scopes: ['all'] }, { auth: basicToken, text: true })
  await call('POST', tokens, { name: 'narrower', scopes: ['read:repository'] }, { auth: basicToken })
  const probes: readonly (readonly [string, string, unknown?])[] = [
    ['GET', '/version'],
    ['GET', '/user'],
    ['GET', '/user/repos'],
    ['GET', '/user/starred'],
    ['GET', `/users/${bob}`],
    ['GET', `/users/${bob}/repos`],
    ['GET', '/repos/search?q=nothing-of-that-name'],
    ['GET', '/repos/no-such-owner/no-such-repo'],
    ['POST', '/user/repos', { name: '..bad' }],
    ['PATCH', '/user/settings', { description: 'changed' }],
    ['GET', '/user/emails'],
    ['GET', '/admin/users?limit=1'],
    ['PUT', `/user/following/${bob}`],
    ['GET', '/topics/search?q=no-such-topic-anywhere'],
    ['POST', '/markdown', { Text: '*x*' }],
  ]
  const scopes = {
    'read-user': ['read:user'],
    'write-user': ['write:user'],
    'read-repository': ['read:repository'],
    'write-repository': ['write:repository'],
    'read-both': ['read:user', 'read:repository'],
    'read-misc': ['read:misc'],
    public: ['public-only', 'write:user', 'write:repository'],
  }
  for (const [as, list] of Object.entries(scopes)) {
    await token(as, 'alice', list)
    for (const [method, path, body] of probes) {
      if (path === '/user/repos' && method === 'POST' && /^(write-rep|write-user$)/.test(as)) continue
      await call(method, path, body, {
        as,
        text: path !== '/markdown',
        bodiless: path === '/markdown',
        ignore: ['last_login'],
      })
    }
  }
  await call('DELETE', `${tokens}/two`, undefined, { auth })
  await call('DELETE', `${tokens}/two`, undefined, { auth })
  await call('DELETE', `${tokens}/99999999`, undefined, { auth })
  await call('DELETE', `${tokens}/${made.body.id}`, undefined, { auth: basic(bob, password('bob')) })
  await call('DELETE', `${tokens}/${made.body.id}`, undefined, { auth })
  await call('GET', '/user', undefined, { auth: `token ${sha1}`, text: true })
  await call('DELETE', '/token', undefined, { as: 'read-user' })
  await call('GET', '/user', undefined, { as: 'read-user' })
  await call('GET', `/user?token=${tokenOf('alice')}`, undefined, { as: null, ignore: ['last_login'] })
  await call('GET', `/user?access_token=${tokenOf('alice')}`, undefined, { as: null, ignore: ['last_login'] })
  await call('GET', `/user?sudo=${bob}`, undefined, { as: 'alice', text: true })
  await call('GET', `/user?sudo=${bob}`, undefined, { ignore: ['last_login'] })
  await call('GET', '/user', undefined, { headers: { sudo: alice }, ignore: ['last_login'] })
  await call('GET', '/user', undefined, { headers: { sudo: 'no-such-user' } })
}
