import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'POST /repos/alice-SFX/One/tags as alice #7',
    path: 'status',
    ours: 422,
    why: 'contract 02: a bad name is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/One/tags as alice #8',
    path: 'status',
    ours: 422,
    why: 'contract 02: a bad name is a reference bug',
  },
  {
    step: 'POST /repos/alice-SFX/One/tags as alice #9',
    path: 'status',
    ours: 422,
    why: 'contract 02: a bad name is a reference bug',
  },
]

/** Tags: lightweight and annotated, made by git and by the API. */
export default async ({ call, user, git, remote, tmp, until }: Play) => {
  const alice = await user('alice')
  await user('bob')
  await call('POST', '/user/repos', { name: 'One' }, { as: 'alice', skip: true })
  const repo = `/repos/${alice}/One`
  const post = (body: unknown, as: string | null = 'alice') => call('POST', `${repo}/tags`, body, { as, text: true })
  await post({ tag_name: 'early' })
  const folder = tmp()
  await git(folder, 'init', '-q', '-b', 'main')
  await git(folder, 'commit', '-q', '--allow-empty', '-m', 'first')
  await git(folder, 'tag', 'light')
  await git(folder, 'tag', '-a', '-m', 'An <annotated> tag\n\nwith a body', 'heavy')
  await git(folder, 'tag', 'release/1.0')
  const commit = await git(folder, 'rev-parse', 'HEAD')
  const object = await git(folder, 'rev-parse', 'heavy')
  await git(folder, 'push', '-q', remote('alice', alice, 'One'), 'main')
  await until(async () => !(await call('GET', repo, undefined, { as: 'alice', skip: true })).body.empty)
  await git(folder, 'push', '-q', '--tags', remote('alice', alice, 'One'))
  await until(async () => (await call('GET', `${repo}/tags`, undefined, { skip: true })).body.length === 3)
  await call('GET', `${repo}/tags`, undefined, { as: null, unordered: true })
  await call('GET', `${repo}/tags?limit=1`, undefined, { as: null, bodiless: true })
  await call('GET', `${repo}/tags?limit=1&page=9`, undefined, { as: null })
  for (const tag of ['light', 'heavy', 'release/1.0', 'none', 'main', '-x', 'a%00b']) {
    await call('GET', `${repo}/tags/${tag}`, undefined, { as: 'bob', text: tag === 'none' })
  }
  for (const sha of [object, commit, 'heavy', '0'.repeat(40)])
    await call('GET', `${repo}/git/tags/${sha}`, undefined, { as: null })
  await post({ tag_name: 'made', target: 'main' })
  await post({ tag_name: 'made-annotated', target: commit, message: 'made here' })
  await post({ tag_name: 'default-target' })
  await post({ tag_name: 'made' })
  await post({ tag_name: 'x', target: 'none' })
  await post({ tag_name: 'a..b' })
  await post({ tag_name: 'a b' })
  await post({ tag_name: '-x' })
  await post({ tag_name: '' })
  await post({})
  await post({ tag_name: 'x' }, 'bob')
  await post({ tag_name: 'x' }, null)
  await call('GET', `${repo}/tags/made-annotated`, undefined, { as: null, ignore: ['id', 'url'] })
  const remove = (tag: string, as: string | null = 'alice') =>
    call('DELETE', `${repo}/tags/${tag}`, undefined, { as, text: as !== 'alice' })
  await remove('made', null)
  await remove('made', 'bob')
  await remove('made')
  await remove('made')
  const gone = () => call('DELETE', `${repo}/tags/release/1.0`, undefined, { as: 'alice', skip: true })
  await until(async () => (await gone()).status === 204)
  await remove('release/1.0')
  await call('GET', `${repo}/git/refs`, undefined, { as: null, ignore: ['sha', 'url'] })
  await call('GET', `${repo}/git/refs/tags`, undefined, { as: null, ignore: ['sha', 'url'] })
  await call('GET', `${repo}/git/refs/heads/ma`, undefined, { as: null })
  await call('GET', `${repo}/git/refs/tags/light`, undefined, { as: null })
  await call('GET', `${repo}/git/refs/none`, undefined, { as: null })
}
