/** Branches, tags, commits and objects over real HTTP, with real git on both sides. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { startHost, type TestHost } from '../support/host.ts'

t.setTimeout(120_000)

const R = '/repos/alice/one'
const as = 'alice'
let h: TestHost
let folder: string
let dir: string

type Named = { readonly name: string }
type Sha = { readonly sha: string }

/** Runs git as a client; throws when it fails. */
function git(cwd: string, args: readonly string[], extra: Record<string, string> = {}): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Alice A',
    GIT_AUTHOR_EMAIL: 'alice@example.com',
    GIT_COMMITTER_NAME: 'Alice A',
    GIT_COMMITTER_EMAIL: 'alice@example.com',
    ...extra,
  }
  return run('git', args, { cwd, env })
}

function run(program: string, args: readonly string[], how: { cwd: string; env?: Record<string, string | undefined> }) {
  return new Promise<string>((resolve, reject) => {
    const options = { ...how, env: how.env ?? process.env, maxBuffer: 1 << 26 }
    execFile(program, args, options, (error, out, err) =>
      error ? reject(new Error(`${err} ${out}`)) : resolve(out.trim()),
    )
  })
}

async function commit(
  work: string,
  files: Record<string, string>,
  message: string,
  extra: Record<string, string> = {},
) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(work, path)), { recursive: true })
    await writeFile(join(work, path), content)
  }
  await git(work, ['add', '-A'])
  await git(work, ['commit', '-q', '--allow-empty', '-m', message], extra)
  return git(work, ['rev-parse', 'HEAD'])
}

const push = (work: string, repo: string, ...refs: string[]) =>
  git(work, ['push', '-q', h.remote('alice', `/alice/${repo}.git`), ...refs])
const at = (date: string) => ({ GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date })
const post = (path: string, body: unknown, who = as) => h.call('POST', path, body, { as: who })
const get = (path: string, who: string | null = as) => h.call('GET', path, undefined, { as: who })
const names = (body: readonly Named[]) => body.map(({ name }) => name)
const shas = (body: readonly Sha[]) => body.map(({ sha }) => sha)
type Change = { name: string; before: string | null; after: string | null }
type Push = { changes: Change[]; newDefaultBranch: string | null; renamed?: { from: string; to: string } }
/** What the last recorded push says. */
async function lastPush(): Promise<Push | undefined> {
  const rows = h.rooms.opened.database
    .sql<{ outbox: { id: number; name: string; payload: Push } }>()
    .selectFrom('outbox')
    .select('payload')
    .where('name', '=', 'repository.pushed')
  return (await rows.orderBy('id', 'desc').limit(1).executeTakeFirst())?.payload
}

/** Ids of the three commits on main, oldest first. */
const ids: string[] = []

t.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'git-data-'))
  h = await startHost(t)
  for (const name of ['alice', 'bob', 'carol']) await h.user(name)
  for (const name of ['one', 'empty', 'moves', 'races', 'old']) await post('/user/repos', { name })
  await post('/user/repos', { name: 'secret', private: true, auto_init: true })
  dir = join(folder, 'work')
  await git(folder, ['init', '-q', '-b', 'main', dir])
  const mit = await h.call('GET', '/licenses/MIT')
  ids.push(
    await commit(
      dir,
      { LICENSE: mit.body.body, 'src/a.ts': 'export const a = 1\n' },
      'one',
      at('2024-01-01T10:00:00Z'),
    ),
  )
  ids.push(await commit(dir, { 'src/b.py': 'print(1)\nprint(2)\n' }, 'two', at('2024-02-01T10:00:00+02:00')))
  ids.push(
    await commit(
      dir,
      { 'src/a.ts': 'export const a = 2\n', 'docs/x/y.txt': 'y\n' },
      'three\n\nWhy not.',
      at('2024-03-01T10:00:00Z'),
    ),
  )
  await git(dir, ['notes', 'add', '-m', 'well done', ids[1] as string])
  await git(dir, ['tag', 'light', ids[0] as string])
  await git(dir, ['tag', '-a', '-m', 'first release', 'rel/v1', ids[1] as string], at('2024-04-01T10:00:00Z'))
  await git(dir, ['branch', 'topic/old', ids[0] as string])
  await push(dir, 'one', 'main', 'topic/old', '--tags', 'refs/notes/commits')
})
t.teardown(() => rm(folder, { recursive: true, force: true }))

