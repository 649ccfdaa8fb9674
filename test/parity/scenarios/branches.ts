import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'POST /repos/alice-SFX/one/branches as alice #13',
    path: 'status',
    ours: 404,
    why: 'contract 02: an unknown old_ref_name is a reference bug',
  },
  {
    step: 'PUT /repos/alice-SFX/one/branches/from-commit as alice #6',
    path: 'status',
    ours: 422,
    why: 'contract 02: an unknown commit is a reference bug',
  },
  { step: /branches\?q=/, path: 'headers.x-total-count', why: 'only what is found is counted' },
]

/** Branches: listed, made, renamed, moved, deleted. */
export default async ({ call, user, git, remote, tmp, until }: Play) => {
  const alice = await user('alice')
  const bob = await user('bob')
  await call('POST', '/user/repos', { name: 'one' }, { as: 'alice', skip: true })
  const repo = `/repos/${alice}/one`
  const post = (body: unknown, as: string | null = 'alice') =>
    call('POST', `${repo}/branches`, body, { as, text: true })
  await post({ new_branch_name: 'early' })
  const folder = tmp()
  await git(folder, 'init', '-q', '-b', 'main')
  await git(folder, 'commit', '-q', '--allow-empty', '-m', 'first')
  const first = await git(folder, 'rev-parse', 'HEAD')
  await git(folder, 'commit', '-q', '--allow-empty', '-m', 'second\n\nwith <body>')
  await git(folder, 'tag', 'v1')
  await git(folder, 'branch', 'feature/deep')
  await git(folder, 'checkout', '-q', '-b', 'side', first)
  await git(folder, 'commit', '-q', '--allow-empty', '-m', 'third')
  const third = await git(folder, 'rev-parse', 'HEAD')
  await git(folder, 'push', '-q', remote('alice', alice, 'one'), 'main')
  await until(async () => !(await call('GET', repo, undefined, { as: 'alice', skip: true })).body.empty)
  await git(folder, 'push', '-q', remote('alice', alice, 'one'), 'side', 'feature/deep', 'v1')
  await until(async () => (await call('GET', `${repo}/branches`, undefined, { skip: true })).body?.length === 3)
  await call('GET', `${repo}/branches`, undefined, { as: 'alice' })
  await call('GET', `${repo}/branches?limit=2`, undefined, { as: null })
  await call('GET', `${repo}/branches?limit=2&page=2`, undefined, { as: 'bob' })
  await call('GET', `${repo}/branches?q=SIDE`, undefined, { as: null })
  await call('GET', `${repo}/branches?q=nothing`, undefined, { as: null })
  for (const branch of ['main', 'feature/deep', 'feature%2Fdeep', 'none', 'v1', first, 'Main', '-x', 'a%00b']) {
    await call('GET', `${repo}/branches/${branch}`, undefined, { as: 'bob' })
  }
  await post({ new_branch_name: 'made' })
  await post({ new_branch_name: 'from-tag', old_ref_name: 'v1' })
  await post({ new_branch_name: 'from-commit', old_ref_name: first })
  await post({ new_branch_name: 'from-branch', old_ref_name: 'side' })
  await post({ new_branch_name: 'from-old', old_branch_name: 'side' })
  await post({ new_branch_name: 'feature/other' })
  await post({ new_branch_name: 'made' })
  await post({ new_branch_name: 'v1' })
  await post({ new_branch_name: 'feature' })
  await post({ new_branch_name: 'main/below' })
  await post({ new_branch_name: 'x', old_branch_name: 'none' })
  await post({ new_branch_name: 'x', old_ref_name: 'none' })
  await post({ new_branch_name: 'a..b' })
  await post({ new_branch_name: 'a b' })
  await post({ new_branch_name: 'x'.repeat(101) })
  await post({})
  await post({ new_branch_name: 'x' }, 'bob')
  await post({ new_branch_name: 'x' }, null)
  const patch = (branch: string, body: unknown, as: string | null = 'alice') =>
    call('PATCH', `${repo}/branches/${branch}`, body, { as, text: true })
  await patch('made', { name: 'renamed' })
  await patch('renamed', { name: 'renamed' })
  await patch('renamed', { name: 'side' })
  await patch('none', { name: 'other' })
  await patch('renamed', {})
  await patch('renamed', { name: 'a b' })
  await patch('renamed', { name: 'no' }, 'bob')
  await patch('feature/other', { name: 'feature/more' })
  await call('PUT', `${repo}/collaborators/${bob}`, { permission: 'write' }, { as: 'alice', skip: true })
  await patch('main', { name: 'trunk' }, 'bob')
  await patch('main', { name: 'trunk' })
  await call('GET', repo, undefined, { as: 'alice' })
  await call('GET', `${repo}/branches/main`, undefined, { as: 'alice' })
  const put = (branch: string, body: unknown, as = 'alice') =>
    call('PUT', `${repo}/branches/${branch}`, body, { as, text: true })
  await put('from-commit', { new_commit_id: 'trunk' })
  await put('from-commit', { new_commit_id: third })
  await put('from-commit', { new_commit_id: third, force: true })
  await put('from-commit', { new_commit_id: first, old_commit_id: first, force: true })
  await put('from-commit', { new_commit_id: first, old_commit_id: third, force: true })
  await put('none', { new_commit_id: first })
  await put('from-commit', { new_commit_id: '0'.repeat(40) })
  await put('from-commit', {})
  const remove = (branch: string, as: string | null = 'alice') =>
    call('DELETE', `${repo}/branches/${branch}`, undefined, { as, text: true })
  await remove('trunk')
  await remove('none')
  await remove('from-old', null)
  await remove('from-old')
  await remove('from-old')
  await remove('feature/deep')
  await call('GET', `${repo}/branches`, undefined, { as: 'alice' })
}
