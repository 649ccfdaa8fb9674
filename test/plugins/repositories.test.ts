import { existsSync } from 'node:fs'
import t from 'tap'
import { startHost, type TestHost } from '../support/host.ts'

let h: TestHost
const as = 'alice'
const created = (name: string, more: object = {}) => h.call('POST', '/user/repos', { name, ...more }, { as })

t.before(async () => {
  h = await startHost(t)
  for (const name of ['alice', 'bob', 'carol', 'dave']) await h.user(name)
  await h.user('lim', { visibility: 'limited' })
  await h.user('pri', { visibility: 'private' })
  await h.user('rita', { is_restricted: true })
})

t.test('create: an empty repository has every default of the contract', async (t) => {
  const { status, body } = await created('empty', { description: 'nothing yet', private: false })
  t.equal(status, 201)
  t.match(body, {
    full_name: 'alice/empty',
    empty: true,
    default_branch: 'main',
    private: false,
    archived: false,
    archived_at: '1970-01-01T00:00:00Z',
    mirror_updated: '0001-01-01T00:00:00Z',
    permissions: { admin: true, push: true, pull: true },
    has_issues: true,
    internal_tracker: { enable_time_tracker: true },
    has_pull_requests: true,
    allow_manual_merge: false,
    default_merge_style: 'merge',
    watchers_count: 1,
    topics: [],
    licenses: [],
    object_format_name: 'sha1',
    clone_url: `${h.base}/alice/empty.git`,
    ssh_url: 'git@127.0.0.1:alice/empty.git',
  })
  t.notOk('external_tracker' in body)
  t.notOk('parent' in body)
})

t.test('create: with a first commit', async (t) => {
  const more = { auto_init: true, gitignores: 'Go,Node', license: 'MIT', readme: 'Default', default_branch: 'trunk' }
  const { status, body } = await created('filled', { ...more, description: 'What it is.' })
  t.equal(status, 201)
  t.match(body, { empty: false, default_branch: 'trunk', branch_count: 1 })
  const at = (file: string) => h.call('GET', `/repos/alice/filled/raw/${file}`, undefined, { as })
  t.match((await at('README.md')).body, /# filled\n\nWhat it is\./)
  t.match((await at('.gitignore')).body, /# ---> Go\n[\s\S]*# ---> Node\n/)
  t.match((await at('LICENSE')).body, new RegExp(`${new Date().getFullYear()} alice`))
})

t.test('create: what is refused is told, and nothing is left', async (t) => {
  const refused: [object, number, RegExp][] = [
    [{}, 422, /^\[Name\]: Required/],
    [{ name: '' }, 422, /^\[Name\]: Required/],
    [{ name: 'a b' }, 422, /^\[Name\]: AlphaDashDot/],
    [{ name: 'x'.repeat(101) }, 422, /^\[Name\]: MaxSize/],
    [{ name: '.' }, 422, /name is reserved \[name: \.\]/],
    [{ name: '..' }, 422, /name/],
    [{ name: 'a..b' }, 422, /name/],
    [{ name: 'x.wiki' }, 422, /name pattern is not allowed \[pattern: \*\.wiki\]/],
    [{ name: 'x.GIT' }, 422, /name pattern/],
    [{ name: 'EMPTY' }, 409, /The repository with the same name already exists\./],
    [{ name: 'r', description: 'd'.repeat(2049) }, 422, /MaxSize/],
    [{ name: 'r', default_branch: 'a..b' }, 422, /GitRefName/],
    [{ name: 'r', auto_init: true, readme: 'Nope' }, 400, /readme template does not exist/],
    [{ name: 'r', auto_init: true, gitignores: 'Nope' }, 422, /gitignore template/],
    [{ name: 'r', auto_init: true, license: 'Nope' }, 422, /license template/],
    [{ name: 'r', issue_labels: 'Nope' }, 422, /label template/],
    [{ name: 'r', object_format_name: 'sha9' }, 422, /object format/],
    [{ name: 5 }, 422, /cannot unmarshal/],
  ]
  for (const [body, status, message] of refused) {
    const answer = await h.call('POST', '/user/repos', body, { as })
    t.equal(answer.status, status, JSON.stringify(body).slice(0, 60))
    t.match(answer.body.message, message)
  }
  t.equal((await h.call('GET', '/repos/alice/r', undefined, { as })).status, 404)
  t.equal((await h.call('POST', '/user/repos', { name: 'r' }, { as: null })).status, 401)
})

t.test('create: fifty at once with one name make one', async (t) => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => created('racy')))
  const statuses = answers.map((answer) => answer.status)
  t.equal(statuses.filter((status) => status === 201).length, 1)
  t.equal(statuses.filter((status) => status === 409).length, 49)
})