t.test('branches: listed newest first, filtered, paged, shown', async (t) => {
  const all = await get(`${R}/branches`, null)
  t.same(names(all.body), ['main', 'topic/old'])
  t.equal(all.headers.get('x-total-count'), '2')
  t.match(all.body[0], {
    commit: {
      id: ids[2],
      message: 'three\n\nWhy not.\n',
      url: `${h.base}/alice/one/commit/${ids[2]}`,
      author: { name: 'Alice A', email: 'alice@example.com', username: 'alice' },
      verification: { verified: false, reason: 'gpg.error.not_signed_commit', signer: null },
      timestamp: '2024-03-01T10:00:00Z',
      added: null,
    },
    protected: false,
    status_check_contexts: [],
    user_can_push: false,
    effective_branch_protection_name: '',
  })
  t.equal((await get(`${R}/branches/main`)).body.user_can_push, true)
  t.same(names((await get(`${R}/branches?q=OLD`)).body), ['topic/old'])
  const second = await get(`${R}/branches?limit=1&page=2`)
  t.same(names(second.body), ['topic/old'])
  t.match(second.headers.get('link'), /rel="prev"/)
  t.equal((await get(`${R}/branches/topic/old`)).body.commit.id, ids[0])
  t.equal((await get(`${R}/branches/topic%2Fold`)).body.commit.id, ids[0])
  t.match(await get(`${R}/branches/topic`), { status: 404, body: { message: 'not found' } })
  const queries = await h.queriesOf('GET', `${R}/branches`, { as })
  for (let i = 0; i < 5; i += 1) await post(`${R}/branches`, { new_branch_name: `many/${i}`, old_ref_name: ids[i % 3] })
  t.equal(await h.queriesOf('GET', `${R}/branches`, { as }), queries, 'as many for seven as for two')
  for (let i = 0; i < 5; i += 1) await h.call('DELETE', `${R}/branches/many/${i}`, undefined, { as })
})

t.test('an empty repository', async (t) => {
  const E = '/repos/alice/empty'
  t.match(await get(`${E}/branches`), { status: 200, body: null })
  t.match(await get(`${E}/tags`), { status: 200, body: [] })
  t.match(await get(`${E}/languages`), { status: 200, body: {} })
  t.match(await get(`${E}/licenses`), { status: 200, body: [] })
  t.match(await get(`${E}/commits`), { status: 409, body: { message: 'Git Repository is empty.' } })
  for (const path of [
    'git/refs',
    'git/refs/heads',
    'git/notes/main',
    'git/commits/main',
    'branches/main',
    'compare/a...b',
    'archive/main.zip',
  ]) {
    t.equal((await get(`${E}/${path}`)).status, 404, path)
  }
  const nothing = '1'.repeat(40)
  for (const path of ['git/trees/main', `git/blobs/${nothing}`, `git/tags/${nothing}`]) {
    t.equal((await get(`${E}/${path}`)).status, 400, path)
  }
  t.match(await post(`${E}/branches`, { new_branch_name: 'x' }), {
    status: 404,
    body: { message: 'Git Repository is empty.' },
  })
  t.equal((await post(`${E}/tags`, { tag_name: 'x' })).status, 404)
})

t.test('branches: create', async (t) => {
  const made = await post(`${R}/branches`, { new_branch_name: 'feature/a', old_ref_name: 'rel/v1' })
  t.match(made, { status: 201, body: { name: 'feature/a', commit: { id: ids[1] } } })
  t.equal(
    await git(dir, ['ls-remote', `${h.base}/alice/one.git`, 'refs/heads/feature/a']),
    `${ids[1]}\trefs/heads/feature/a`,
  )
  t.match(await lastPush(), { changes: [{ name: 'refs/heads/feature/a', before: null, after: ids[1] }] })
  t.match(await post(`${R}/branches`, { new_branch_name: 'short', old_ref_name: ids[0]?.slice(0, 8) }), { status: 201 })
  t.match(await post(`${R}/branches`, { new_branch_name: 'plain' }), { body: { commit: { id: ids[2] } } })
  for (const [body, status, message] of [
    [{ new_branch_name: 'plain' }, 409, 'The branch already exists.'],
    [{ new_branch_name: 'plain/x' }, 409, 'The branch with the same name already exists.'],
    [{ new_branch_name: 'feature' }, 409, 'The branch with the same name already exists.'],
    [{ new_branch_name: 'light' }, 409, 'The branch with the same tag already exists.'],
    [{ new_branch_name: 'n', old_branch_name: 'nope' }, 404, 'The old branch does not exist'],
    [{ new_branch_name: 'n', old_ref_name: 'nope' }, 404, 'object does not exist [id: nope, rel_path: ]'],
    [{}, 422, '[BranchName]: Required'],
    [{ new_branch_name: 'a'.repeat(101) }, 422, '[BranchName]: MaxSize'],
  ] as const) {
    t.match(await post(`${R}/branches`, body), { status, body: { message } }, JSON.stringify(body))
  }
  for (const name of [
    '-x',
    'a b',
    'a..b',
    'a@{b',
    '.a',
    'a.lock',
    'a/',
    '/a',
    'a//b',
    'HEAD',
    'a\u0007',
    'a~1',
    'x:y',
  ]) {
    t.equal((await post(`${R}/branches`, { new_branch_name: name })).status, 422, name)
  }
  t.equal((await post(`${R}/branches`, { new_branch_name: 'no' }, 'bob')).status, 403)
  t.equal((await h.call('POST', `${R}/branches`, { new_branch_name: 'no' }, { as: null })).status, 401)
  t.equal((await post('/repos/alice/secret/branches', { new_branch_name: 'no' }, 'bob')).status, 404)
})

