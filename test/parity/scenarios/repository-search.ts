import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where ours is meant to differ from the reference. */
export const explained: Explained[] = [
  { step: /q=(%25|_pple-)SFX/, path: /x-total-count|data\.length/, why: 'what is searched for is text, not a pattern' },
]

/** Finding repositories: filters, orders, pages, and who finds what. */
export default async ({ call, user, suffix }: Play) => {
  const [alice, bob] = [await user('alice'), await user('bob')]
  const lim = await user('limited', { visibility: 'limited' })
  const make = (as: string, label: string, extra: Record<string, unknown> = {}) =>
    call('POST', '/user/repos', { name: `${label}-${suffix}`, ...extra }, { as, skip: true })
  await make('alice', 'apple', { description: `red-${suffix}-fruit` })
  await make('alice', 'banana', { private: true })
  await make('alice', 'cherry', { template: true })
  await make('bob', 'date', { description: 'brown' })
  await make('bob', 'elder')
  await make('limited', 'fig')
  await call('PATCH', `/repos/${bob}/elder-${suffix}`, { archived: true }, { as: 'bob', skip: true })
  await call('PUT', `/repos/${bob}/date-${suffix}/topics`, { topics: [`topic-${suffix}`] }, { as: 'bob', skip: true })
  await call('PUT', `/user/starred/${bob}/date-${suffix}`, undefined, { as: 'alice', skip: true })
  await call(
    'PUT',
    `/repos/${bob}/elder-${suffix}/collaborators/${alice}`,
    { permission: 'write' },
    { as: 'bob', skip: true },
  )
  const ids = new Map<string, number>()
  for (const login of [alice, bob])
    ids.set(login, (await call('GET', `/users/${login}`, undefined, { skip: true })).body.id)
  const search = (query: string, as: string | null = 'alice') =>
    call('GET', `/repos/search?${query}`, undefined, { as, text: true })
  for (const as of ['alice', 'bob', null, 'admin']) await search(`q=${suffix}`, as)
  const q = `q=${suffix}`
  const filters = [
    'private=false',
    'is_private=true',
    'is_private=false',
    'template=true',
    'template=false',
    'archived=true',
    'archived=false',
    'mode=source',
    'mode=fork',
    'mode=mirror',
    'mode=collaborative',
    `uid=${ids.get(bob)}`,
    `uid=${ids.get(alice)}`,
    `uid=${ids.get(alice)}&exclusive=true`,
    'uid=x',
    `priority_owner_id=${ids.get(bob)}`,
    `starredBy=${ids.get(alice)}`,
    'sort=alpha',
    'sort=alpha&order=desc',
    'sort=id',
    'sort=id&order=desc',
    'sort=stars&order=desc&limit=1',
    'order=desc',
    'limit=2',
    'limit=2&page=2',
    'limit=2&page=99',
    'limit=-1&page=0',
    'limit=2&page=2&unknown=1&a=b%20c',
  ]
  for (const filter of filters) await search(`${q}&${filter}`)
  for (const bad of ['mode=bad', 'sort=bad', 'sort=alpha&order=bad', 'order=bad']) await search(`${q}&${bad}`)
  await search(`q=${suffix}&sort=id`, 'admin')
  await search(`q=apple-${suffix},date-${suffix}`)
  await search(`q=APPLE-${suffix}`)
  await search(`q=${alice}/apple-${suffix}`)
  await search(`q=${alice}`)
  await search(`q=topic-${suffix}`)
  await search(`q=topic-${suffix}&topic=true`)
  await search(`q=topic&topic=true&uid=${ids.get(bob)}`)
  await search(`q=red-${suffix}-fruit`)
  await search(`q=red-${suffix}-fruit&includeDesc=true`)
  await search(`q=%25${suffix}`)
  await search(`q=_pple-${suffix}`)
  await search(`q=nothing-${suffix}`)
  await call('GET', '/user/repos?limit=2', undefined, { as: 'alice' })
  await call('GET', `/users/${lim}/repos`, undefined, { as: 'bob' })
  await call('GET', `/topics/search?q=topic-${suffix}`, undefined, { as: null })
  await call('GET', `/topics/search?q=nothing-${suffix}`, undefined, { as: 'bob' })
}
