import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  {
    step: 'GET /repos/alice-SFX/one/commits?not=none as nobody',
    path: 'status',
    ours: 404,
    why: 'an unknown not is a reference bug',
  },
  {
    step: 'GET /repos/alice-SFX/one/git/commits/{sha}.diff as nobody #2',
    path: 'status',
    ours: 404,
    why: 'contract 02: an unknown commit is a reference bug',
  },
  {
    step: 'GET /repos/alice-SFX/one/git/commits/-x as nobody',
    path: 'status',
    ours: 422,
    why: 'a name that begins with - is no ref',
  },
  {
    step: 'GET /repos/alice-SFX/one/git/commits/a%00b as nobody',
    path: 'status',
    ours: 404,
    why: 'NUL in a path is 404 everywhere',
  },
]

/** History: lists and their paging headers, single commits, comparisons, notes. */
export default async ({ call, user, name, git, remote, tmp, until }: Play) => {
  const alice = await user('alice')
  await user('bob')
  await call('POST', '/user/repos', { name: 'one' }, { as: 'alice', skip: true })
  const repo = `/repos/${alice}/one`
  const folder = tmp()
  await git(folder, 'init', '-q', '-b', 'main')
  mkdirSync(`${folder}/src`)
  for (const i of [1, 2, 3, 4]) {
    writeFileSync(`${folder}/src/${i}.txt`, `${i}\n`.repeat(i))
    await git(folder, 'add', '.')
    await git(folder, 'commit', '-qm', `add ${i}`)
  }
  rmSync(`${folder}/src/1.txt`)
  writeFileSync(`${folder}/src/2.txt`, 'other\n')
  await git(folder, 'commit', '-qam', 'remove 1, change 2\n\nbody & <more>')
  await git(folder, 'tag', '-a', '-m', 'tagged', 'v1')
  await git(folder, 'checkout', '-q', '-b', 'side', 'HEAD~2')
  writeFileSync(`${folder}/side.txt`, 'side\n')
  await git(folder, 'add', '.')
  await git(folder, 'commit', '-qm', 'on the side')
  await git(folder, 'checkout', '-q', 'main')
  await git(folder, 'merge', '-q', '--no-ff', '-m', 'merge side', 'side')
  await git(folder, 'notes', 'add', '-m', 'a note', 'HEAD')
  const at = (rev: string) => git(folder, 'rev-parse', rev)
  const [head, first, side, tag] = [await at('HEAD'), await at('HEAD~5'), await at('side'), await at('v1')]
  await git(folder, 'push', '-q', remote('alice', alice, 'one'), 'main')
  await until(async () => !(await call('GET', repo, undefined, { as: 'alice', skip: true })).body.empty)
  await git(folder, 'push', '-q', remote('alice', alice, 'one'), 'side', 'v1', 'refs/notes/commits')
  const ignore = ['tree']
  const get = (path: string, options = {}) => call('GET', repo + path, undefined, { as: null, ignore, ...options })
  const lists = [
    '',
    'limit=2',
    'limit=2&page=2',
    'limit=2&page=4',
    'limit=2&page=99',
    'page=0&limit=-1',
    'sha=side',
    'sha=v1',
    `sha=${first}`,
    'sha=none',
    'sha=-x',
    'path=src/2.txt',
    'path=src',
    'path=none',
    'path=src/1.txt&limit=1',
    'stat=false',
    'verification=false',
    'files=false',
    'stat=false&verification=false&files=false',
    'since=2026-01-01T00:03:00Z',
    'until=2026-01-01T00:03:00Z',
    'since=2030-01-01T00:00:00Z',
    'since=nonsense',
    'until=yesterday',
    'not=side',
    'sha=main&not=side',
    'not=none',
  ]
  for (const query of lists) await get(`/commits?${query}`)
  for (const ref of [head, first, 'main', 'side', 'v1', head.slice(0, 10), 'none', '0'.repeat(40), '-x', 'a%00b'])
    await get(`/git/commits/${ref}`)
  await get(`/git/commits/${head}?stat=false&verification=false&files=false`)
  for (const end of ['diff', 'patch', 'bad']) await get(`/git/commits/${first}.${end}`)
  await get(`/git/commits/${'0'.repeat(40)}.diff`)
  await get(`/git/notes/${head}`)
  await get(`/git/notes/${first}`)
  await get('/git/notes/none')
  await get(`/git/tags/${tag}`)
  const spans = [
    'side...main',
    'main...side',
    'main..side',
    `${first}...${head}`,
    `${first.slice(0, 9)}...main`,
    'v1...main',
    'side',
    'main...main',
    'none...main',
    'main...none',
    `main...${alice}:side`,
    `main...${name('nobody')}:side`,
    '-x...main',
    `${side}...v1`,
  ]
  for (const span of spans) await get(`/compare/${span}`)
  await get('/compare/side...main?output=diff')
  await get('/compare/side...main?output=patch')
  await get(`/commits/${head}/pull`)
  await call('GET', `${repo}/commits`, undefined, { as: 'bob', ignore })
  await get('/git/refs')
  await get('/git/refs/notes')
  await call('GET', repo, undefined, { as: 'alice', ignore: ['language'] })
}
