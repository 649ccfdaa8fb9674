import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'POST /user/repos as mallory #5',
    path: 'status',
    ours: 422,
    why: 'contract 02: two dots in a name are a reference bug',
  },
  {
    step: 'POST /user/repos as mallory #6',
    path: 'status',
    ours: 422,
    why: 'contract 02: two dots in a name are a reference bug',
  },
  {
    step: 'POST /user/repos as mallory #16',
    path: 'status',
    ours: 422,
    why: 'contract 02: an unknown gitignore is a reference bug',
  },
  {
    step: 'POST /user/repos as mallory #17',
    path: 'status',
    ours: 422,
    why: 'contract 02: an unknown license is a reference bug',
  },
  {
    step: 'POST /user/repos as mallory #19',
    path: 'status',
    ours: 422,
    why: 'contract 02: an unknown object format is a reference bug',
  },
  { step: 'POST /user/repos as mallory #18', path: 'body.message', why: 'the reference names a file of its own' },
  {
    step: 'PATCH /repos/alice-SFX/one as alice #9',
    path: 'body.message',
    why: 'the reference names a function of its own',
  },
  {
    step: 'GET /users/alice-SFX/repos?limit=1&page=2 as bob',
    path: /headers\.(link|x-total-count)/,
    why: 'what is hidden is not counted',
  },
]

