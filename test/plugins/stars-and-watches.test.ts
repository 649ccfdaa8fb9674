import t from 'tap'
import { startHost, type TestHost } from '../support/host.ts'

const R = '/repos/alice/one'
let h: TestHost

t.before(async () => {
  h = await startHost(t)
  for (const name of ['alice', 'bob', 'carol']) await h.user(name)
  await h.user('rita', { is_restricted: true })
  for (const name of ['one', 'two', 'hidden']) {
    await h.call('POST', '/user/repos', { name, private: name === 'hidden' }, { as: 'alice' })
  }
})

/** Stars and watches are alike but for their addresses and statuses. */
const kinds = [
  {
    what: 'stars',
    one: (repo: string) => `/user/starred/alice/${repo}`,
    is: [204, 404],
    set: 204,
    mine: '/user/starred',
    of: (name: string) => `/users/${name}/starred`,
    people: `${R}/stargazers`,
    count: 'stars_count',
    first: 0,
  },
  {
    what: 'watches',
    one: (repo: string) => `/repos/alice/${repo}/subscription`,
    is: [200, 404],
    set: 200,
    mine: '/user/subscriptions',
    of: (name: string) => `/users/${name}/subscriptions`,
    people: `${R}/subscribers`,
    count: 'watchers_count',
    first: 1,
  },
] as const

for (const kind of kinds) {
  t.test(`${kind.what}: set, ask, list, count, remove`, async (t) => {
    const as = 'bob'
    t.equal((await h.call('GET', kind.one('one'), undefined, { as })).status, kind.is[1])
    t.equal((await h.call('PUT', kind.one('one'), undefined, { as })).status, kind.set)
    t.equal((await h.call('PUT', kind.one('one'), undefined, { as })).status, kind.set, 'a second time changes nothing')
    t.equal((await h.call('GET', kind.one('one'), undefined, { as })).status, kind.is[0])
    const people = await h.call('GET', kind.people, undefined, { as: null })
    t.ok(people.body.some((user: { login: string }) => user.login === 'bob'))
    t.equal(people.headers.get('x-total-count'), String(kind.first + 1))
    t.equal(people.headers.get('link'), null)
    t.equal((await h.call('GET', R, undefined, { as: null })).body[kind.count], kind.first + 1)
    const mine = await h.call('GET', kind.mine, undefined, { as })
    t.match(mine.body, [{ full_name: 'alice/one', permissions: { admin: false, push: false, pull: true } }])
    t.equal(mine.headers.get('x-total-count'), '1')
    t.equal((await h.call('DELETE', kind.one('one'), undefined, { as })).status, 204)
    t.equal((await h.call('DELETE', kind.one('one'), undefined, { as })).status, 204)
    t.equal((await h.call('GET', kind.one('one'), undefined, { as })).status, kind.is[1])
    t.equal((await h.call('GET', R, undefined, { as: null })).body[kind.count], kind.first)
  })

  t.test(`${kind.what}: who may not see a repository cannot mark it, nor see that others did`, async (t) => {
    t.equal((await h.call('PUT', kind.one('hidden'), undefined, { as: 'bob' })).status, 404)
    t.equal((await h.call('PUT', kind.one('nowhere'), undefined, { as: 'bob' })).status, 404)
    t.equal((await h.call('PUT', kind.one('one'), undefined, { as: null })).status, 401)
    t.equal((await h.call('GET', kind.mine, undefined, { as: null })).status, 401)
    t.equal((await h.call('GET', kind.of('alice'), undefined, { as: null })).status, 401)
    t.equal((await h.call('PUT', kind.one('hidden'), undefined, { as: 'alice' })).status, kind.set)
    const seenByBob = await h.call('GET', kind.of('alice'), undefined, { as: 'bob' })
    t.notOk(seenByBob.body.some((repo: { name: string }) => repo.name === 'hidden'))
    const seenByAlice = await h.call('GET', kind.mine, undefined, { as: 'alice' })
    t.ok(seenByAlice.body.some((repo: { name: string }) => repo.name === 'hidden'))
    t.equal((await h.call('GET', kind.people, undefined, { as: 'rita' })).status, 404, 'nothing was granted to her')
    t.equal((await h.call('GET', kind.of('nobody'), undefined, { as: 'bob' })).status, 404)
  })

  t.test(`${kind.what}: they go when the repository turns private`, async (t) => {
    await h.call('PUT', kind.one('two'), undefined, { as: 'bob' })
    await h.call('PUT', kind.one('two'), undefined, { as: 'alice' })
    await h.call('PATCH', '/repos/alice/two', { private: true }, { as: 'alice' })
    await h.call('PATCH', '/repos/alice/two', { private: false }, { as: 'alice' })
    t.equal((await h.call('GET', kind.one('two'), undefined, { as: 'bob' })).status, 404)
    t.equal((await h.call('GET', '/repos/alice/two', undefined, { as: 'alice' })).body[kind.count], 0)
  })

  t.test(`${kind.what}: they go with the role that made them possible`, async (t) => {
    await h.call('PUT', '/repos/alice/hidden/collaborators/carol', { permission: 'read' }, { as: 'alice' })
    t.equal((await h.call('PUT', kind.one('hidden'), undefined, { as: 'carol' })).status, kind.set)
    await h.call('DELETE', '/repos/alice/hidden/collaborators/carol', undefined, { as: 'alice' })
    await h.call('PUT', '/repos/alice/hidden/collaborators/carol', { permission: 'read' }, { as: 'alice' })
    t.equal((await h.call('GET', kind.one('hidden'), undefined, { as: 'carol' })).status, 404, 'it did not come back')
    await h.call('DELETE', '/repos/alice/hidden/collaborators/carol', undefined, { as: 'alice' })
  })

  t.test(`${kind.what}: between accounts of which one blocks the other there are none`, async (t) => {
    const { identity, opened } = h.rooms
    const [alice, carol] = await Promise.all(['alice', 'carol'].map((name) => identity.accounts.byName(name)))
    await h.call('PUT', kind.one('one'), undefined, { as: 'carol' })
    if (!alice || !carol) throw new Error('the users are missing')
    await opened.database.tx((tx) => identity.blocks.add(tx, alice.id, carol))
    t.equal((await h.call('GET', kind.one('one'), undefined, { as: 'carol' })).status, 404)
    const refused = await h.call('PUT', kind.one('one'), undefined, { as: 'carol' })
    t.match(refused, { status: 403, body: { message: 'user is blocked' } })
    await opened.database.tx((tx) => identity.blocks.remove(tx, alice.id, carol.id))
  })

  t.test(`${kind.what}: as many queries for five as for fifty`, async (t) => {
    const queriesFor = (limit: number) => h.queriesOf('GET', `${kind.mine}?limit=${limit}`, { as: 'bob' })
    await h.call('PUT', kind.one('one'), undefined, { as: 'bob' })
    const few = await queriesFor(1)
    for (let i = 0; i < 6; i++) {
      await h.call('POST', '/user/repos', { name: `${kind.what}-${i}` }, { as: 'alice' })
      await h.call('PUT', kind.one(`${kind.what}-${i}`), undefined, { as: 'bob' })
    }
    t.equal(await queriesFor(50), few)
    t.equal(few, 2, 'credentials and the list')
  })
}