t.test('create: limits', async (t) => {
  const dave = await h.rooms.identity.accounts.byName('dave')
  await h.rooms.opened.database.tx((tx) => h.rooms.identity.accounts.edit(tx, dave?.id ?? 0, { max_repo_creation: 1 }))
  t.equal((await h.call('POST', '/user/repos', { name: 'a' }, { as: 'dave' })).status, 201)
  const second = await h.call('POST', '/user/repos', { name: 'b' }, { as: 'dave' })
  t.match(second, { status: 403, body: { message: 'user has reached maximum limit of repositories [limit: 1]' } })
  t.equal((await h.call('POST', '/admin/users/dave/repos', { name: 'b' })).status, 201, 'administrators are exempt')
  t.equal((await h.call('POST', '/admin/users/nobody/repos', { name: 'b' })).status, 404)
  t.equal((await h.call('POST', '/admin/users/dave/repos', { name: 'c' }, { as: 'bob' })).status, 403)
})

t.test('edit: only what is given changes', async (t) => {
  const before = (await h.call('GET', '/repos/alice/empty', undefined, { as })).body
  const { status, body } = await h.call('PATCH', '/repos/alice/empty', { description: 'changed' }, { as })
  t.equal(status, 200)
  t.strictSame({ ...body, updated_at: '' }, { ...before, description: 'changed', updated_at: '' })
})

t.test('edit: units and their settings', async (t) => {
  const edit = async (wanted: object) => (await h.call('PATCH', '/repos/alice/empty', wanted, { as })).body
  t.match(await edit({ has_wiki: false, has_projects: false, has_releases: false }), {
    has_wiki: false,
    has_projects: false,
    projects_mode: 'all',
    has_releases: false,
  })
  t.match(await edit({ has_pull_requests: false }), {
    has_pull_requests: false,
    allow_merge_commits: false,
    allow_manual_merge: true,
    default_merge_style: 'merge',
  })
  t.match(await edit({ allow_squash_merge: false }), {
    has_pull_requests: true,
    allow_squash_merge: false,
    allow_rebase: true,
  })
  t.match(await edit({ internal_tracker: { enable_time_tracker: false } }), {
    internal_tracker: { enable_time_tracker: true },
  })
  t.match(await edit({ has_issues: true, internal_tracker: { enable_issue_dependencies: true } }), {
    internal_tracker: {
      enable_time_tracker: false,
      allow_only_contributors_to_track_time: false,
      enable_issue_dependencies: true,
    },
  })
  const external = await edit({
    has_issues: true,
    external_tracker: { external_tracker_url: 'https://issues.example.com' },
  })
  t.match(external, { has_issues: true, external_tracker: { external_tracker_url: 'https://issues.example.com' } })
  t.notOk('internal_tracker' in external)
  t.match(await edit({ has_wiki: true, external_wiki: { external_wiki_url: 'https://wiki.example.com' } }), {
    has_wiki: true,
    external_wiki: { external_wiki_url: 'https://wiki.example.com' },
  })
  t.match(await edit({ has_projects: true, projects_mode: 'owner' }), { projects_mode: 'owner' })
  t.match(await edit({ mirror_interval: '8h' }), { mirror_interval: '' }, 'ignored on what is no mirror')
})