t.test('branches: rename, also the default one', async (t) => {
  await push(dir, 'moves', 'main', 'topic/old')
  const M = '/repos/alice/moves'
  const rename = (branch: string, name: string, who = as) =>
    h.call('PATCH', `${M}/branches/${branch}`, { name }, { as: who })
  await h.call('PUT', `${M}/collaborators/bob`, { permission: 'write' }, { as })
  t.equal((await rename('topic/old', 'topic/new', 'bob')).status, 204)
  t.match(await lastPush(), {
    changes: [
      { name: 'refs/heads/topic/new', before: null, after: ids[0] },
      { name: 'refs/heads/topic/old', before: ids[0], after: null },
    ],
    renamed: { from: 'refs/heads/topic/old', to: 'refs/heads/topic/new' },
  })
  t.match(await rename('main', 'trunk', 'bob'), { status: 403, body: { message: /must be a repo or site admin/ } })
  t.equal((await rename('main', 'trunk')).status, 204)
  t.match((await get(M)).body, { default_branch: 'trunk', branch_count: 2 })
  t.match(await lastPush(), { newDefaultBranch: 'trunk' })
  t.match(await git(dir, ['ls-remote', '--symref', `${h.base}/alice/moves.git`, 'HEAD']), /refs\/heads\/trunk\tHEAD/)
  for (const [branch, name, status, message] of [
    ['trunk', 'trunk', 422, /using the same name/],
    ['trunk', 'topic/new', 422, /already exists/],
    ['nope', 'other', 404, "Branch doesn't exist."],
    ['trunk', 'topic', 409, 'The branch with the same name already exists.'],
    ['trunk', 'a..b', 422, '[Name]: GitRefName'],
  ] as const) {
    t.match(await rename(branch, name), { status, body: { message } }, `${branch} to ${name}`)
  }
  t.match((await get(M)).body, { default_branch: 'trunk' }, 'a refused rename changes nothing')
  const many = await Promise.all(['a', 'b', 'c', 'd'].map((name) => rename('trunk', `trunk-${name}`)))
  t.equal(many.filter(({ status }) => status === 204).length, 1)
  t.ok(many.every(({ status }) => [204, 404, 409].includes(status)))
  const winner = (await get(M)).body.default_branch
  t.match(await git(dir, ['ls-remote', '--symref', `${h.base}/alice/moves.git`, 'HEAD']), `refs/heads/${winner}\tHEAD`)
  t.equal((await rename(winner, 'trunk')).status, 204)
  t.match(await git(dir, ['ls-remote', '--symref', `${h.base}/alice/moves.git`, 'HEAD']), /refs\/heads\/trunk\tHEAD/)
})

t.test('branches: move and delete', async (t) => {
  const M = '/repos/alice/moves'
  const move = (branch: string, body: object) => h.call('PUT', `${M}/branches/${branch}`, body, { as })
  t.equal((await move('topic/new', { new_commit_id: 'trunk', old_commit_id: ids[0] })).status, 204)
  t.equal((await get(`${M}/branches/topic/new`)).body.commit.id, ids[2])
  for (const [branch, body, status, message] of [
    ['topic/new', { new_commit_id: ids[0] }, 422, 'Force push topic/new need a confirm force parameter'],
    ['topic/new', { new_commit_id: ids[1], old_commit_id: ids[0], force: true }, 422, /branch commit does not match/],
    ['topic/new', { new_commit_id: 'nope' }, 422, /object does not exist/],
    ['topic/new', { new_commit_id: 'trunk', old_commit_id: 'nope' }, 422, /object does not exist/],
    ['topic/new', {}, 422, '[NewCommitID]: Required'],
    ['nope', { new_commit_id: 'trunk' }, 404, 'not found'],
  ] as const) {
    t.match(await move(branch, body), { status, body: { message } }, JSON.stringify(body))
  }
  t.equal((await move('topic/new', { new_commit_id: ids[0], force: true })).status, 204)
  t.equal((await get(`${M}/branches/topic/new`)).body.commit.id, ids[0])
  const remove = (branch: string, who = as) => h.call('DELETE', `${M}/branches/${branch}`, undefined, { as: who })
  t.match(await remove('trunk'), {
    status: 403,
    body: { message: 'can not delete default or pull request target branch' },
  })
  t.equal((await remove('topic/new', 'carol')).status, 403)
  t.equal((await remove('topic/new')).status, 204)
  t.equal((await remove('topic/new')).status, 404)
  t.equal((await get(`${M}/branches/topic/new`)).status, 404)
})

t.test('an archived repository stays as it is', async (t) => {
  await push(dir, 'old', 'main', '--tags')
  const O = '/repos/alice/old'
  await h.call('PATCH', O, { archived: true }, { as })
  const frozen = { status: 423, body: { message: 'repo is archived' } }
  t.match(await post(`${O}/branches`, { new_branch_name: 'x' }), frozen)
  t.match(await h.call('PATCH', `${O}/branches/main`, { name: 'x' }, { as }), frozen)
  t.match(await h.call('PUT', `${O}/branches/main`, { new_commit_id: ids[0] }, { as }), frozen)
  t.match(await h.call('DELETE', `${O}/branches/main`, undefined, { as }), frozen)
  t.match(await post(`${O}/tags`, { tag_name: 'x' }), frozen)
  t.match(await h.call('DELETE', `${O}/tags/light`, undefined, { as }), frozen)
  t.equal((await get(`${O}/commits`)).status, 200)
})