/** The life of a repository: made, changed, renamed, archived, deleted, and every refusal on the way. */
export default async ({ call, user, name }: Play) => {
  const [alice, bob] = [await user('alice'), await user('bob')]
  await user('mallory')
  const repo = `/repos/${alice}/one`
  const create = (body: unknown, as: string | null = 'alice') => call('POST', '/user/repos', body, { as, text: true })
  await create({ name: 'one' }, null)
  await create({ name: 'one', description: '<first> & "only"', private: true })
  const bad: readonly Record<string, unknown>[] = [
    { name: '' },
    {},
    { name: '.' },
    { name: '-' },
    { name: '..' },
    { name: 'a..b' },
    { name: 'x.wiki' },
    { name: 'x.git' },
    { name: 'x.rss' },
    { name: 'a/b' },
    { name: 'a b' },
    { name: 'x'.repeat(101) },
    { name: 'bad1', description: 'x'.repeat(2049) },
    { name: 'bad2', default_branch: 'a..b' },
    { name: 'bad4', auto_init: true, readme: 'Nothing' },
    { name: 'bad5', auto_init: true, gitignores: 'NoSuchLanguage' },
    { name: 'bad6', auto_init: true, license: 'NoSuchLicense' },
    { name: 'bad7', issue_labels: 'NoSuchSet' },
    { name: 'bad8', object_format_name: 'md5' },
    { name: 5 },
    { name: 'bad9', private: 'yes' },
  ]
  await create({ name: 'ONE' })
  for (const body of bad) await create(body, 'mallory')
  await call('GET', `/users/${name('mallory')}/repos`, undefined, { as: 'mallory' })
  await create({
    name: 'two',
    auto_init: true,
    gitignores: 'Node,Go',
    license: 'MIT',
    readme: 'Default',
    default_branch: 'trunk',
    description: 'About two',
  })
  const ownTexts = ['sha', 'size', 'git', 'git_url']
  await call('GET', `/repos/${alice}/two/contents`, undefined, { as: null, ignore: ownTexts })
  await call('GET', `/repos/${alice}/two/contents/README.md`, undefined, { as: null })
  await call('GET', `/repos/${alice}/two/commits`, undefined, { as: null, ignore: ['tree', 'stats'] })
  await create({ name: 'three', template: true, trust_model: 'committer' })
  await call('POST', `/orgs/${alice}/repos`, { name: 'four' }, { as: 'alice' })
  await call('GET', repo, undefined, { as: 'alice' })
  for (const as of ['bob', null, 'admin']) await call('GET', repo, undefined, { as })
  await call('GET', `/repos/${alice.toUpperCase()}/ONE`, undefined, { as: 'alice' })
  await call('GET', `/repos/${alice}/nothing`, undefined, { as: 'alice', text: true })
  await call('GET', `/repos/${name('nobody')}/nothing`, undefined, { as: 'alice' })
  const { id } = (await call('GET', repo, undefined, { as: 'alice', skip: true })).body
  await call('GET', `/repositories/${id}`, undefined, { as: 'alice' })
  await call('GET', `/repositories/${id}`, undefined, { as: 'bob' })
  await call('GET', `/repositories/${id}`, undefined, { as: null, text: true })
  await call('GET', '/repositories/99999999', undefined, { as: 'alice' })
  const edit = (body: unknown, as: string | null = 'alice') => call('PATCH', repo, body, { as, text: true })
  await edit({ private: false })
  await edit({ description: 'no' }, 'bob')
  await edit({ description: 'no' }, null)
  await edit({})
  await edit({ description: 'changed', website: 'no url at all', template: true })
  await edit({ description: null, website: '' })
  await edit({ description: 'x'.repeat(2049) })
  await edit({ default_branch: 'other' })
  await edit({ name: 'a b' })
  await edit({ name: 'two' })
  await edit({ name: '..' })
  await edit({ name: 'x.git' })
  await edit({
    has_issues: false,
    has_wiki: false,
    has_projects: false,
    has_pull_requests: false,
    has_releases: false,
    has_packages: false,
    has_actions: false,
  })
  await edit({ allow_rebase: true, default_merge_style: 'squash' })
  await edit({ has_issues: true, internal_tracker: { enable_time_tracker: true } })
  await edit({
    has_issues: true,
    external_tracker: {
      external_tracker_url: 'https://example.com/issues',
      external_tracker_format: 'https://example.com/issues/{index}',
      external_tracker_style: 'numeric',
    },
  })
  await edit({ has_issues: true, external_tracker: { external_tracker_url: 'nonsense' } })
  await edit({
    has_issues: true,
    external_tracker: { external_tracker_url: 'https://example.com', external_tracker_format: 'nonsense' },
  })
  await edit({ has_issues: true })
  await edit({ has_wiki: true, external_wiki: { external_wiki_url: 'https://example.com/wiki' } })
  await edit({ has_wiki: true, external_wiki: { external_wiki_url: 'nonsense' } })
  await edit({ has_wiki: true })
  await edit({ has_projects: true, projects_mode: 'owner' })
  await edit({ has_projects: true, projects_mode: 'none' })
  await edit({ projects_mode: 'repo' })
  await edit({ default_update_style: 'rebase' })
  await edit({ default_update_style: 'fast' })
  await edit({ allow_merge_update: false, allow_rebase_update: false })
  await edit({ allow_merge_update: false, default_update_style: 'merge' })
  await edit({
    has_pull_requests: true,
    allow_merge_commits: false,
    default_delete_branch_after_merge: true,
    default_allow_maintainer_edit: false,
    allow_manual_merge: true,
  })
  await edit({ has_code: false })
  await call('GET', `${repo}/branches`, undefined, { as: 'bob', text: true })
  await call('GET', `${repo}/branches`, undefined, { as: 'alice' })
  await edit({ has_code: true, has_releases: true, has_packages: true, has_actions: true })
  await edit({ archived: true })
  await call('POST', `${repo}/branches`, { new_branch_name: 'x' }, { as: 'alice', text: true })
  await call('POST', `${repo}/contents/x`, { content: '' }, { as: 'alice', text: true })
  await call('POST', `${repo}/tags`, { tag_name: 'x' }, { as: 'alice', text: true })
  await edit({ description: 'while archived' })
  await edit({ archived: false })
  await edit({ mirror_interval: 'nonsense' })
  await edit({ name: 'One' })
  await call('PATCH', repo, { name: 'uno' }, { as: 'alice' })
  for (const [method, path, as] of [
    ['GET', '', null],
    ['GET', '/branches?page=2&limit=1', null],
    ['PATCH', '', 'alice'],
    ['DELETE', '', 'bob'],
    ['GET', '/contents/a%2Fb', null],
  ] as const) {
    await call(method, repo + path, method === 'PATCH' ? {} : undefined, { as })
  }
  await call('GET', `//${alice}/one.git/info/refs?service=git-upload-pack`, undefined, { as: null })
  await create({ name: 'one', private: true })
  await call('GET', repo, undefined, { as: 'alice', skip: true })
  await call('GET', repo, undefined, { as: 'bob' })
  await call('GET', '/user/repos', undefined, { as: 'alice' })
  await call('GET', '/user/repos', undefined, { as: null, text: true })
  await call('GET', `/users/${alice}/repos`, undefined, { as: 'alice' })
  await call('GET', `/users/${alice}/repos`, undefined, { as: null })
  await call('GET', `/users/${alice}/repos?limit=1&page=2`, undefined, { as: 'bob' })
  await call('DELETE', repo, undefined, { as: null, text: true })
  await call('DELETE', repo, undefined, { as: 'bob', text: true })
  await call('DELETE', `/repos/${alice}/uno`, undefined, { as: 'bob', text: true })
  await call('DELETE', repo, undefined, { as: 'alice' })
  await call('DELETE', repo, undefined, { as: 'alice' })
  await call('DELETE', `/repos/${alice}/uno`)
  await call('GET', `/repos/${bob}/one`, undefined, { as: 'bob' })
}