t.test('edit: what is refused changes nothing', async (t) => {
  const refused: [object, RegExp][] = [
    [{ has_issues: true, external_tracker: { external_tracker_url: 'nowhere' } }, /External tracker URL not valid/],
    [{ has_wiki: true, external_wiki: { external_wiki_url: 'ftp://x' } }, /Invalid external wiki URL/],
    [{ has_projects: true, projects_mode: 'x' }, /ProjectsMode/],
    [{ default_update_style: 'x' }, /default update style must be merge or rebase/],
    [{ allow_merge_update: false, allow_rebase_update: false }, /at least one pull request branch update style/],
    [{ allow_merge_update: false }, /default update style must be enabled/],
    [{ name: 'filled' }, /repository already exists \[uname: alice, name: filled\]/],
    [{ name: 'x.git' }, /name pattern/],
    [{ description: 'new', name: '..' }, /name/],
  ]
  const before = (await h.call('GET', '/repos/alice/empty', undefined, { as })).body
  for (const [body, message] of refused) {
    const answer = await h.call('PATCH', '/repos/alice/empty', body, { as })
    t.equal(answer.status, 422, JSON.stringify(body))
    t.match(answer.body.message, message)
  }
  t.strictSame((await h.call('GET', '/repos/alice/empty', undefined, { as })).body, before)
})

t.test('rename: the old name redirects whatever the method, until somebody takes it', async (t) => {
  await created('old')
  t.equal((await h.call('PATCH', '/repos/alice/old', { name: 'Old' }, { as })).body.name, 'Old')
  await h.call('PATCH', '/repos/alice/old', { name: 'new' }, { as })
  for (const [method, path] of [
    ['GET', '/repos/alice/old'],
    ['DELETE', '/repos/ALICE/OLD/topics/x?a=1'],
  ] as const) {
    const { status, headers } = await h.call(method, path, undefined, { as })
    t.equal(status, 301)
    t.equal(headers.get('location'), `/api/v1${path.replace(/alice\/old/i, 'alice/new')}`)
  }
  await created('old')
  t.equal((await h.call('GET', '/repos/alice/old', undefined, { as })).status, 200)
})

t.test('who sees what', async (t) => {
  await h.call('POST', '/user/repos', { name: 'pub' }, { as: 'lim' })
  await h.call('POST', '/user/repos', { name: 'pub' }, { as: 'pri' })
  await created('secret', { private: true })
  const statusFor = async (repo: string, principal: string | null) =>
    (await h.call('GET', `/repos/${repo}`, undefined, { as: principal })).status
  const table: [string, (string | null)[], (string | null)[]][] = [
    ['alice/empty', [null, 'bob', 'alice', 'admin'], ['rita']],
    ['alice/secret', ['alice', 'admin'], [null, 'bob', 'rita']],
    ['lim/pub', ['lim', 'bob', 'admin'], [null, 'rita']],
    ['pri/pub', ['pri', 'admin'], [null, 'bob', 'rita']],
  ]
  for (const [repo, may, mayNot] of table) {
    for (const who of may) t.equal(await statusFor(repo, who), 200, `${who} sees ${repo}`)
    for (const who of mayNot) t.equal(await statusFor(repo, who), 404, `${who} does not see ${repo}`)
  }
  const names = async (who: string | null) =>
    (await h.call('GET', '/repos/search?limit=50', undefined, { as: who })).body.data.map(
      (repo: { full_name: string }) => repo.full_name,
    )
  for (const [repo, may, mayNot] of table) {
    for (const who of may) t.ok((await names(who)).includes(repo), `${who} finds ${repo}`)
    for (const who of mayNot) t.notOk((await names(who)).includes(repo), `${who} does not find ${repo}`)
  }
  await h.call('PUT', '/repos/alice/secret/collaborators/rita', { permission: 'read' }, { as })
  t.equal(await statusFor('alice/secret', 'rita'), 200, 'what was granted is seen')
  const missing = await h.call('GET', '/repos/alice/nowhere', undefined, { as: 'bob' })
  const hidden = await h.call('GET', '/repos/alice/secret', undefined, { as: 'bob' })
  t.strictSame(missing.body, hidden.body)
  const token = await h.tokenWith('alice', ['read:repository', 'public-only'])
  t.equal((await h.call('GET', '/repos/alice/secret', undefined, { auth: `token ${token}` })).status, 404)
  t.equal((await h.call('GET', '/repos/alice/empty', undefined, { auth: `token ${token}` })).status, 200)
})

