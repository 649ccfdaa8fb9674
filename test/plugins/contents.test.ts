import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Plugin } from '#core/contract'
import { definePlugin } from '#core/contract'
import { RefRules } from '#core/repos'
import { shippedPlugins } from '../../config/plugins.ts'
import { matches } from '../../plugins/contents/glob.ts'
import { startHost, type TestHost } from '../support/host.ts'

const b64 = (text: string) => Buffer.from(text).toString('base64')
const R = '/repos/alice/one'
const as = 'alice'
let h: TestHost
let folder: string

/** A rule that nobody may move branches whose name begins with `guarded`. */
const guardian = definePlugin({
  name: 'test-guardian',
  compat: '^1',
  summary: 'Guards branches, for this test.',
  needs: {},
  start: ({ contribute }) =>
    contribute(RefRules, {
      name: 'guarded branches',
      judge: ({ ref }) =>
        ref.startsWith('refs/heads/guarded') ? { message: 'this branch is guarded', scope: 'ref' as const } : undefined,
    }),
})

/** Runs git as a client, in a folder of its own; `input` goes to its standard input. */
const run = (command: string, cwd: string, args: readonly string[], input = '') =>
  new Promise<string>((resolve, reject) => {
    const person = (role: string) => ({
      [`GIT_${role}_NAME`]: 'Ada',
      [`GIT_${role}_EMAIL`]: 'ada@example.com',
      [`GIT_${role}_DATE`]: '2024-05-01T10:00:00+02:00',
    })
    const env = { PATH: process.env.PATH, HOME: folder, ...person('AUTHOR'), ...person('COMMITTER') }
    const child = execFile(command, args, { cwd, env }, (error, out) => (error ? reject(error) : resolve(out.trim())))
    // A command that reads nothing may be over before this.
    child.stdin?.on('error', () => {}).end(input)
  })
const git = (cwd: string, ...args: string[]) => run('git', cwd, args)

const gitDir = async (name: string) => {
  const sql = h.rooms.opened.database.sql<any>()
  const { id } = await sql
    .selectFrom('repository')
    .select('id')
    .where('lower_name', '=', name)
    .executeTakeFirstOrThrow()
  return h.rooms.repos.gitDir({ id: Number(id) })
}

const make = (name: string, more: object = {}) => h.call('POST', '/user/repos', { name, ...more }, { as })
const put = (repo: string, path: string, text: string, more: object = {}) =>
  h.call('POST', `/repos/alice/${repo}/contents/${path}`, { content: b64(text), ...more }, { as })

t.setTimeout(120_000)
t.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contents-'))
  h = await startHost(t as never, { plugins: [...shippedPlugins, guardian] as readonly Plugin[] })
  for (const name of ['alice', 'bob', 'wendy']) await h.user(name)
  await make('one')
  await h.call('PUT', `${R}/collaborators/wendy`, { permission: 'write' }, { as })
})
t.teardown(() => rm(folder, { recursive: true, force: true }))