t.test('many who want the same branch or tag: one gets it, the others hear why not', async (t) => {
  await push(dir, 'races', 'main')
  const X = '/repos/alice/races'
  for (const round of [1, 2, 3]) {
    const wanted = Array.from({ length: 8 }, () => `same/${round}`)
    const branches = await Promise.all(wanted.map((name) => post(`${X}/branches`, { new_branch_name: name })))
    t.same(branches.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)])
    const tags = await Promise.all(wanted.map((name) => post(`${X}/tags`, { tag_name: `t/${name}`, message: 'x' })))
    t.same(tags.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)])
  }
  const different = await Promise.all(
    Array.from({ length: 12 }, (_, i) => post(`${X}/branches`, { new_branch_name: `own/${i}` })),
  )
  t.same(new Set(different.map(({ status }) => status)), new Set([201]))
  const gone = await Promise.all(
    Array.from({ length: 12 }, (_, i) => h.call('DELETE', `${X}/branches/own/${i}`, undefined, { as })),
  )
  t.same(new Set(gone.map(({ status }) => status)), new Set([204]))
  const inGit = (await git(dir, ['ls-remote', '--heads', `${h.base}/alice/races.git`])).split('\n').length
  t.equal((await get(`${X}/branches?limit=50`)).body.length, inGit)
})

t.test('commits: history, parts, windows, paging', async (t) => {
  const all = await get(`${R}/commits`, null)
  t.same(shas(all.body), [...ids].reverse())
  for (const [name, value] of [
    ['x-total-count', '3'],
    ['x-total', '3'],
    ['x-page', '1'],
    ['x-perpage', '30'],
    ['x-pagecount', '1'],
    ['x-hasmore', 'false'],
  ] as const) {
    t.equal(all.headers.get(name), value, name)
  }
  t.match(all.headers.get('access-control-expose-headers'), /X-Total-Count.*X-HasMore/)
  const [third] = all.body
  const url = `${h.base}/api/v1${R}/git`
  t.match(third, {
    url: `${url}/commits/${ids[2]}`,
    html_url: `${h.base}/alice/one/commit/${ids[2]}`,
    created: '2024-03-01T10:00:00Z',
    commit: {
      message: 'three\n\nWhy not.\n',
      author: { name: 'Alice A', email: 'alice@example.com', date: '2024-03-01T10:00:00Z' },
      tree: { sha: ids[2], url: `${url}/trees/${ids[2]}`, created: '2024-03-01T10:00:00Z' },
    },
    author: { login: 'alice', email: /noreply/ },
    committer: { login: 'alice' },
    parents: [{ sha: ids[1], url: `${url}/commits/${ids[1]}`, created: '0001-01-01T00:00:00Z' }],
    files: [
      { filename: 'docs/x/y.txt', status: 'added' },
      { filename: 'src/a.ts', status: 'modified' },
    ],
    stats: { total: 3, additions: 2, deletions: 1 },
  })
  t.equal(all.body[1].commit.committer.date, '2024-02-01T10:00:00+02:00', 'the offset stays')
  const bare = (await get(`${R}/commits?stat=false&verification=false&files=false`)).body[0]
  t.match(bare, { stats: null, files: null, commit: { verification: null } })
  t.same(shas((await get(`${R}/commits?sha=rel/v1`)).body), [ids[1], ids[0]])
  t.same(shas((await get(`${R}/commits?not=light`)).body), [ids[2], ids[1]])
  t.same(shas((await get(`${R}/commits?path=src/b.py`)).body), [ids[1]])
  t.same(shas((await get(`${R}/commits?since=2024-01-15T00:00:00Z&until=2024-02-15T00:00:00Z`)).body), [ids[1]])
  t.match(await get(`${R}/commits?path=src&until=2000-01-01T00:00:00Z`), { status: 200, body: [] })
  const page = await get(`${R}/commits?limit=1&page=2`)
  t.same(shas(page.body), [ids[1]])
  t.equal(page.headers.get('x-hasmore'), 'true')
  t.match(page.headers.get('link'), /page=3>; rel="next"/)
  t.same((await get(`${R}/commits?page=9`)).body, [])
  t.equal((await get(`${R}/commits?path=nope`)).status, 404)
  t.equal((await get(`${R}/commits?sha=nope`)).status, 404)
  t.equal((await get(`${R}/commits?not=nope`)).status, 404)
  t.match(await get(`${R}/commits?since=yesterday`), { status: 422, body: { message: /invalid 'since' format/ } })
  t.equal(await h.queriesOf('GET', `${R}/commits`, { as }), 3, 'credentials, repository, accounts')
})