t.test('collaborators: roles, rights and their end', async (t) => {
  const path = '/repos/alice/filled/collaborators'
  t.equal((await h.call('PUT', `${path}/bob`, {}, { as })).status, 204)
  t.equal((await h.call('GET', `${path}/bob`, undefined, { as: 'carol' })).status, 204)
  t.match((await h.call('GET', `${path}/bob/permission`, undefined, { as })).body, {
    permission: 'write',
    role_name: 'write',
    user: { login: 'bob' },
  })
  t.equal((await h.call('GET', `${path}/bob/permission`, undefined, { as: 'bob' })).status, 200)
  t.equal((await h.call('GET', `${path}/bob/permission`, undefined, { as: 'carol' })).status, 403)
  t.equal((await h.call('PUT', `${path}/bob`, { permission: 'admin' }, { as })).status, 204)
  t.equal((await h.call('PATCH', '/repos/alice/filled', { website: 'https://example.com' }, { as: 'bob' })).status, 200)
  t.equal((await h.call('DELETE', '/repos/alice/filled', undefined, { as: 'bob' })).status, 403, 'owners only')
  const listed = await h.call('GET', path, undefined, { as })
  t.match(listed.body, [{ login: 'bob' }])
  t.equal(listed.headers.get('x-total-count'), '1')
  t.equal((await h.call('GET', path, undefined, { as: null })).status, 401)
  t.equal((await h.call('PUT', `${path}/nobody`, {}, { as })).status, 422)
  t.equal((await h.call('PUT', `${path}/bob`, { permission: 'x' }, { as })).status, 422)
  t.equal((await h.call('PUT', `${path}/carol`, {}, { as: 'carol' })).status, 403)
  t.equal((await h.call('DELETE', `${path}/bob`, undefined, { as })).status, 204)
  t.equal((await h.call('DELETE', `${path}/bob`, undefined, { as })).status, 204)
  t.equal((await h.call('GET', `${path}/bob`, undefined, { as })).status, 404)
  t.equal((await h.call('PATCH', '/repos/alice/filled', { website: '' }, { as: 'bob' })).status, 403)
})

t.test('search: words, flags, modes, sorts and pages', async (t) => {
  for (const name of ['find-me', 'find-you', 'other'])
    await h.call('POST', '/user/repos', { name, description: 'zzz-desc' }, { as: 'carol' })
  await h.call('PUT', '/repos/carol/other/topics', { topics: ['needle'] }, { as: 'carol' })
  const search = async (query: string, who: string | null = null) =>
    (await h.call('GET', `/repos/search?${query}`, undefined, { as: who })).body.data?.map(
      (repo: { name: string }) => repo.name,
    )
  const carol = await h.rooms.identity.accounts.byName('carol')
  t.strictSame(await search('q=FIND-'), ['find-me', 'find-you'])
  t.strictSame(await search('q=find-me,find-you'), ['find-me', 'find-you'])
  t.strictSame(await search('q=carol/find-m'), ['find-me'])
  t.strictSame(await search('q=carol'), [], 'an owner alone is no word')
  t.strictSame(await search('q=needl'), ['other'], 'part of a topic')
  t.strictSame(await search('q=needl&topic=true'), [], 'only exact topics')
  t.strictSame(await search('q=needle&topic=true'), ['other'])
  t.strictSame(await search('q=zzz-desc'), [])
  t.strictSame(await search('q=zzz-desc&includeDesc=true'), ['find-me', 'find-you', 'other'])
  t.strictSame(await search('q=%25'), [], 'a pattern is a word like any other')
  t.strictSame(await search(`uid=${carol?.id}&sort=created&order=desc`), ['other', 'find-you', 'find-me'])
  t.strictSame(await search(`uid=${carol?.id}&exclusive=true&sort=id&limit=1&page=2`), ['find-you'])
  t.strictSame(await search(`uid=${carol?.id}&mode=fork`), [])
  t.strictSame(await search(`uid=${carol?.id}&mode=source&archived=true`), [])
  t.strictSame(await search('uid=abc&q=find-me'), ['find-me'], 'an unreadable id is no filter')
  t.ok((await search('is_private=true', 'alice')).includes('secret'))
  t.notOk((await search('private=false', 'alice')).includes('secret'))
  for (const bad of ['mode=x', 'sort=x', 'sort=id&order=x']) {
    t.equal((await h.call('GET', `/repos/search?${bad}`)).status, 422, bad)
  }
  const page = await h.call('GET', '/repos/search?q=find&limit=1', undefined, { as: null })
  t.equal(page.headers.get('x-total-count'), '2')
  const address = `${h.base}/api/v1/repos/search?limit=1&page=2&q=find`
  t.equal(page.headers.get('link'), `<${address}>; rel="next",<${address}>; rel="last"`)
  const beyond = await h.call('GET', '/repos/search?q=find&limit=1&page=9', undefined, { as: null })
  t.strictSame(beyond.body, { ok: true, data: [] })
  t.equal(beyond.headers.get('x-total-count'), '2')
})