t.test('an empty repository answers 404, and the first commit begins its branch', async (t) => {
  await make('empty')
  const E = '/repos/alice/empty'
  for (const path of [
    'contents',
    'contents/x',
    'contents-ext',
    'contents-ext/x',
    'file-contents?body={"files":["x"]}',
  ]) {
    t.match(await h.call('GET', `${E}/${path}`), { status: 404, body: { message: /object does not exist \[id: main/ } })
  }
  for (const path of ['raw/x', 'media/x', 'editorconfig/x']) {
    t.match(await h.call('GET', `${E}/${path}`), { status: 404, body: { message: 'repository is empty' } })
  }
  t.equal((await h.call('POST', `${E}/diffpatch`, { content: 'x' }, { as })).status, 404)
  const made = await put('empty', 'docs/a.txt', 'hello\n', { new_branch: 'dev' })
  t.match(made, {
    status: 201,
    body: {
      content: {
        path: 'docs/a.txt',
        type: 'file',
        encoding: 'base64',
        content: b64('hello\n'),
        html_url: `${h.base}/alice/empty/src/branch/dev/docs/a.txt`,
      },
      commit: { message: 'Add docs/a.txt\n', parents: [], created: '0001-01-01T00:00:00Z' },
      verification: { verified: false, reason: 'gpg.error.not_signed_commit', signer: null },
    },
  })
  t.match((await h.call('GET', E)).body, { default_branch: 'dev', empty: false }, 'the record knows at once')
  t.match((await h.call('GET', `${E}/contents`)).body, [{ name: 'docs', type: 'dir', download_url: null }])
})

t.test('one file: create, update, move, delete, and every refusal', async (t) => {
  const made = await put('one', 'a/hello.txt', 'hello\n')
  t.equal(made.status, 201)
  const { sha } = made.body.content
  const refused: [string, string, object, number, RegExp][] = [
    ['POST', 'a/hello.txt', {}, 422, /^repository file already exists \[path: a\/hello.txt\]$/],
    ['PUT', 'a/hello.txt', { content: b64('x') }, 422, /^repository file already exists/],
    [
      'PUT',
      'a/hello.txt',
      { sha: '1234' },
      422,
      new RegExp(`^sha does not match \\[given: 1234, expected: ${sha}\\]$`),
    ],
    ['PUT', 'none.txt', { sha: '1234' }, 404, /^object does not exist \[id: , rel_path: none.txt\]$/],
    ['DELETE', 'none.txt', { sha: '1234' }, 404, /object does not exist/],
    ['DELETE', 'a/hello.txt', {}, 422, /^\[SHA\]: Required$/],
    ['DELETE', 'a/hello.txt', { sha: '1234' }, 422, /sha does not match/],
    ['DELETE', 'a', { sha: '1234' }, 422, /directory/],
    ['POST', 'b', { content: 'a***' }, 422, /^illegal base64 data at input byte 1$/],
    ['POST', 'b', { content: 'aGVsbG8' }, 422, /input byte 4$/],
    ['POST', 'b', { content: 'aG=' }, 422, /input byte 3$/],
    ['POST', 'b', { content: 'aG=b' }, 422, /input byte 2$/],
    ['POST', 'b', { content: 'aG==\nx' }, 422, /input byte 5$/],
    ['POST', 'b', { branch: 'none' }, 404, /branch does not exist/],
    ['POST', 'b', { branch: 'none', new_branch: 'other' }, 404, /branch does not exist/],
    ['POST', 'b', { new_branch: 'bad..name' }, 422, /^\[NewBranchName\]: GitRefName$/],
    ['POST', 'b', { dates: { author: 'yesterday' } }, 422, /parsing time/],
    ['POST', 'a', {}, 422, /^a directory exists/],
    ['POST', 'a/hello.txt/b', {}, 422, /^a file exists/],
    ['POST', 'guarded', { new_branch: 'guarded' }, 403, /^this branch is guarded$/],
  ]
  for (const [method, path, body, status, message] of refused) {
    const answered = await h.call(method, `${R}/contents/${path}`, body, { as })
    t.match(answered, { status, body: { message, url: /swagger$/ } }, `${method} ${path} ${JSON.stringify(body)}`)
  }
  const updated = await h.call('PUT', `${R}/contents/a/hello.txt`, { content: b64('two\n'), sha }, { as })
  t.match(updated, { status: 200, body: { commit: { message: 'Update a/hello.txt\n' } } })
  const moved = await h.call(
    'PUT',
    `${R}/contents/b/moved.txt`,
    { content: b64('two\n'), sha: updated.body.content.sha, from_path: 'a/hello.txt' },
    { as },
  )
  t.match(moved, { status: 200, body: { content: { path: 'b/moved.txt' } } })
  t.equal((await h.call('GET', `${R}/contents/a/hello.txt`)).status, 404)
  t.equal((await h.call('PUT', `${R}/contents/new.txt`, {}, { as })).status, 201, 'no sha: created')
  const gone = await h.call('DELETE', `${R}/contents/b/moved.txt`, { sha: moved.body.content.sha }, { as })
  t.match(gone, { status: 200, body: { content: null, commit: { message: 'Delete b/moved.txt\n' } } })
  t.match(await put('one', 'x/../y//z.txt', 'z'), { status: 201, body: { content: { path: 'y/z.txt' } } })
})

t.test('branches of a change: new, existing, forced', async (t) => {
  t.match(await put('one', 'f1', '1', { new_branch: 'feat/x', message: ' hi \n\n' }), {
    status: 201,
    body: {
      commit: { message: 'hi\n' },
      content: {
        url: `${h.base}/api/v1${R}/contents/f1?ref=feat%2Fx`,
        download_url: `${h.base}/alice/one/raw/branch/feat/x/f1`,
      },
    },
  })
  const exists = await put('one', 'f2', '2', { new_branch: 'feat/x' })
  t.match(exists, { status: 422, body: { message: 'branch already exists [name: feat/x]' } })
  t.equal((await put('one', 'f2', '2', { new_branch: 'feat/x', force_push: true })).status, 201)
  t.equal((await h.call('GET', `${R}/contents/f1?ref=feat/x`)).status, 404, 'what was there is replaced')
  t.equal((await h.call('GET', `${R}/contents/f2?ref=feat/x`)).status, 200)
  t.equal((await put('one', 'f3', '3', { branch: 'feat/x', new_branch: 'feat/x' })).status, 201)
})

t.test('in whose name: author, committer, dates, sign-off', async (t) => {
  const commitOf = async (more: object) => (await put('one', `people/${Math.random()}`, 'x', more)).body.commit
  const own = { name: 'alice', email: 'alice@example.com' }
  t.match(await commitOf({}), { author: own, committer: own })
  const al = { name: 'Al', email: 'al@localhost' }
  t.match(await commitOf({ author: al }), { author: al, committer: al })
  t.match(await commitOf({ committer: al, author: { name: '', email: '' } }), { author: al, committer: al })
  t.match(await commitOf({ author: { name: 'Al' } }), { author: { name: 'Al', email: 'alice@example.com' } })
  const both = await commitOf({
    author: al,
    committer: { name: 'Co', email: 'co@x.yz' },
    dates: { author: '0001-01-01T00:00:00Z', committer: '2020-01-02T03:04:05+02:00' },
    message: 'one\n\ntwo',
    signoff: true,
  })
  t.match(both, {
    author: { ...al, date: new RegExp(`^${new Date().getFullYear()}-`) },
    committer: { name: 'Co', date: '2020-01-02T01:04:05Z' },
    message: 'one\n\ntwo\n\nSigned-off-by: Co <co@x.yz>\n',
  })
  await h.rooms.opened.database.tx((tx) =>
    tx.sql<any>().updateTable('account').set({ hide_email: true }).where('lower_name', '=', 'wendy').execute(),
  )
  const hidden = await h.call('POST', `${R}/contents/people/w`, {}, { as: 'wendy' })
  t.match(hidden.body.commit.author, { name: 'wendy', email: /noreply/ }, 'a hidden address stays hidden')
})

t.test('several files in one commit', async (t) => {
  const change = (files: object[], more: object = {}) => h.call('POST', `${R}/contents`, { files, ...more }, { as })
  const made = await change([
    { operation: 'create', path: 'm/1', content: b64('1') },
    { operation: 'create', path: 'm/2', content: b64('2') },
    { operation: 'upload', path: 'm/3' },
  ])
  t.match(made, {
    status: 201,
    body: {
      files: [{ path: 'm/1' }, { path: 'm/2' }, { path: 'm/3', size: 0 }],
      commit: { message: 'Add m/1, m/2\nUpdate m/3\n' },
    },
  })
  const next = await change([
    { operation: 'update', path: 'm/1', content: b64('one'), sha: made.body.files[0].sha },
    { operation: 'rename', path: 'm/two', from_path: 'm/2' },
    { operation: 'delete', path: 'm/3' },
  ])
  t.match(next.body, {
    files: [{ size: 3 }, { path: 'm/two', content: b64('2') }, null],
    commit: { message: 'Update m/1, m/two\nDelete m/3\n' },
  })
  const same = await change([{ operation: 'upload', path: 'm/1', content: b64('one') }])
  t.equal(same.body.files[0].last_commit_sha, next.body.commit.sha, 'touched by the commit that changed it')
  const nothing = await change([])
  t.match(nothing, { status: 201, body: { files: null, commit: { message: '\n', tree: next.body.commit.tree } } })
  const refused: [object[] | undefined, number, RegExp][] = [
    [undefined, 422, /^\[Files\]: Required$/],
    [[{ path: 'x' }], 422, /^\[Operation\]: Required$/],
    [[{ operation: 'create', path: '' }], 422, /^\[Path\]: Required$/],
    [[{ operation: 'burn', path: 'x' }], 422, /Operation/],
    [
      [
        { operation: 'create', path: 'q' },
        { operation: 'create', path: 'q' },
      ],
      422,
      /already exists/,
    ],
    [[{ operation: 'update', path: 'none' }], 404, /rel_path: none/],
    [[{ operation: 'rename', path: 'x', from_path: 'none' }], 404, /rel_path: none/],
    [[{ operation: 'upload', path: 'm/1', sha: 'abc' }], 422, /sha does not match/],
  ]
  for (const [files, status, message] of refused) {
    const answered = await h.call('POST', `${R}/contents`, files ? { files } : {}, { as })
    t.match(answered, { status, body: { message } }, JSON.stringify(files))
  }
  t.equal((await h.call('GET', `${R}/contents/q`)).status, 404, 'a refused change leaves nothing')
})

t.test('patches', async (t) => {
  const patch = (name: string, mode = '100644') =>
    `diff --git a/${name} b/${name}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+new\n`
  const apply = (body: object) => h.call('POST', `${R}/diffpatch`, body, { as })
  t.match(await apply({ content: patch('patched') }), {
    status: 201,
    body: { content: null, commit: { message: 'apply-patch\n' } },
  })
  t.equal((await h.call('GET', `${R}/raw/patched`)).body, 'new\n')
  t.match(await apply({ content: patch('patched') }), { status: 422, body: { message: /^git apply error/ } })
  for (const content of ['', 'nonsense', undefined]) t.equal((await apply({ content })).status, 422)
  t.equal((await apply({ content: patch('p2'), new_branch: 'patches' })).status, 201)
  t.equal((await apply({ content: patch('p3'), new_branch: 'patches' })).status, 422)
  t.equal((await apply({ content: patch('p3'), branch: 'none' })).status, 404)
  t.equal((await apply({ content: patch('p3'), new_branch: 'guarded-2' })).status, 403)
})

t.test('nothing is written outside of objects and refs, whatever the path', async (t) => {
  await make('paths', { auto_init: true })
  const P = '/repos/alice/paths'
  const link =
    'diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+.git\n\\ No newline at end of file\n'
  t.equal((await h.call('POST', `${P}/diffpatch`, { content: link }, { as })).status, 201)
  const spellings = [
    ...['.git', '.GIT', '.Git', '.gIt', '.git.', '.git..', '.git ', '.git. .', ' .git', '.git::$INDEX_ALLOCATION'],
    ...[
      '.git:x',
      'git~1',
      'GIT~1',
      'git~2',
      '.g\u200cit',
      '.gi\u200dt',
      '\u202e.git',
      '.\ufeffgit',
      '\uff0e\uff47\uff49\uff54',
    ],
    ...['.git\\x', 'x\\.git', 'a\\..\\.git'],
  ]
  const paths = [
    ...spellings.flatMap((name) => [`${name}/config`, `a/${name}/hooks/post-receive`]),
    ...['..', '../x', '../../x', 'a/../../x', '/../x', '../.git/config', 'hooks/../.git/config', '.', '', '/', './.'],
    ...[
      'a\0b',
      'a\nb',
      'a\tb',
      '\x7f',
      'link',
      'link/config',
      'link/hooks/x',
      `${'d'.repeat(300)}/x`,
      'a/'.repeat(3000),
    ],
  ]
  const listing = async () =>
    (await readdir(await gitDir('paths'), { recursive: true }))
      .filter((name) => !/^(objects|refs)(\/|$)/.test(name))
      .sort()
  const before = await listing()
  for (const path of paths) {
    const patch = `diff --git a/${path} b/${path}\nnew file mode 100755\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`
    const one = { operation: 'create', path, content: b64('x') }
    const tries: [string, string, object][] = [
      ['POST', '/contents', { files: [one] }],
      ['POST', '/contents', { files: [{ ...one, operation: 'upload' }] }],
      ['POST', '/contents', { files: [{ ...one, operation: 'rename', from_path: 'README.md' }] }],
      // Git reads these otherwise: as a way to a file of another name, which may be written.
      ...(/^\.?$|^\/$|\.\/\.$|[\n\t\x7f]|link$|d{300}|(a\/){9}/.test(path)
        ? []
        : [['POST', '/diffpatch', { content: patch }] as never]),
    ]
    if (!/^[./]*$/.test(path)) tries.push(['PUT', `/contents/${encodeURIComponent(path)}`, { content: b64('x') }])
    for (const [method, where, body] of tries) {
      const answered = await h.call(method, P + where, body, { as })
      const what = `${method} ${where.slice(0, 60)} ${JSON.stringify(path).slice(0, 60)}: ${answered.status}`
      t.ok(answered.status >= 400 && answered.status < 500 && typeof answered.body.message === 'string', what)
    }
  }
  t.same(await listing(), before, 'the folder holds what it held')
  t.match((await h.call('GET', `${P}/contents`)).body, [
    { name: 'README.md' },
    { name: 'link', type: 'symlink', target: '.git' },
  ])
})

t.test('64 writers of one branch: each is told the truth, and nothing is lost', async (t) => {
  await make('busy', { auto_init: true })
  const names = Array.from({ length: 64 }, (_, index) => `f${index}.txt`)
  const answered = await Promise.all(names.map((name) => put('busy', `many/${name}`, name)))
  const statuses = new Set(answered.map(({ status }) => status))
  t.ok(
    [...statuses].every((status) => status === 201 || status === 409),
    `statuses: ${[...statuses]}`,
  )
  const told = names.filter((_name, index) => answered[index]?.status === 201)
  t.ok(told.length > 0)
  const there = (await h.call('GET', '/repos/alice/busy/contents/many')).body.map(({ name }: { name: string }) => name)
  t.same(there.sort(), [...told].sort())
  const dir = await gitDir('busy')
  t.equal(Number(await git(dir, 'rev-list', '--count', 'main')), told.length + 1, 'a commit for each')
  const known = await h.rooms.opened.database
    .sql<any>()
    .selectFrom('git_ref')
    .select('object_id')
    .where('object_id', '=', await git(dir, 'rev-parse', 'main'))
    .execute()
  t.equal(known.length, 1, 'the database knows the tip')
})

t.test('reading: files, folders, links, submodules, LFS pointers, refs', async (t) => {
  await make('read')
  const dir = join(folder, 'read')
  await git(folder, 'init', '-q', '-b', 'main', dir)
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 12345\n`
  const oid = (text: string) => run('git', dir, ['hash-object', '-w', '--stdin'], text)
  const modules = '[submodule "s"]\n\tpath = s\n\turl = https://example.com/x/y.git\n'
  const add = async (mode: string, id: string | Promise<string>, path: string) =>
    git(dir, 'update-index', '--add', '--cacheinfo', `${mode},${await id},${path}`)
  await add('100644', oid('hello\n'), 'a/hello.txt')
  await add('100644', oid('x'), 'ä b#?(1)+.txt')
  await add('120000', oid('a/hello.txt'), 'link')
  await add('160000', '1'.repeat(40), 's')
  await add('100644', oid(modules), '.gitmodules')
  await add('100644', oid(pointer), 'big.bin')
  await git(dir, 'commit', '-qm', 'first')
  await git(dir, 'tag', 'v1/x')
  const head = await git(dir, 'rev-parse', 'HEAD')
  await git(dir, 'push', '-q', h.remote('alice', '/alice/read.git'), 'main', 'main:feat/y', 'v1/x')
  const at = (path: string) => h.call('GET', `/repos/alice/read/${path}`)

  const root = (await at('contents')).body
  t.same(
    root.map((entry: any) => [entry.name, entry.type, entry.size, entry.content]),
    [
      ['.gitmodules', 'file', modules.length, null],
      ['a', 'dir', 0, null],
      ['big.bin', 'file', pointer.length, null],
      ['link', 'symlink', 11, null],
      ['s', 'submodule', 0, null],
      ['ä b#?(1)+.txt', 'file', 1, null],
    ],
  )
  t.ok(
    root.every(
      (entry: any) => entry.last_commit_sha === head && entry.last_author_date === '2024-05-01T10:00:00+02:00',
    ),
  )
  t.same((await at('contents/')).body, root)
  t.match((await at('contents/s')).body, {
    submodule_git_url: 'https://example.com/x/y.git',
    html_url: null,
    git_url: null,
    download_url: null,
    _links: { git: null, html: null },
  })
  t.match((await at('contents/link')).body, { target: 'a/hello.txt', content: null, encoding: null })
  t.match((await at('contents/big.bin')).body, { content: b64(pointer), lfs_oid: '4d'.repeat(32), lfs_size: 12345 })
  t.match((await at(`contents/${encodeURIComponent('ä b#?(1)+.txt')}?ref=feat/y`)).body, {
    url: `${h.base}/api/v1/repos/alice/read/contents/%C3%A4%20b%23%3F%281%29+.txt?ref=feat%2Fy`,
    html_url: `${h.base}/alice/read/src/branch/feat/y/%C3%A4%20b%23%3F%281%29+.txt`,
  })
  t.match((await at('contents/link?ref=v1/x')).body.html_url, /\/src\/tag\/v1\/x\/link$/)
  t.match((await at(`contents/link?ref=${head}`)).body.html_url, new RegExp(`/src/commit/${head}/link$`))
  for (const ref of [
    'none',
    head.slice(0, 10),
    'HEAD',
    'refs/heads/main',
    '-x',
    '--output=/tmp/p',
    'main^',
    'main:a',
    '@{0}',
  ])
    t.match(
      await at(`contents/link?ref=${encodeURIComponent(ref)}`),
      { status: 404, body: { message: /^object does not exist/ } },
      ref,
    )
  for (const path of ['none', 's/x', 'link/x', 'a/hello.txt/x', '%2e%2e%2fHEAD', 'a%00b', 'objects%2finfo'])
    t.equal((await at(`contents/${path}`)).status, 404, path)

  t.same(Object.keys((await at('contents-ext/a/hello.txt')).body), ['file_contents'])
  t.notOk('last_commit_sha' in (await at('contents-ext/a/hello.txt')).body.file_contents)
  const all = await at('contents-ext/a/hello.txt?includes=file_content,commit_metadata,commit_message,lfs_metadata')
  t.match(all.body.file_contents, { content: b64('hello\n'), last_commit_message: 'first\n', last_commit_sha: head })
  t.same((await at('contents-ext/.')).body.dir_contents.length, 6)
  t.match((await at('contents-ext?includes=lfs_metadata')).body.dir_contents[2], {
    name: 'big.bin',
    lfs_size: 12345,
    content: null,
  })
  t.match(await at('contents-ext/a?includes=all'), { status: 400, body: { message: 'unknown include option "all"' } })

  const several = await h.call(
    'POST',
    '/repos/alice/read/file-contents',
    { files: ['a/hello.txt', 'none', 'a', '../x', '.'] },
    { as: null },
  )
  t.match(several, {
    status: 200,
    body: [{ content: b64('hello\n') }, null, { type: 'dir', content: null }, null, null],
  })
  t.match((await at('file-contents?body={"files":["link"]}')).body, [{ type: 'symlink' }])
  for (const body of ['', 'x', '[', 'null', '{"files":1}', '{"files":[1]}'])
    t.equal((await at(`file-contents?body=${body}`)).status, 400, body)
  t.equal((await h.call('POST', '/repos/alice/read/file-contents', {}, { as })).status, 422)
  t.same((await h.call('POST', '/repos/alice/read/file-contents', { files: [] }, { as })).body, [])
})

t.test('raw and media: headers, kinds, conditions, parts', async (t) => {
  await make('raw', { auto_init: true })
  const W = '/repos/alice/raw'
  const text = Array.from({ length: 500 }, (_, index) => `${index}\n`).join('')
  const files = {
    'page.html': '<html><script>1</script></html>',
    'pic.svg': '<?xml version="1.0"?><!-- x --><svg xmlns="http://www.w3.org/2000/svg"></svg>',
    'dir/big.txt': text,
    'ä "b".txt': 'x',
    empty: '',
  }
  const changes = Object.entries(files).map(([path, content]) => ({ operation: 'create', path, content: b64(content) }))
  const png = {
    operation: 'create',
    path: 'p.txt',
    content: Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1').toString('base64'),
  }
  t.equal(
    (await h.call('POST', `${W}/contents`, { files: [...changes, png], new_branch: 'feat/raw' }, { as })).status,
    201,
  )
  const at = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    h.call(method, `${W}/${path}`, undefined, { as: null, headers })
  const full = await at('raw/feat/raw/dir/big.txt')
  const of = (answered: { headers: Headers }, ...names: string[]) => names.map((name) => answered.headers.get(name))
  t.equal(full.body, text)
  const { sha } = (await at('contents/dir/big.txt?ref=feat/raw')).body
  t.same(
    of(
      full,
      'content-type',
      'etag',
      'cache-control',
      'content-disposition',
      'x-gitea-object-type',
      'x-content-type-options',
      'content-length',
      'accept-ranges',
    ),
    [
      'text/plain; charset=utf-8',
      `"${sha}"`,
      'public, max-age=21600',
      'inline; filename=big.txt',
      'file',
      'nosniff',
      String(text.length),
      'bytes',
    ],
  )
  t.equal(full.headers.get('content-security-policy'), "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  const modified = full.headers.get('last-modified') as string
  t.ok(Math.abs(Date.parse(modified) - Date.now()) < 600_000)
  for (const [path, type] of [
    ['page.html', 'text/plain; charset=utf-8'],
    ['pic.svg', 'image/svg+xml'],
    ['p.txt', 'image/png'],
    ['empty', 'text/plain; charset=utf-8'],
  ])
    for (const kind of ['raw', 'media']) {
      const found = await at(`${kind}/${path}?ref=feat/raw`)
      t.same(of(found, 'content-type', 'x-content-type-options'), [type, 'nosniff'], `${kind} ${path}`)
      t.match(found.headers.get('content-security-policy'), /sandbox/)
    }
  t.equal(
    (await at(`raw/${encodeURIComponent('ä "b".txt')}?ref=feat/raw`)).headers.get('content-disposition'),
    `inline; filename="_ \\"b\\".txt"; filename*=utf-8''%C3%A4%20%22b%22.txt`,
  )
  t.equal((await at('media/feat/raw/dir/big.txt')).headers.get('cache-control'), 'public, max-age=21600')
  t.equal((await at('media/feat/raw/page.html')).headers.get('cache-control'), 'max-age=0, private, must-revalidate')

  const big = 'raw/feat/raw/dir/big.txt'
  const cases: [Record<string, string>, number, (string | undefined)?, string?][] = [
    [{ 'if-none-match': `"${sha}"` }, 304],
    [{ 'if-none-match': `"x", W/"${sha}"` }, 304],
    [{ 'if-none-match': '"x"', 'if-modified-since': modified }, 200, text],
    [{ 'if-modified-since': modified }, 304],
    [{ 'if-modified-since': 'Sat, 21 Nov 2009 14:21:52 GMT' }, 200, text],
    [{ range: 'bytes=2-5' }, 206, text.slice(2, 6), `bytes 2-5/${text.length}`],
    [{ range: 'bytes=-4' }, 206, text.slice(-4), `bytes ${text.length - 4}-${text.length - 1}/${text.length}`],
    [{ range: 'bytes=3-' }, 206, text.slice(3), `bytes 3-${text.length - 1}/${text.length}`],
    [{ range: 'bytes=0-999999' }, 206, text, `bytes 0-${text.length - 1}/${text.length}`],
    [{ range: 'bytes=0-1,3-4' }, 200, text],
    [{ range: 'bytes=5-2' }, 200, text],
    [{ range: 'bytes=0-1', 'if-range': '"x"' }, 200, text],
    [{ range: 'bytes=0-1', 'if-range': `"${sha}"` }, 206, '0\n', `bytes 0-1/${text.length}`],
    [{ range: 'bytes=999999-' }, 416, undefined, `bytes */${text.length}`],
  ]
  for (const [headers, status, body, range] of cases) {
    const answered = await at(big, headers)
    const what = JSON.stringify(headers)
    t.equal(answered.status, status, what)
    if (body !== undefined) t.equal(answered.body, body, what)
    t.equal(answered.headers.get('content-range'), range ?? null, what)
  }
  const head = await at(big, {}, 'HEAD')
  t.same([head.status, head.body, ...of(head, 'content-length', 'etag')], [200, '', String(text.length), `"${sha}"`])

  const gone = [
    'raw/none',
    'raw/dir',
    'raw/feat/raw/dir',
    'raw/none/README.md',
    'raw/heads/main/README.md',
    'media/dir',
    'raw/README.md?ref=none',
    `raw/README.md?ref=${(await at('contents/README.md')).body.last_commit_sha.slice(0, 8)}`,
  ]
  for (const path of gone) t.match(await at(path), { status: 404, body: { message: /./, url: /swagger/ } }, path)
  t.equal((await at('raw/README.md')).status, 200)
  await h.call('PATCH', W, { private: true }, { as })
  t.equal((await at('raw/README.md')).status, 404)
  t.equal(
    (await h.call('GET', `${W}/raw/README.md`, undefined, { as })).headers.get('cache-control'),
    'private, max-age=21600',
  )
})

t.test('a large file goes at the pace of the client and fills no memory', async (t) => {
  await make('large')
  const dir = join(folder, 'large')
  const size = 128 * 2 ** 20
  await git(folder, 'init', '-q', '-b', 'main', dir)
  await run('sh', dir, ['-c', `head -c ${size} /dev/zero > zeros`])
  await git(dir, 'add', 'zeros')
  await git(dir, 'commit', '-qm', 'zeros')
  await git(dir, 'push', '-q', h.remote('alice', '/alice/large.git'), 'main')
  const url = `${h.base}/api/v1/repos/alice/large/raw/zeros`
  const before = process.memoryUsage().arrayBuffers
  let held = 0
  const received = await new Promise<number>((resolve, reject) => {
    get(url, async (response) => {
      let bytes = 0
      for await (const chunk of response) {
        if (bytes === 0) {
          // The client stops: whatever the host does not hold back piles up in memory now.
          await sleep(1500)
          held = process.memoryUsage().arrayBuffers - before
        }
        bytes += chunk.length
      }
      resolve(bytes)
    }).on('error', reject)
  })
  t.equal(received, size)
  t.ok(held < 32 * 2 ** 20, `${Math.round(held / 2 ** 20)} MiB held while the client waits`)
  const end = await h.call('GET', '/repos/alice/large/raw/zeros', undefined, {
    headers: { range: `bytes=${size - 3}-` },
  })
  t.same([end.status, end.body], [206, '\0\0\0'])
})

t.test('who may: strangers, readers, writers, tokens, frozen repositories', async (t) => {
  await make('who', { auto_init: true })
  const W = '/repos/alice/who'
  const writes: [string, string, object][] = [
    ['POST', '/contents', { files: [] }],
    ['POST', '/contents/x', {}],
    ['PUT', '/contents/x', {}],
    ['DELETE', '/contents/README.md', { sha: 'x' }],
    ['POST', '/diffpatch', { content: 'x' }],
  ]
  const message = 'user should have a permission to write to the target branch'
  for (const [method, path, body] of writes) {
    t.equal((await h.call(method, W + path, body, { as: null })).status, 401)
    t.match(await h.call(method, W + path, body, { as: 'bob' }), { status: 403, body: { message } })
  }
  const reader = await h.tokenWith('alice', ['read:repository'])
  const auth = { auth: `token ${reader}` }
  t.equal((await h.call('POST', `${W}/contents/x`, {}, auth)).status, 403)
  t.equal(
    (await h.call('POST', `${W}/file-contents`, { files: [] }, auth)).status,
    403,
    'a POST needs the right to write',
  )
  t.equal((await h.call('GET', `${W}/file-contents?body={}`, undefined, auth)).status, 200)
  t.equal(
    (await h.call('GET', `${W}/contents`, undefined, { auth: `token ${await h.tokenWith('alice', ['read:issue'])}` }))
      .status,
    403,
  )

  await h.call('PATCH', W, { archived: true }, { as })
  for (const [method, path, body] of writes)
    for (const who of [null, 'bob', 'alice'])
      t.match(await h.call(method, W + path, body, { as: who }), {
        status: 423,
        body: { message: 'repo is not allowed to edit' },
      })
  await h.call('PATCH', W, { archived: false, private: true }, { as })
  for (const who of [null, 'bob']) {
    for (const [method, path, body] of writes) t.equal((await h.call(method, W + path, body, { as: who })).status, 404)
    for (const path of [
      'contents',
      'contents/README.md',
      'contents-ext',
      'raw/README.md',
      'media/README.md',
      'editorconfig/x',
    ])
      t.equal((await h.call('GET', `${W}/${path}`, undefined, { as: who })).status, 404)
  }
  const publicOnly = { auth: `token ${await h.tokenWith('alice', ['all', 'public-only'])}` }
  t.equal((await h.call('GET', `${W}/raw/README.md`, undefined, publicOnly)).status, 404)
})

t.test('.editorconfig', async (t) => {
  await make('style', { auto_init: true })
  const S = '/repos/alice/style/editorconfig'
  t.match(await h.call('GET', `${S}/a.md`), { status: 404, body: { message: /rel_path: .editorconfig/ } })
  const config =
    'root = true\n[*]\nindent_style = SPACE\nindent_size = 2\n[*.{md,txt}]\nindent_size = 4\n[lib/**.js]\ncharset = utf-8\n[Makefile]\nindent_style = tab\nindent_size = unset\n'
  await put('style', '.editorconfig', config)
  const cases: [string, object][] = [
    ['a.rs', { indent_style: 'space', indent_size: '2' }],
    ['a.md', { indent_style: 'space', indent_size: '4' }],
    ['lib%2Fx%2Fa.js', { indent_style: 'space', indent_size: '2', charset: 'utf-8' }],
    ['Makefile', { indent_style: 'tab' }],
  ]
  for (const [path, said] of cases)
    t.same((await h.call('GET', `${S}/${path}`, undefined, { as: null })).body, said, path)
  t.equal((await h.call('GET', `${S}/a/b`)).status, 404, 'one segment only')
  t.equal((await h.call('GET', `${S}/a?ref=none`)).status, 404)

  const globs: [string, string, boolean][] = [
    ['*.js', 'a/b.js', true],
    ['a/*.js', 'a/b/c.js', false],
    ['a/**.js', 'a/b/c.js', true],
    ['/b.js', 'a/b.js', false],
    ['?.js', 'ab.js', false],
    ['[ab].js', 'b.js', true],
    ['[!ab].js', 'b.js', false],
    ['[a-c]', 'b', true],
    ['{a,b{c,d}}.js', 'bd.js', true],
    ['{a,b{c,d}}.js', 'b.js', false],
    ['{1..12}', '7', true],
    ['{1..12}', '13', false],
    ['{single}.b', '{single}.b', true],
    ['{a', '{a', true],
    ['\\*', 'x', false],
  ]
  for (const [pattern, path, is] of globs) t.equal(matches(pattern, path), is, `${pattern} ${path}`)
  const evil = [
    '{1..9999999}{1..9999999}',
    '{a,b}'.repeat(200),
    '**/'.repeat(300),
    '*a'.repeat(500),
    '['.repeat(1000),
    '{'.repeat(1000),
  ]
  const sections = evil.map((pattern) => `[${pattern}]\nindent_size = 8\n`).join('')
  const evilConfig = `[*]\nindent_size = 8\n${sections.repeat(12).replaceAll('8', '9')}`
  const { sha } = (await h.call('GET', '/repos/alice/style/contents/.editorconfig')).body
  await h.call(
    'PUT',
    '/repos/alice/style/contents/.editorconfig',
    { sha, content: b64(evilConfig), new_branch: 'evil' },
    { as },
  )
  const start = performance.now()
  t.same((await h.call('GET', `${S}/${'b'.repeat(1000)}?ref=evil`)).body, { indent_size: '8' })
  t.ok(performance.now() - start < 2000, `${Math.round(performance.now() - start)} ms for patterns that mean harm`)
})

t.test('limits of the host', async (t) => {
  const small = await startHost(t as never, {
    config: { 'api.DEFAULT_MAX_BLOB_SIZE': '10', 'api.DEFAULT_PAGING_NUM': '3', 'api.DEFAULT_MAX_RESPONSE_SIZE': '15' },
  })
  await small.call('POST', '/user/repos', { name: 'r' })
  const files = ['a', 'b', 'c', 'd'].map((path) => ({ operation: 'create', path, content: b64(path.repeat(6)) }))
  const large = { operation: 'create', path: 'large', content: b64('x'.repeat(11)) }
  await small.call('POST', '/repos/admin/r/contents', { files: [...files, large] })
  t.match((await small.call('GET', '/repos/admin/r/contents/large')).body, { size: 11, content: null, encoding: null })
  const read = async (...paths: string[]) =>
    (await small.call('POST', '/repos/admin/r/file-contents', { files: paths })).body.map(
      (file: any) => file?.path ?? null,
    )
  t.same(await read('none', 'a', 'large', 'b'), [null, 'a', 'large'], 'no more than a page')
  t.same(await read('a', 'b', 'c'), ['a', 'b'], 'no more than the size of an answer')
  await small.stop()
})