t.test('stars by users are counted, found and sorted by', async (t) => {
  await h.call('PUT', '/user/starred/alice/one', undefined, { as: 'bob' })
  await h.call('PUT', '/user/starred/alice/one', undefined, { as: 'rita' }).then(({ status }) => t.equal(status, 404))
  const bob = await h.rooms.identity.accounts.byName('bob')
  const found = await h.call('GET', `/repos/search?starredBy=${bob?.id}&sort=stars&order=desc`, undefined, { as: null })
  t.ok(found.body.data.every((repo: { stars_count: number }) => repo.stars_count > 0))
  t.ok(found.body.data.length > 0)
})

t.test('stars are switched off live, and come back as they were', async (t) => {
  const { settings } = h.rooms
  await settings.set('repository', 'DISABLE_STARS', 'true')
  await h.rooms.plugins.reconcile()
  const star = { status: 403, body: { message: 'Stars are disabled.' } }
  for (const [method, path] of [
    ['GET', '/user/starred'],
    ['GET', '/user/starred/alice/one'],
    ['PUT', '/user/starred/alice/one'],
    ['DELETE', '/user/starred/alice/one'],
    ['GET', '/users/bob/starred'],
    ['GET', `${R}/stargazers`],
  ] as const) {
    t.match(await h.call(method, path, undefined, { as: 'bob' }), star, `${method} ${path}`)
  }
  t.equal((await h.call('GET', R, undefined, { as: 'bob' })).body.stars_count, 0)
  t.equal((await h.call('GET', '/repos/search?sort=stars', undefined, { as: 'bob' })).status, 200)
  await settings.set('repository', 'DISABLE_STARS', null)
  await h.rooms.plugins.reconcile()
  t.equal((await h.call('GET', '/user/starred/alice/one', undefined, { as: 'bob' })).status, 204)
})