t.test('one commit, by name, id and short id; as diff and as patch', async (t) => {
  for (const name of ['main', ids[2], ids[2]?.slice(0, 7)])
    t.equal((await get(`${R}/git/commits/${name}`)).body.sha, ids[2])
  t.equal((await get(`${R}/git/commits/rel%2Fv1`)).body.sha, ids[1])
  t.match(await get(`${R}/git/commits/nope`), { status: 404, body: { message: "commit doesn't exist: nope" } })
  t.match(await get(`${R}/git/commits/a..b`), { status: 422, body: { message: 'no valid ref or sha: a..b' } })
  const diff = await get(`${R}/git/commits/${ids[1]}.diff`, null)
  t.match(diff.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.match(diff.body, /^diff --git a\/src\/b\.py b\/src\/b\.py[\s\S]*\+print\(2\)/)
  t.match(
    (await get(`${R}/git/commits/main.patch`)).body,
    /^From [0-9a-f]{40} Mon Sep 17[\s\S]*Subject: \[PATCH\] three/,
  )
  t.equal((await get(`${R}/git/commits/nope.diff`)).status, 404)
  await post(`${R}/branches`, { new_branch_name: 'v1.0', old_ref_name: ids[0] })
  t.equal((await get(`${R}/git/commits/v1.0`)).body.sha, ids[0], 'a dot in a name is no format')
  t.match((await get(`${R}/git/commits/v1.0.diff`)).body, /a\.ts/)
})

t.test('notes', async (t) => {
  const note = await get(`${R}/git/notes/${ids[1]?.slice(0, 9)}`, null)
  t.match(note, {
    status: 200,
    body: { message: 'well done\n', commit: { commit: { message: /Notes added/ }, files: [{ status: 'added' }] } },
  })
  t.match((await get(`${R}/git/notes/${ids[1]}?files=false&verification=false`)).body.commit, {
    files: null,
    commit: { verification: null },
  })
  t.match(await get(`${R}/git/notes/main`), { status: 404, body: { message: "commit doesn't exist: main" } })
  t.equal((await get(`${R}/git/notes/-x`)).status, 422)
})

t.test('refs, trees, blobs', async (t) => {
  const refs = await get(`${R}/git/refs/tags`, null)
  t.match(refs.body, [
    { ref: 'refs/tags/light', object: { type: 'commit', sha: ids[0] } },
    { ref: 'refs/tags/rel/v1', object: { type: 'tag', url: /\/git\/tags\/[0-9a-f]{40}$/ } },
  ])
  t.equal((await get(`${R}/git/refs/heads/ma`)).body.length, 1)
  t.ok((await get(`${R}/git/refs`)).body.some(({ ref }: { ref: string }) => ref === 'refs/notes/commits'))
  t.equal((await get(`${R}/git/refs/heads/nope`)).status, 404)
  const tree = await get(`${R}/git/trees/main?recursive=true&per_page=3`)
  t.match(tree.body, { sha: ids[2], truncated: true, page: 1, total_count: 7 })
  t.equal(tree.headers.get('x-total-count'), '7')
  t.same(
    tree.body.tree.map(({ path, type }: { path: string; type: string }) => `${type} ${path}`),
    ['blob LICENSE', 'tree docs', 'tree docs/x'],
  )
  const last = (await get(`${R}/git/trees/main?recursive=true&per_page=3&page=3`)).body
  t.match(last, { truncated: false, tree: [{ path: 'src/b.py', mode: '100644', size: 18 }] })
  t.match((await get(`${R}/git/trees/main?per_page=3&page=9`)).body, { tree: null, truncated: false })
  t.match((await get(`${R}/git/trees/${tree.body.tree[1].sha}`)).body, {
    sha: tree.body.tree[1].sha,
    tree: [{ path: 'x', type: 'tree' }],
  })
  t.match(await get(`${R}/git/trees/nope`), { status: 400, body: { message: 'sha not found [nope]' } })
  const blob = await get(`${R}/git/blobs/${last.tree[0].sha}`)
  t.match(blob.body, { encoding: 'base64', size: 18, sha: last.tree[0].sha })
  t.equal(Buffer.from(blob.body.content, 'base64').toString(), 'print(1)\nprint(2)\n')
  t.equal((await get(`${R}/git/blobs/${last.tree[0].sha.slice(0, 8)}`)).status, 400)
  t.equal((await get(`${R}/git/blobs/${ids[0]}`)).status, 400, 'a commit is no blob')
})

t.test('tags: list, show, create, delete', async (t) => {
  const all = await get(`${R}/tags`, null)
  t.same(names(all.body), ['rel/v1', 'light'], 'by when they were made')
  t.equal(all.headers.get('x-total-count'), '2')
  t.equal(all.headers.get('link'), null)
  t.match(all.body[0], {
    message: 'first release\n',
    commit: { sha: ids[1], url: new RegExp(`/git/commits/${all.body[0].id}$`), created: '2024-04-01T10:00:00Z' },
    zipball_url: `${h.base}/alice/one/archive/rel%2Fv1.zip`,
  })
  t.match((await get(`${R}/tags/light`)).body, { id: ids[0], message: 'one\n', commit: { sha: ids[0] } })
  t.match(await get(`${R}/tags/nope`), { status: 404, body: { message: "tag doesn't exist: nope" } })
  const object = await get(`${R}/git/tags/${all.body[0].id}`)
  t.match(object.body, {
    tag: 'rel/v1',
    message: 'first release\n',
    tagger: { name: 'Alice A', date: '2024-04-01T10:00:00Z' },
    object: { type: 'commit', sha: ids[1] },
    verification: { verified: false, reason: 'gpg.error.not_signed_commit' },
  })
  t.equal((await get(`${R}/git/tags/${ids[0]}`)).status, 400, 'a tag without an object')

  const made = await post(`${R}/tags`, { tag_name: 'v2', message: 'two', target: ids[1]?.slice(0, 10) })
  t.match(made, { status: 201, body: { name: 'v2', message: 'two\n', commit: { sha: ids[1] } } })
  t.not((await get(`${R}/git/tags/${made.body.id}`)).body.tagger.email, 'alice@example.com', 'the host signs')
  t.match(await post(`${R}/tags`, { tag_name: 'l2' }), { status: 201, body: { id: ids[2] } })
  for (const [body, status] of [
    [{ tag_name: 'v2' }, 409],
    [{ tag_name: 'v2/x' }, 409],
    [{ tag_name: 'n', target: 'nope' }, 404],
    [{ tag_name: 'a..b' }, 422],
    [{ tag_name: '-d' }, 422],
    [{ tag_name: 'a'.repeat(400) }, 422],
    [{}, 422],
  ] as const) {
    t.equal((await post(`${R}/tags`, body)).status, status, JSON.stringify(body))
  }
  t.equal((await post(`${R}/tags`, { tag_name: 'no' }, 'bob')).status, 403)
  for (const [tag, status] of [
    ['v2', 204],
    ['l2', 204],
    ['l2', 404],
  ] as const) {
    t.equal((await h.call('DELETE', `${R}/tags/${tag}`, undefined, { as })).status, status)
  }
})

t.test('compare', async (t) => {
  const two = await get(`${R}/compare/light...main`, null)
  t.equal(two.body.total_commits, 2)
  t.same(shas(two.body.commits), [ids[2], ids[1]])
  t.equal(two.body.commits[0].stats.total, 3)
  t.same(shas((await get(`${R}/compare/${ids[1]}..main`)).body.commits), [ids[2]])
  t.equal((await get(`${R}/compare/topic/old`)).body.total_commits, 0)
  t.match((await get(`${R}/compare/light...main?output=diff`)).body, /^diff --git a\/docs/)
  const patch = await get(`${R}/compare/light...main?output=patch`)
  t.match(patch.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.match(patch.body, /\[PATCH 1\/2\] two[\s\S]*\[PATCH 2\/2\] three/)
  t.match(await get(`${R}/compare/main...nope`), { status: 404, body: { message: 'ref "nope" does not exist' } })
  t.equal((await get(`${R}/compare/main...nobody:main`)).status, 404)
  t.equal((await get(`${R}/compare/main...bob:main`)).status, 400, 'bob has no copy yet')

  const made = await post('/user/repos', { name: 'copy' }, 'bob')
  const one = (await get(R)).body.id
  const change = (columns: { parent_id?: number; is_private?: boolean }) =>
    h.rooms.opened.database
      .sql<{ repository: { id: number; parent_id: number; is_private: boolean } }>()
      .updateTable('repository')
      .set(columns)
      .where('id', '=', made.body.id)
      .execute()
  await change({ parent_id: one })
  await git(dir, ['checkout', '-q', '-b', 'bobs'])
  const fourth = await commit(dir, { 'bob.txt': 'bob\n' }, 'four', { GIT_AUTHOR_EMAIL: 'bob@example.com' })
  await git(dir, ['push', '-q', h.remote('bob', '/bob/copy.git'), 'bobs'])
  await git(dir, ['checkout', '-q', 'main'])
  const across = await get(`${R}/compare/main...bob:bobs`, null)
  t.same(shas(across.body.commits), [fourth])
  t.equal(across.body.commits[0].author.login, 'bob')
  t.match((await get(`${R}/compare/main...bob:bobs?output=diff`)).body, /\+bob/)
  t.equal((await get(`${R}/git/commits/${fourth}`)).status, 404, 'the objects stay where they are')
  await change({ is_private: true })
  t.equal((await get(`${R}/compare/main...bob:bobs`, 'carol')).status, 400, 'nothing of what is hidden')
})

t.test('archives', async (t) => {
  const zip = await h.call('GET', `${R}/archive/rel/v1.tar.gz`, undefined, { as: null })
  t.equal(zip.headers.get('content-type'), 'application/octet-stream')
  t.equal(zip.headers.get('content-disposition'), 'attachment; filename=one-rel-v1.tar.gz')
  t.equal(zip.headers.get('link'), `<${h.base}/api/v1${R}/archive/${ids[1]}.tar.gz?rev=${ids[1]}>; rel="immutable"`)
  const file = join(folder, 'one.tar.gz')
  const download = async (path: string) => {
    const response = await fetch(`${h.base}${path}`)
    await writeFile(file, Buffer.from(await response.arrayBuffer()))
    return response.status
  }
  const packed = async () => (await run('tar', ['tzf', file], { cwd: folder })).split('\n')
  t.equal(await download(`/api/v1${R}/tarball/main`), 200)
  t.same(
    (await packed()).filter((name) => !name.endsWith('/')),
    ['one/LICENSE', 'one/docs/x/y.txt', 'one/src/a.ts', 'one/src/b.py'],
  )
  t.equal(await download(`/api/v1${R}/archive/main.tar.gz?path=docs&path=src/a.ts`), 200)
  t.same(
    (await packed()).filter((name) => !name.endsWith('/')),
    ['one/docs/x/y.txt', 'one/src/a.ts'],
  )
  t.equal(await download('/alice/one/archive/rel%2Fv1.tar.gz'), 200, 'the address of the tag record')
  t.equal(await download(`/api/v1${R}/bundle/main`), 200)
  const copy = join(folder, 'from-bundle')
  await git(folder, ['clone', '-q', file, copy])
  t.equal(await readFile(join(copy, 'src/a.ts'), 'utf8'), 'export const a = 2\n')
  const head = await fetch(`${h.base}/api/v1${R}/zipball/main`, { method: 'HEAD' })
  t.equal(head.status, 200)
  t.match(head.headers.get('content-disposition'), 'one-main.zip')
  for (const [path, status, message] of [
    ['archive/main.rar', 400, 'unknown format: main.rar'],
    ['archive/nope.zip', 404, 'unrecognized repository reference: nope'],
    ['archive/main.zip?path=nope', 400, "path doesn't exist or is invalid"],
    ['archive/main.zip?path=../x', 400, "path doesn't exist or is invalid"],
    ['archive/main.bundle?path=src', 400, 'cannot specify paths when requesting a bundle'],
  ] as const) {
    t.match(await get(`${R}/${path}`), { status, body: { message } }, path)
  }
  t.equal((await get('//alice/secret/archive/main.zip', 'bob')).status, 404)
})

t.test('languages, licences and size follow a push', async (t) => {
  await h.idle()
  t.same((await get(`${R}/languages`, null)).body, { TypeScript: 19, Python: 18 })
  t.same(Object.keys((await get(`${R}/languages`)).body), ['TypeScript', 'Python'], 'most first')
  t.same((await get(`${R}/licenses`, null)).body, ['MIT'])
  const record = (await get(R)).body
  t.match(record, { language: 'TypeScript', licenses: ['MIT'] })
  t.ok(record.size > 0)
  await commit(dir, { 'src/c.py': 'print(3)\n'.repeat(9), LICENSE: 'none\n' }, 'five')
  await push(dir, 'one', 'main')
  await h.idle()
  t.same(Object.keys((await get(`${R}/languages`)).body), ['Python', 'TypeScript'])
  t.same((await get(`${R}/licenses`)).body, [])
  t.equal((await get(R)).body.language, 'Python')
})

t.test('signatures made with SSH keys', async (t) => {
  await post('/user/repos', { name: 'signed' })
  const work = join(folder, 'signed')
  await git(folder, ['init', '-q', '-b', 'main', work])
  await git(work, ['config', 'gpg.format', 'ssh'])
  const { identity, opened } = h.rooms
  const alice = await identity.accounts.byName('alice')
  const kinds = [
    ['ed25519'],
    ['ecdsa', '-b', '256'],
    ['ecdsa', '-b', '384'],
    ['ecdsa', '-b', '521'],
    ['rsa', '-b', '3072'],
  ]
  const key = (kind: readonly string[]) => join(folder, `key-${kind.join('')}`)
  const sign = async (kind: readonly string[], message: string, extra: Record<string, string> = {}) => {
    await git(work, ['-c', `user.signingkey=${key(kind)}`, 'commit', '-q', '-S', '--allow-empty', '-m', message], extra)
    return git(work, ['rev-parse', 'HEAD'])
  }
  for (const kind of kinds)
    await run('ssh-keygen', ['-q', '-t', ...kind, '-N', '', '-C', '', '-f', key(kind)], { cwd: folder })
  const first = kinds[0] as string[]
  const signed: string[] = []
  for (const kind of kinds) signed.push(await sign(kind, kind.join(' ')))
  const stranger = await sign(first, 'stranger', {
    GIT_COMMITTER_EMAIL: 'x@y.example',
    GIT_AUTHOR_EMAIL: 'x@y.example',
  })
  await git(work, ['-c', `user.signingkey=${key(first)}`, 'tag', '-s', '-m', 'sealed', 'sealed'])
  // The same signature over another message.
  const raw = await git(work, ['cat-file', 'commit', signed[0] as string])
  await writeFile(join(folder, 'forged'), `${raw.replace('ed25519', 'forged!')}\n`)
  const forged = await git(work, ['hash-object', '-t', 'commit', '-w', join(folder, 'forged')])
  await writeFile(join(folder, 'pgp'), `${raw.replaceAll('SSH SIGNATURE', 'PGP SIGNATURE')}\n`)
  const pgp = await git(work, ['hash-object', '-t', 'commit', '-w', join(folder, 'pgp')])
  await push(work, 'signed', 'main', 'sealed', `${forged}:refs/heads/forged`, `${pgp}:refs/heads/pgp`)
  const verification = async (id: string) =>
    (await get(`/repos/alice/signed/git/commits/${id}`)).body.commit.verification

  t.match(await verification(signed[0] as string), {
    verified: false,
    reason: 'gpg.error.no_gpg_keys_found',
    signer: null,
  })
  await opened.database.tx(async (tx) => {
    for (const kind of kinds) {
      const content = await readFile(`${key(kind)}.pub`, 'utf8')
      await identity.keys.add(tx, alice?.id ?? 0, { title: kind.join(' '), content })
    }
  })
  for (const [at, kind] of kinds.entries()) {
    const id = signed[at] as string
    t.match(
      await verification(id),
      {
        verified: true,
        reason: /^alice \/ SHA256:/,
        signature: /^-----BEGIN SSH SIGNATURE-----[\s\S]*-----END SSH SIGNATURE-----$/,
        signer: { name: 'alice', username: 'alice' },
        payload: /^tree [0-9a-f]{40}\n/,
      },
      kind.join(' '),
    )
  }
  t.match(await verification(stranger), { verified: false, reason: 'gpg.error.no_gpg_keys_found' })
  t.match(await verification(forged), { verified: false, reason: 'gpg.error.probable_bad_signature', signer: null })
  t.match(await verification(pgp), { verified: false, reason: 'gpg.error.no_gpg_keys_found' })
  t.match((await get('/repos/alice/signed/branches/main')).body.commit.verification, { verified: false })
  const tag = (await get('/repos/alice/signed/tags/sealed')).body
  t.equal(tag.message, 'sealed\n', 'without its signature')
  t.match((await get(`/repos/alice/signed/git/tags/${tag.id}`)).body.verification, {
    verified: true,
    reason: /^alice \//,
  })
  t.equal(await h.queriesOf('GET', '/repos/alice/signed/commits', { as }), 4, 'keys are read once for all')
})

t.test('the address behind a hidden one finds its account', async (t) => {
  const alice = await h.rooms.identity.accounts.byName('alice')
  const domain = h.rooms.identity.noReplyDomain()
  await post('/user/repos', { name: 'hidden-author' })
  const work = join(folder, 'hidden-author')
  await git(folder, ['init', '-q', '-b', 'main', work])
  await commit(work, { a: 'a' }, 'a', {
    GIT_AUTHOR_EMAIL: `${alice?.id}+whatever@${domain}`,
    GIT_COMMITTER_EMAIL: `Bob@${domain}`,
  })
  await push(work, 'hidden-author', 'main')
  t.match((await get('/repos/alice/hidden-author/commits')).body, [
    { author: { login: 'alice' }, committer: { login: 'bob' } },
  ])
})

t.test('whatever stands for a ref, an id or a path: a clear refusal', async (t) => {
  const evil = [
    '-x',
    '--output=/tmp/git-data-canary',
    '--upload-pack=touch /tmp/git-data-canary',
    'ext::sh',
    '../..',
    'main@{0}',
    'main^{tree}',
    'main:src',
    'a\\b',
    '@',
    ':/three',
    'refs/heads/../x',
    'é'.repeat(200),
    'x'.repeat(10_000),
    '%',
    '\u0001',
  ]
  const spellings = evil.map((text) => encodeURIComponent(text).replaceAll('.', '%2E'))
  const places = [
    'branches/X',
    'tags/X',
    'git/commits/X',
    'git/commits/X.diff',
    'git/notes/X',
    'git/refs/X',
    'git/trees/X',
    'git/blobs/X',
    'git/tags/X',
    'compare/X',
    'compare/main...X',
    'compare/X...main',
    'compare/main...X:main',
    'archive/X.zip',
    'tarball/X',
    'commits?sha=X',
    'commits?not=X',
    'commits?path=X&sha=main',
    'archive/main.zip?path=X',
  ]
  for (const place of places) {
    for (const text of [...spellings, '..%252f..', '%2e%2e%2fx', '%00', 'a%00b']) {
      const { status, body } = await get(`${R}/${place.replace('X', text)}`)
      t.ok(
        status >= 400 && status < 500 && typeof body.message === 'string',
        `${place} ${text.slice(0, 40)}: ${status}`,
      )
    }
  }
  for (const text of evil) {
    for (const [method, path, body] of [
      ['POST', 'branches', { new_branch_name: 'evil', old_ref_name: text }],
      ['POST', 'branches', { new_branch_name: 'evil', old_branch_name: text }],
      ['POST', 'tags', { tag_name: 'evil', target: text }],
      ['PUT', 'branches/plain', { new_commit_id: text, force: true }],
      ['PUT', 'branches/plain', { new_commit_id: 'main', old_commit_id: text }],
    ] as const) {
      const { status } = await h.call(method, `${R}/${path}`, body, { as })
      t.ok(status === 404 || status === 422, `${method} ${path} ${text.slice(0, 40)}: ${status}`)
    }
  }
  t.equal((await post(`${R}/tags`, { tag_name: 'a\0b' })).status, 422)
  await t.rejects(readFile('/tmp/git-data-canary'))
})

t.test('code for readers of code only, and nothing while the plugin is off', async (t) => {
  await h.call('PATCH', R, { has_code: false }, { as })
  for (const path of [
    'branches',
    'tags',
    'commits',
    'git/refs',
    'compare/main',
    'archive/main.zip',
    'languages',
    'licenses',
  ]) {
    t.equal((await get(`${R}/${path}`, 'bob')).status, 403, path)
    t.equal((await get(`${R}/${path}`)).status, 200, `${path} for the owner`)
  }
  await h.call('PATCH', R, { has_code: true }, { as })
  const reader = { auth: `token ${await h.tokenWith('alice', ['read:issue'])}` }
  t.equal((await h.call('GET', `${R}/branches`, undefined, reader)).status, 403, 'a token without the scope')
  const { settings, plugins } = h.rooms
  await settings.set('plugins', 'DISABLE_GIT_DATA', 'true')
  await plugins.reconcile()
  t.equal((await get(`${R}/branches`)).status, 403)
  await settings.set('plugins', 'DISABLE_GIT_DATA', null)
  await plugins.reconcile()
  t.equal((await get(`${R}/branches`)).status, 200)
})
