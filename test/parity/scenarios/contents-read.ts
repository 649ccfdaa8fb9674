import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import type { Explained } from '../compare.ts'
import type { Play } from '../play.ts'

/** Where the contract wants another answer than the reference’s. */
export const explained: Explained[] = [
  { step: /(raw|media)\/docs\/a\.md\?ref=none/, path: 'status', ours: 404, why: 'contract 00: an unknown ref is 404' },
  {
    step: /\/media\//,
    path: /headers\.(etag|content-disposition|content-type)/,
    why: 'small files carry the headers of files too',
  },
  {
    step: 'GET /repos/alice-SFX/Files/contents/.git/config as nobody',
    path: 'status',
    ours: 404,
    why: 'there is no such file',
  },
  {
    step: 'GET /repos/alice-SFX/Files/git/blobs/{sha} as nobody #2',
    path: 'status',
    ours: 400,
    why: 'a commit is no blob',
  },
]

/** Files and folders read in every way, with the headers of downloads. */
export default async ({ call, user, git, remote, tmp, until }: Play) => {
  const alice = await user('alice')
  await call('POST', '/user/repos', { name: 'Files' }, { as: 'alice', skip: true })
  const repo = `/repos/${alice}/Files`
  const folder = tmp()
  await git(folder, 'init', '-q', '-b', 'main')
  mkdirSync(`${folder}/docs/deep`, { recursive: true })
  writeFileSync(`${folder}/README.md`, '# Files\n')
  writeFileSync(`${folder}/page.html`, '<script>alert(1)</script>\n')
  writeFileSync(`${folder}/empty`, '')
  writeFileSync(`${folder}/binary.bin`, Buffer.from([0, 1, 2, 255, 254]))
  writeFileSync(`${folder}/big.txt`, 'line\n'.repeat(1000))
  writeFileSync(`${folder}/naïve file.txt`, 'ä\n')
  writeFileSync(`${folder}/docs/a.md`, 'a\n')
  writeFileSync(`${folder}/docs/deep/b.md`, 'b\n')
  writeFileSync(`${folder}/run.sh`, '#!/bin/sh\n', { mode: 0o755 })
  writeFileSync(
    `${folder}/.editorconfig`,
    'root = true\n[*]\nindent_style = space\nindent_size = 2\n[*.go]\nindent_style = tab\n',
  )
  symlinkSync('README.md', `${folder}/link`)
  await git(folder, 'add', '.')
  await git(folder, 'commit', '-qm', 'start')
  await git(folder, 'tag', 'v1')
  writeFileSync(`${folder}/docs/a.md`, 'a changed\n')
  await git(folder, 'commit', '-qam', 'change a')
  await git(folder, 'branch', 'feature/x')
  const head = await git(folder, 'rev-parse', 'HEAD')
  await git(folder, 'push', '-q', remote('alice', alice, 'Files'), 'main')
  await until(async () => !(await call('GET', repo, undefined, { as: 'alice', skip: true })).body.empty)
  await git(folder, 'push', '-q', remote('alice', alice, 'Files'), 'feature/x', 'v1')
  const get = (path: string, options = {}) => call('GET', repo + path, undefined, { as: null, ...options })
  const paths = [
    '',
    '/',
    '/docs',
    '/docs/',
    '/docs/deep/b.md',
    '/README.md',
    '/empty',
    '/binary.bin',
    '/link',
    '/run.sh',
    '/na%C3%AFve%20file.txt',
  ]
  for (const path of paths) await get(`/contents${path}`)
  for (const ref of ['v1', 'feature/x', head, 'main', ''])
    await get(`/contents/docs/a.md?ref=${encodeURIComponent(ref)}`)
  for (const path of ['/none', '/docs/none', '/README.md/x', '/..%2Fetc', '/.git/config', '/a%00b', '/-x'])
    await get(`/contents${path}`)
  for (const ref of ['none', head.slice(0, 8), '-x', 'a..b', 'refs/heads/main', '0'.repeat(40)])
    await get(`/contents/README.md?ref=${ref}`)
  await get('/contents/none', { text: true })
  await get('/contents-ext')
  await get('/contents-ext/README.md?includes=file_content,commit_metadata,commit_message')
  await get('/contents-ext/docs?includes=commit_metadata')
  await get('/contents-ext/README.md?includes=nonsense')
  await get('/contents-ext/none')
  await call('POST', `${repo}/file-contents`, { files: ['README.md', 'none', 'docs', 'run.sh'] }, { as: 'alice' })
  await call('POST', `${repo}/file-contents?ref=v1`, { files: ['docs/a.md'] }, { as: 'alice' })
  await call('POST', `${repo}/file-contents`, { files: [] }, { as: 'alice' })
  await call('POST', `${repo}/file-contents`, {}, { as: 'alice' })
  await get(`/file-contents?body=${encodeURIComponent(JSON.stringify({ files: ['README.md', 'none'] }))}`)
  await get('/file-contents?body=nonsense')
  for (const way of ['raw', 'media']) {
    for (const path of [
      'README.md',
      'page.html',
      'empty',
      'binary.bin',
      'link',
      'run.sh',
      'na%C3%AFve%20file.txt',
      'docs/deep/b.md',
      'docs',
      'none',
      '.git/config',
      '..%2Fx',
      'a%00b',
    ]) {
      await get(`/${way}/${path}`, { bodiless: path === 'binary.bin' })
    }
    await get(`/${way}/big.txt`, { bodiless: true })
    await get(`/${way}/docs/a.md?ref=v1`)
    await get(`/${way}/docs/a.md?ref=feature/x`)
    await get(`/${way}/docs/a.md?ref=${head}`)
    await get(`/${way}/main/docs/a.md`)
    await get(`/${way}/docs/a.md?ref=none`)
  }
  const { headers } = await get('/raw/big.txt', { skip: true })
  await get('/raw/big.txt', { headers: { 'if-none-match': headers.etag ?? '' } })
  await get('/raw/big.txt', { headers: { range: 'bytes=0-9' } })
  await call('HEAD', `${repo}/raw/README.md`, undefined, { as: null })
  await get('/editorconfig/README.md')
  await get('/editorconfig/main.go')
  const languages = async () => (await get('/languages', { skip: true })).body
  await until(async () => Object.keys(await languages()).length > 0)
  await get('/languages')
  for (const path of [
    'main',
    'v1',
    head,
    'none',
    'main?recursive=true',
    'main?recursive=1&per_page=3&page=2',
    'main?per_page=2',
    'main?per_page=2&page=99',
    '-x',
  ]) {
    await get(`/git/trees/${path}`)
  }
  const readme = await git(folder, 'rev-parse', 'HEAD:README.md')
  for (const sha of [readme, readme.slice(0, 8), '0'.repeat(40), 'none', head]) await get(`/git/blobs/${sha}`)
  for (const end of [
    'archive/main.zip',
    'archive/main.tar.gz',
    'archive/v1.zip',
    'archive/feature/x.zip',
    `archive/${head}.tar.gz`,
    'archive/main.bundle',
    'archive/main.rar',
    'archive/main',
    'archive/none.zip',
    'archive/main.zip?path=docs',
    'tarball/main',
    'zipball/v1',
    'zipball/none',
  ]) {
    await get(`/${end}`, { bodiless: true })
  }
  await call('HEAD', `${repo}/archive/main.zip`, undefined, { as: null })
}
