import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'POST /repos/alice-SFX/one/contents/docs/a.txt as alice',
    path: 'body.commit.message',
    why: 'a message ends with a line end, as git itself writes it; the reference leaves it out after a sign-off',
  },
  {
    step: 'GET /repos/alice-SFX/one/commits?stat=false&files=false as nobody',
    path: 'body[10].commit.message',
    why: 'the same message',
  },
  {
    step: 'POST /repos/alice-SFX/one/contents/..%2Fout as alice',
    path: 'status',
    ours: 422,
    why: 'a path that leaves the tree is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/one/contents/a%00b as alice',
    path: 'status',
    ours: 404,
    why: 'NUL in a path is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/one/contents as alice #3',
    path: 'status',
    ours: 422,
    why: 'contract 02: an unknown operation is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/one/diffpatch as alice #2',
    path: 'status',
    ours: 422,
    why: 'contract 02: a patch that does not apply is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/one/diffpatch as alice #3',
    path: 'status',
    ours: 422,
    why: 'contract 02: a patch that does not apply is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/one/diffpatch as alice #4',
    path: 'status',
    ours: 422,
    why: 'contract 02: a patch that does not apply is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/one/contents/x.txt as alice #2',
    path: 'body.message',
    why: 'the reference tells an internal id',
  },
]

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Files written through the API. */
export default async ({ call, user }: Play) => {
  const alice = await user('alice', { full_name: 'Alice A' })
  const bob = await user('bob')
  await call('POST', '/user/repos', { name: 'one' }, { as: 'alice', skip: true })
  const repo = `/repos/${alice}/one`
  const dates = { author: '2026-02-03T04:05:06Z', committer: '2026-02-03T05:06:07+01:00' }
  const people = {
    author: { name: 'Ann', email: 'ann@example.com' },
    committer: { name: 'Cid', email: 'cid@example.com' },
  }
  const write = (method: string, path: string, body: object, as: string | null = 'alice') =>
    call(method, `${repo}/contents/${path}`, body, { as, text: true })
  await write('POST', 'README.md', { content: base64('# one\n'), dates, ...people })
  await call('GET', repo, undefined, { as: 'alice' })
  const made = await write('POST', 'docs/a.txt', { content: base64('a\n'), message: 'add a', signoff: true })
  const sha = made.body.content.sha
  await write('POST', 'docs/a.txt', { content: base64('a\n') })
  await write('POST', 'docs', { content: base64('a\n') })
  await write('POST', 'docs/a.txt/b', { content: base64('a\n') })
  await write('POST', '.git/config', { content: base64('a\n') })
  await write('POST', 'x/.GIT/config', { content: base64('a\n') })
  await write('POST', 'a%2F..%2Fb.txt', { content: base64('b\n') })
  await write('POST', '..%2Fout', { content: base64('b\n') })
  await write('POST', 'a%00b', { content: base64('b\n') })
  await write('POST', 'bad.txt', { content: '%%%' })
  await write('POST', 'nothing.txt', {})
  await write('POST', 'x.txt', { content: 5 })
  await write('POST', 'x.txt', { content: base64('x'), branch: 'none' })
  await write('POST', 'x.txt', { content: base64('x'), branch: 'a..b' })
  await write('POST', 'x.txt', { content: base64('x') }, 'bob')
  await write('POST', 'x.txt', { content: base64('x') }, null)
  await write('POST', 'branch.txt', { content: base64('x'), new_branch: 'side' })
  await write('POST', 'branch2.txt', { content: base64('x'), new_branch: 'side' })
  await write('POST', 'branch3.txt', { content: base64('x'), branch: 'side' })
  await write('POST', 'email.txt', { content: base64('x'), author: { name: 'A', email: 'nonsense' } })
  const updated = await write('PUT', 'docs/a.txt', { content: base64('b\n'), sha, message: 'second' })
  await write('PUT', 'docs/a.txt', { content: base64('c\n'), sha })
  await write('PUT', 'docs/a.txt', { content: base64('c\n') })
  await write('PUT', 'docs/new.txt', { content: base64('new\n') })
  await write('PUT', 'none.txt', { content: base64('c\n'), sha })
  const moved = await write('PUT', 'docs/moved.txt', {
    content: base64('b\n'),
    sha: updated.body.content.sha,
    from_path: 'docs/a.txt',
  })
  await call('GET', `${repo}/contents/docs`, undefined, { as: null })
  await write('DELETE', 'docs/moved.txt', { sha })
  await write('DELETE', 'docs/moved.txt', {})
  await write('DELETE', 'none.txt', { sha })
  await write('DELETE', 'docs/moved.txt', { sha: moved.body.content.sha }, 'bob')
  await write('DELETE', 'docs/moved.txt', { sha: moved.body.content.sha, message: 'away' })
  const many = (body: object, as = 'alice') => call('POST', `${repo}/contents`, body, { as, text: true })
  await many({
    message: 'many',
    files: [
      { operation: 'create', path: 'm/one.txt', content: base64('1\n') },
      { operation: 'update', path: 'README.md', content: base64('# changed\n') },
      { operation: 'upload', path: 'm/two.txt', content: base64('2\n') },
      { operation: 'delete', path: 'docs/new.txt' },
      { operation: 'rename', path: 'm/renamed.txt', from_path: 'b.txt' },
    ],
  })
  await many({
    files: [
      { operation: 'create', path: 'm/three.txt', content: base64('3\n') },
      { operation: 'create', path: 'm/one.txt', content: '' },
    ],
  })
  await many({ files: [{ operation: 'nonsense', path: 'x' }] })
  await many({ files: [{ operation: 'create' }] })
  await many({ files: [{ path: 'x' }] })
  await many({ files: [] })
  await many({})
  await many({ files: [{ operation: 'create', path: 'x', content: '' }] }, 'bob')
  await call('PUT', `${repo}/collaborators/${bob}`, { permission: 'write' }, { as: 'alice', skip: true })
  await write('POST', 'by-bob.txt', { content: base64('bob\n') }, 'bob')
  await call('GET', `${repo}/git/trees/main?recursive=true`, undefined, { as: null })
  await call('GET', `${repo}/commits?stat=false&files=false`, undefined, { as: null, ignore: ['tree'] })
  const patch = [
    'diff --git a/README.md b/README.md',
    '--- a/README.md',
    '+++ b/README.md',
    '@@ -1 +1,2 @@',
    ' # changed',
    '+more',
    '',
  ].join('\n')
  await call('POST', `${repo}/diffpatch`, { content: patch, message: 'patched' }, { as: 'alice' })
  await call('POST', `${repo}/diffpatch`, { content: patch.replace('# changed', '# other') }, { as: 'alice' })
  await call('POST', `${repo}/diffpatch`, { content: 'nonsense' }, { as: 'alice' })
  await call('POST', `${repo}/diffpatch`, {}, { as: 'alice', text: true })
  await call('POST', `${repo}/diffpatch`, { content: patch }, { as: null })
  await call('GET', `${repo}/raw/README.md`, undefined, { as: null })
}