t.test('lists: own, of somebody, by id; one query each', async (t) => {
  const mine = await h.call('GET', '/user/repos', undefined, { as })
  t.ok(mine.body.length > 3)
  const carols = await h.call('GET', '/users/carol/repos', undefined, { as: null })
  t.strictSame(
    carols.body.map((repo: { name: string }) => repo.name),
    ['find-me', 'find-you', 'other'],
  )
  const one = await h.call('GET', `/repositories/${carols.body[0].id}`, undefined, { as })
  t.equal(one.body.full_name, 'carol/find-me')
  t.equal((await h.call('GET', `/repositories/${carols.body[0].id}`, undefined, { as: null })).status, 401)
  t.equal((await h.call('GET', '/repositories/99999999', undefined, { as })).status, 404)
  t.equal((await h.call('GET', '/repositories/abc', undefined, { as })).status, 404)
  for (const path of ['/user/repos', '/users/carol/repos', '/repos/search']) {
    const token = { auth: `token ${h.token('carol')}` }
    const few = await h.queriesOf('GET', `${path}?limit=1`, token)
    const many = await h.queriesOf('GET', `${path}?limit=50`, token)
    t.equal(few, many, path)
    t.ok(few <= 3, `${path}: credentials, owner, list`)
  }
  t.equal(
    await h.queriesOf('GET', '/repos/carol/other', { auth: `token ${h.token('carol')}` }),
    2,
    'credentials and the record',
  )
})

t.test('pictures: set, served, refused, removed', async (t) => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  t.equal((await h.call('POST', '/repos/alice/filled/avatar', { image: png }, { as })).status, 204)
  const url: string = (await h.call('GET', '/repos/alice/filled')).body.avatar_url
  t.match(url, /\/repo-avatars\/[0-9a-f]{64}$/)
  const picture = await fetch(url)
  t.equal(picture.headers.get('content-type'), 'image/png')
  t.equal((await picture.arrayBuffer()).byteLength, Buffer.from(png, 'base64').length)
  for (const [image, status] of [
    ['', 422],
    ['***', 400],
    ['data:image/png;base64,AAAA', 400],
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64'), 422],
    [Buffer.from('no picture').toString('base64'), 422],
  ] as const) {
    t.equal((await h.call('POST', '/repos/alice/filled/avatar', { image }, { as })).status, status, image.slice(0, 20))
  }
  t.equal((await h.call('DELETE', '/repos/alice/filled/avatar', undefined, { as })).status, 204)
  t.equal((await h.call('GET', '/repos/alice/filled')).body.avatar_url, '')
})

t.test('delete: the record goes at once, the folder with it', async (t) => {
  const { body } = await created('gone', { auto_init: true })
  const dir = h.rooms.repos.gitDir(body)
  t.ok(existsSync(dir))
  t.equal((await h.call('DELETE', '/repos/alice/gone', undefined, { as: 'bob' })).status, 403)
  t.equal((await h.call('DELETE', '/repos/alice/gone', undefined, { as: null })).status, 401)
  t.equal((await h.call('DELETE', '/repos/alice/gone', undefined, { as })).status, 204)
  t.equal((await h.call('GET', '/repos/alice/gone', undefined, { as })).status, 404)
  await h.idle()
  t.notOk(existsSync(dir))
})
