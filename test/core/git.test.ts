import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import t from 'tap'
import { git } from '#core/repos'

t.setTimeout(240_000)
const folder = mkdtempSync(join(tmpdir(), 'switchyard-git-'))
const host = git.createGit()
t.teardown(() => {
  host.close()
  rmSync(folder, { recursive: true, force: true })
})

const signer = { name: 'Ann', email: 'ann@example.org', date: '2024-05-01T10:00:00+02:00' }
const said = (message: string, branch = 'main') => ({ branch, message, author: signer, committer: signer })
let count = 0

async function fresh(objectFormat: git.ObjectFormat = 'sha1') {
  count += 1
  const repo = host.open(join(folder, `r${count}.git`))
  await git.initRepository(repo, { defaultBranch: 'main', objectFormat })
  return repo
}

async function filled(objectFormat: git.ObjectFormat = 'sha1') {
  const repo = await fresh(objectFormat)
  const first = await git.commitChanges(repo, { ...said('one'), mode: 'first' }, [
    { operation: 'create', path: 'README.md', content: Buffer.from('# hello\n') },
    { operation: 'create', path: 'src/deep/a b.txt', content: Buffer.from('a\n') },
    { operation: 'create', path: 'run.sh', content: Buffer.from('#!/bin/sh\n'), executable: true },
  ])
  return { repo, first }
}

/** git as a person runs it, for what our own functions shall not be asked about. */
function plain(cwd: string, ...args: string[]) {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
  }).trim()
}

function refusal(kind: string, message: string | RegExp) {
  return { name: 'Refusal', kind, message }
}

function conflict(why: git.RefConflict['why']) {
  return { name: 'Refusal', kind: 'conflict', why }
}

function listing(path: string): string[] {
  return readdirSync(path, { recursive: true })
    .map(String)
    .filter((name) => !/^(objects|refs)(\/|$)/.test(name))
    .sort()
}

t.test('names', async (t) => {
  const bad = [
    '',
    '-x',
    '--exec=touch',
    'a..b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[',
    'a\\b',
    '/a',
    'a/',
    'a//b',
  ]
  for (const name of [...bad, '.a', 'a/.b', 'a.lock', 'a.lock/b', 'a@{b', 'a\n', 'a\x7f', 'HEAD', 'a.']) {
    t.equal(git.isBranchName(name), false, `no branch: ${JSON.stringify(name)}`)
    const known = name === '' || /[\n]/.test(name) ? false : accepts(name)
    if (name !== 'HEAD') t.equal(known, false, `git agrees on ${JSON.stringify(name)}`)
  }
  for (const name of ['main', 'a/b', 'feature/ü', 'a.b', 'x-', 'a@b', '@a', 'a{b}', '0']) {
    t.equal(git.isBranchName(name), true, `branch: ${name}`)
    t.equal(accepts(name), true, `git agrees on ${name}`)
  }
  t.same(git.describeRef('refs/heads/a/b'), { kind: 'branch', short: 'a/b' })
  t.same(git.describeRef('refs/tags/v1'), { kind: 'tag', short: 'v1' })

  for (const [given, clean] of [
    ['a/../b', 'b'],
    ['/a//b/', 'a/b'],
    ['./a', 'a'],
    ['a/b/../../c', 'c'],
    ['../x', 'x'],
  ]) {
    t.equal(git.cleanTreePath(given as string), clean)
  }
  for (const path of gitSpellings()) {
    t.throws(() => git.cleanTreePath(path), refusal('invalid', /path/), `refused: ${JSON.stringify(path)}`)
  }
  for (const path of [
    '.gitignore',
    '.github/x',
    'git',
    'git~x',
    '.git-keep',
    'a.git',
    '..a',
    'ü/ß',
    '~',
    '.gitx/config',
  ]) {
    t.equal(git.cleanTreePath(path), path, `accepted: ${path}`)
  }

  function accepts(name: string) {
    try {
      plain('/', 'check-ref-format', '--branch', name)
      return true
    } catch {
      return false
    }
  }
})

function gitSpellings() {
  const heads = [
    '.git',
    '.GIT',
    '.Git',
    '.gIt',
    '.git.',
    '.git ',
    '.git. .',
    '.git::$INDEX_ALLOCATION',
    '.git:stream',
    'git~1',
  ]
  const more = [
    'GIT~1',
    'git~2',
    '.g\u200cit',
    '.\u200dgit',
    '.gi\u202et',
    '\ufeff.git',
    '.git\u206a',
    '\uff0egit',
    '.git\\x',
    'a\\.git',
  ]
  const whole = [
    '',
    '/',
    '.',
    '..',
    '../..',
    'a\0b',
    'a\nb',
    'a\x1fb',
    '\x7f',
    'a\\..\\b',
    '\ud800',
    `${'x'.repeat(256)}`,
  ]
  return [...whole, ...[...heads, ...more].flatMap((name) => [name, `${name}/config`, `a/${name}/hooks/pre-receive`])]
}

t.test('an empty repository', async (t) => {
  const repo = await fresh()
  t.equal(await git.repositoryExists(repo), true)
  t.equal(await git.isEmptyRepository(repo), true)
  t.equal(await git.readHead(repo), 'main')
  t.same(await git.listRefs(repo), [])
  t.equal(await git.resolveRevision(repo, 'main'), undefined)
  t.equal(await git.resolveRevision(repo, 'HEAD'), undefined)
  await t.rejects(git.commitChanges(repo, said('x'), []), refusal('not-found', 'branch does not exist [name: main]'))
  t.equal(await git.repositoryExists(host.open(join(folder, 'nowhere'))), false)
  t.match(await git.checkRepository(repo), [])
})

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`write and read back, ${format}`, async (t) => {
    const { repo, first } = await filled(format)
    t.equal(first.base, null)
    t.same(first.commit.parents, [])
    t.same(first.commit.author, { name: 'Ann', email: 'ann@example.org', date: '2024-05-01T10:00:00+02:00' })
    t.equal(first.commit.message, 'one\n')
    t.same(
      await git.listRefs(repo),
      [
        {
          name: 'refs/heads/main',
          objectId: first.commit.id,
          objectType: 'commit',
          peeledId: first.commit.id,
          peeledType: 'commit',
        },
      ],
      'no helper ref stays',
    )
    const second = await git.commitChanges(repo, said('two'), [
      { operation: 'rename', fromPath: 'run.sh', path: 'bin/run.sh' },
      {
        operation: 'update',
        path: 'README.md',
        content: Buffer.from('# other\n'),
        sha: (await git.readEntry(repo, first.commit.id, 'README.md'))?.id,
      },
      {
        operation: 'upload',
        path: 'stream',
        content: { size: 5, stream: Readable.from([Buffer.from('he'), Buffer.from('llo')]) },
      },
      { operation: 'delete', path: 'src/deep/a b.txt' },
      { operation: 'create', path: 'quo"te\\.txt', content: Buffer.alloc(0) },
    ])
    t.same(second.commit.parents, [first.commit.id])
    t.same(second.paths[0], { path: 'bin/run.sh', fromPath: 'run.sh', operation: 'rename' })
    const top = await git.listDirectory(repo, second.commit.id)
    t.same(
      top?.map(({ name, type, size }) => [name, type, size]),
      [
        ['README.md', 'file', 8],
        ['bin', 'dir', 0],
        ['quo"te\\.txt', 'file', 0],
        ['stream', 'file', 5],
      ],
    )
    t.equal((await git.readEntry(repo, second.commit.id, 'bin/run.sh'))?.mode, '100755')
    const page = await git.listTree(repo, second.commit.id, { recursive: true, skip: 1, limit: 2 })
    t.equal(page.total, 5)
    t.same(
      page.entries.map(({ path }) => path),
      ['bin', 'bin/run.sh'],
    )
    const blob = (await git.readEntry(repo, second.commit.id, 'stream'))?.id as string
    t.equal(String(await git.readBlob(repo, blob)), 'hello')
    t.same(await git.checkRepository(repo), [])
    t.equal(
      plain(repo.path, 'log', '-1', '--format=%an|%ae|%ad|%B', '--date=iso-strict'),
      'Ann|ann@example.org|2024-05-01T10:00:00+02:00|two',
    )
  })
}

t.test('refused changes, in the words of the contract', async (t) => {
  const { repo, first } = await filled()
  const content = Buffer.from('x')
  const readme = (await git.readEntry(repo, first.commit.id, 'README.md'))?.id
  // A tree with a symlink, a submodule and a file.
  const tree = plain(repo.path, 'rev-parse', 'main^{tree}')
  const odd = execFileSync('git', ['mktree'], {
    cwd: repo.path,
    input: `${plain(repo.path, 'ls-tree', tree)}\n120000 blob ${readme}\tlink\n160000 commit ${first.commit.id}\tsub\n`,
    encoding: 'utf8',
  }).trim()
  await git.commitTree(repo, said('odd'), odd)
  const cases: [git.Change, string, string | RegExp][] = [
    [
      { operation: 'create', path: 'README.md', content },
      'invalid',
      'repository file already exists [path: README.md]',
    ],
    [{ operation: 'create', path: 'src', content }, 'invalid', /a directory exists .*\[path: src\]/],
    [{ operation: 'upload', path: 'src/deep', content }, 'invalid', /a directory exists/],
    [{ operation: 'create', path: 'README.md/x', content }, 'invalid', /a file exists where .*\[path: README.md\]/],
    [{ operation: 'create', path: 'link/x', content }, 'invalid', /a symbolic link exists/],
    [{ operation: 'upload', path: 'link', content }, 'invalid', /a symbolic link exists/],
    [{ operation: 'update', path: 'link', content }, 'invalid', /a symbolic link exists/],
    [{ operation: 'upload', path: 'sub', content }, 'invalid', /a submodule exists/],
    [{ operation: 'create', path: 'sub/x', content }, 'invalid', /a submodule exists/],
    [{ operation: 'update', path: 'nope', content }, 'not-found', 'object does not exist [id: , rel_path: nope]'],
    [{ operation: 'delete', path: 'nope' }, 'not-found', 'object does not exist [id: , rel_path: nope]'],
    [
      { operation: 'rename', path: 'new', fromPath: 'nope' },
      'not-found',
      'object does not exist [id: , rel_path: nope]',
    ],
    [
      { operation: 'rename', path: 'README.md', fromPath: 'run.sh' },
      'invalid',
      'repository file already exists [path: README.md]',
    ],
    [
      { operation: 'delete', path: 'README.md', sha: '1234' },
      'invalid',
      `sha does not match [given: 1234, expected: ${readme}]`,
    ],
    [
      { operation: 'update', path: 'README.md', sha: '1234', content },
      'invalid',
      `sha does not match [given: 1234, expected: ${readme}]`,
    ],
    [
      { operation: 'create', path: '.git/config', content },
      'invalid',
      'path contains a malformed path component [path: .git/config]',
    ],
  ]
  const before = await git.listRefs(repo)
  for (const [change, kind, message] of cases) {
    await t.rejects(
      git.commitChanges(repo, said('no'), [change]),
      refusal(kind, message),
      `${change.operation} ${change.path}`,
    )
  }
  t.same(await git.listRefs(repo), before)
  const short = { size: 9, stream: Readable.from([Buffer.from('x')]) }
  await t.rejects(
    git.commitChanges(repo, said('no'), [{ operation: 'upload', path: 'x', content: short }]),
    refusal('invalid', /another length/),
  )
  await t.rejects(git.commitChanges(repo, said('no', '-x'), []), refusal('invalid', /invalid branch name/))
  await t.rejects(
    git.commitChanges(repo, { ...said('no', 'main'), mode: 'create' }, []),
    refusal('invalid', 'branch already exists [name: main]'),
  )
  await t.rejects(git.commitChanges(repo, { ...said('no'), expected: first.commit.id }, []), conflict('moved'))
  await t.rejects(
    git.commitChanges(repo, { ...said('no'), approve: async () => Promise.reject(new Error('protected')) }, []),
    { message: 'protected' },
  )
  t.same(await git.listRefs(repo), before)
  const made = await git.commitChanges(repo, { ...said('new', 'side'), from: 'main', mode: 'create' }, [
    { operation: 'create', path: 'one', content },
    { operation: 'rename', path: 'two', fromPath: 'one' },
    { operation: 'create', path: 'one/three', content },
  ])
  t.same(
    (await git.listTree(repo, made.commit.id, { recursive: true })).entries
      .map(({ path }) => path)
      .filter((p) => /one|two/.test(p)),
    ['one', 'one/three', 'two'],
  )
  t.same(listing(repo.path), ['HEAD', 'config'], 'nothing is left outside objects and refs')
})

t.test('S1: no spelling of .git gets in, and no file appears', async (t) => {
  const { repo } = await filled()
  const before = listing(repo.path)
  for (const path of gitSpellings()) {
    await t.rejects(git.commitChanges(repo, said('no'), [{ operation: 'upload', path, content: Buffer.from('x') }]), {
      name: 'Refusal',
    })
    await t.rejects(git.commitChanges(repo, said('no'), [{ operation: 'rename', fromPath: 'README.md', path }]), {
      name: 'Refusal',
    })
    if (/[\0\n\ud800]/.test(path)) continue
    const patch = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`
    await t.rejects(
      git.commitPatch(repo, said('no'), patch),
      refusal('invalid', /./),
      `patch to ${JSON.stringify(path)}`,
    )
  }
  const link =
    'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../../hooks\n\\ No newline at end of file\n'
  await git.commitPatch(repo, said('link'), link)
  const through = 'diff --git a/l/x b/l/x\nnew file mode 100644\n--- /dev/null\n+++ b/l/x\n@@ -0,0 +1 @@\n+x\n'
  await t.rejects(git.commitPatch(repo, said('no'), through), refusal('invalid', /git apply error/))
  await t.rejects(git.commitPatch(repo, said('no'), 'not a patch'), refusal('invalid', /git apply error/))
  t.same(
    listing(repo.path).filter((name) => name !== 'tmp'),
    before,
  )
  t.same(readdirSync(join(repo.path, 'tmp')), [])
})

t.test('S2: nothing a caller says becomes an option or an expression', async (t) => {
  const { repo, first } = await filled()
  const canary = join(folder, 'canary')
  const evil = [
    '-x',
    `--output=${canary}`,
    `--exec=touch ${canary}`,
    `--upload-pack=touch ${canary}`,
    '--',
    '--all',
    `ext::sh -c touch% ${canary}`,
  ]
  const expressions = [
    'main@{0}',
    'main~1',
    'main^',
    ':/one',
    'main:README.md',
    'HEAD^{tree}',
    '@',
    ':0:x',
    'main..main',
    '^main',
    '',
  ]
  for (const text of [...evil, ...expressions]) {
    t.equal(await git.resolveRevision(repo, text), undefined, `no revision: ${text}`)
    t.equal(await git.resolveBranch(repo, text), undefined)
    t.equal(await git.readRef(repo, text), undefined)
    t.equal(await git.blobInfo(repo, text), undefined)
    t.same(await git.listRefs(repo, { prefixes: [text || '\n'] }), [])
    await t.rejects(git.updateRefs(repo, [{ ref: text, to: first.commit.id }]), refusal('invalid', /./))
    await t.rejects(git.updateRefs(repo, [{ ref: 'refs/heads/x', to: text }]), refusal('invalid', /./))
    await t.rejects(git.logCommits(repo, { from: [text] }), refusal('invalid', /./))
    await t.rejects(git.streamRangeDiff(repo, text, first.commit.id, 'diff'), refusal('invalid', /./))
    await t.rejects(git.streamArchive(repo, text, 'zip'), refusal('invalid', /./))
    await t.rejects(git.fetchInto(repo, repo, [text]), refusal('invalid', /./))
    if (text !== '@') await t.rejects(git.writeHead(repo, text), refusal('invalid', /./))
  }
  // Paths are free; they must stay paths.
  for (const path of evil) {
    t.equal((await git.logCommits(repo, { from: [first.commit.id], path })).total, 0)
    await t.rejects(
      git.streamArchive(repo, first.commit.id, 'zip', { paths: [path] }),
      refusal('bad-request', /path does not exist/),
    )
    const made = await git.commitChanges(repo, said(path), [{ operation: 'create', path, content: Buffer.from(path) }])
    const zip = await text(await git.streamArchive(repo, made.commit.id, 'tar.gz', { paths: [path] }))
    t.ok(zip.length > 50)
    t.equal((await git.logCommits(repo, { from: [made.commit.id], path })).total, 1)
    const name = path.split('/')[0] as string
    t.ok((await git.lastCommits(repo, made.commit.id, '', [name])).has(name))
  }
  t.equal(existsSync(canary), false)
})

t.test('revisions', async (t) => {
  const { repo, first } = await filled()
  const id = first.commit.id
  const tag = await git.writeTag(repo, {
    name: 'v1',
    object: id,
    objectType: 'commit',
    tagger: signer,
    message: 'first',
  })
  const outer = await git.writeTag(repo, {
    name: 'v2',
    object: tag,
    objectType: 'tag',
    tagger: signer,
    message: 'nested',
  })
  await git.updateRefs(repo, [
    { ref: 'refs/tags/v1', to: tag, from: null },
    { ref: 'refs/tags/v2', to: outer, from: null },
    { ref: 'refs/tags/light', to: id, from: null },
    { ref: 'refs/heads/a/b', to: id, from: null },
    { ref: 'refs/notes/x', to: id, from: null },
  ])
  t.match(await git.resolveRevision(repo, 'main'), {
    kind: 'branch',
    ref: 'refs/heads/main',
    name: 'main',
    commitId: id,
  })
  t.match(await git.resolveRevision(repo, 'a/b'), { kind: 'branch', name: 'a/b' })
  t.match(await git.resolveRevision(repo, 'v1'), { kind: 'tag', objectId: tag, objectType: 'tag', commitId: id })
  t.match(await git.resolveRevision(repo, id), { kind: 'commit', ref: undefined, commitId: id })
  t.match(await git.resolveRevision(repo, id.slice(0, 7).toUpperCase()), { kind: 'commit', commitId: id })
  t.equal(await git.resolveRevision(repo, id.slice(0, 7), { short: false }), undefined)
  t.match(await git.resolveRevision(repo, 'refs/notes/x'), { kind: 'full', commitId: id })
  t.match(await git.resolveRevision(repo, 'refs/heads/main'), { kind: 'branch', name: 'main' })
  t.match(await git.resolveRevision(repo, 'HEAD'), { commitId: id })
  t.equal(await git.resolveRevision(repo, '0'.repeat(40)), undefined)
  t.match(await git.readTag(repo, tag), { name: 'v1', object: id, message: 'first\n', tagger: { name: 'Ann' } })
  const refs = await git.readRefFacts(repo, await git.listRefs(repo, { prefixes: ['refs/tags/'] }))
  t.same(
    refs.map(({ name, peeledId, commit, tag }) => [name, peeledId, commit?.id, tag?.name]),
    [
      ['refs/tags/light', id, id, undefined],
      ['refs/tags/v1', id, id, 'v1'],
      ['refs/tags/v2', id, id, 'v2'],
    ],
  )
  t.same(
    (await git.listRefs(repo, { prefixes: ['refs/heads/ma'] })).map(({ name }) => name),
    ['refs/heads/main'],
  )
  t.same([...(await git.readRefs(repo, ['refs/heads/main', 'refs/heads/none'])).keys()], ['refs/heads/main'])

  await t.rejects(git.updateRefs(repo, [{ ref: 'refs/heads/main', to: id, from: null }]), conflict('exists'))
  await t.rejects(git.updateRefs(repo, [{ ref: 'refs/heads/main', to: null, from: tag }]), conflict('moved'))
  await t.rejects(git.updateRefs(repo, [{ ref: 'refs/heads/a', to: id, from: null }]), conflict('prefix'))
  await t.rejects(git.updateRefs(repo, [{ ref: 'refs/heads/none', to: id, from: id }]), conflict('moved'))
  await t.rejects(
    git.updateRefs(repo, [{ ref: 'refs/heads/z', to: 'f'.repeat(40) }]),
    refusal('invalid', /cannot be referred to/),
  )
  await t.rejects(
    git.updateRefs(repo, [
      { ref: 'refs/heads/new', to: id },
      { ref: 'refs/heads/main', to: null, from: tag },
    ]),
    conflict('moved'),
  )
  t.equal(await git.readRef(repo, 'refs/heads/new'), undefined, 'all or none')
  await git.updateRefs(repo, [{ ref: 'refs/heads/a/b', to: null, from: id }])
  t.equal(await git.readRef(repo, 'refs/heads/a/b'), undefined)
  await git.writeHead(repo, 'other')
  t.equal(await git.readHead(repo), 'other')
})

t.test('facts of commits', async (t) => {
  const { repo, first } = await filled()
  let payload = ''
  const sign = async (text: string) => {
    payload = text
    return '-----BEGIN SSH SIGNATURE-----\nabc\n\ndef\n-----END SSH SIGNATURE-----\n'
  }
  const signed = await git.commitChanges(repo, { ...said('signed\n\nbody'), sign }, [])
  t.equal(signed.commit.payload, payload)
  t.equal(signed.commit.signature, '-----BEGIN SSH SIGNATURE-----\nabc\n\ndef\n-----END SSH SIGNATURE-----\n')
  t.equal(signed.commit.tree, first.commit.tree)
  t.equal(signed.commit.message, 'signed\n\nbody\n')
  t.same(JSON.parse(JSON.stringify(signed.commit)), signed.commit)
  t.same(await git.checkRepository(repo), [])
  const raw = `tree ${first.commit.tree}\nauthor <x> broken\ncommitter B\u00e9 <b@x> 1 -0330\nencoding ISO-8859-1\n\ncaf\u00e9`
  const id = await repo.text(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], {
    input: Buffer.from(raw, 'latin1'),
  })
  t.match(await git.readCommit(repo, id), {
    message: 'café',
    author: { name: '', email: 'x', date: '1970-01-01T00:00:00Z' },
    committer: { name: 'Bé', date: '1969-12-31T20:30:01-03:30' },
  })
  const odd = { name: 'a<b>\nc\0', email: '<x>\n', date: new Date(0) }
  const made = await git.commitChanges(repo, { ...said('x'), author: odd, committer: { name: '', email: '' } }, [])
  t.match(made.commit, {
    author: { name: 'abc', email: 'x', date: '1970-01-01T00:00:00Z' },
    committer: { name: 'unknown', email: '' },
  })
  await t.rejects(
    git.commitChanges(repo, { ...said('x'), author: { ...signer, date: 'soon' } }, []),
    refusal('invalid', /invalid date/),
  )
})

t.test('history, changes and diffs', async (t) => {
  const { repo, first } = await filled()
  const two = await git.commitChanges(repo, said('two'), [
    { operation: 'rename', fromPath: 'src/deep/a b.txt', path: 'src/moved.txt' },
    { operation: 'update', path: 'README.md', content: Buffer.from('# hello\nmore\n') },
  ])
  await git.updateRefs(repo, [{ ref: 'refs/heads/side', to: first.commit.id }])
  const side = await git.commitChanges(repo, said('side', 'side'), [
    { operation: 'create', path: 'side.txt', content: Buffer.from('s\n') },
  ])
  const merged = await git.mergeTrees(repo, { ours: two.commit.id, theirs: side.commit.id })
  t.same(merged.conflicts, [])
  const merge = await git.commitTree(repo, said('merge'), merged.tree, [side.commit.id])
  t.same(merge.commit.parents, [two.commit.id, side.commit.id])

  const page = await git.logCommits(repo, { from: [merge.commit.id], skip: 1, limit: 2 })
  t.equal(page.total, 4)
  t.equal(page.commits.length, 2)
  t.equal((await git.logCommits(repo, { from: [merge.commit.id], not: [two.commit.id] })).total, 2)
  t.equal((await git.logCommits(repo, { from: [merge.commit.id], path: 'side.txt' })).total, 1)
  t.equal((await git.logCommits(repo, { from: [merge.commit.id], since: new Date('2030-01-01') })).total, 0)
  t.equal((await git.logCommits(repo, { from: [merge.commit.id], until: new Date('2030-01-01') })).total, 4)
  const changes = await git.readChanges(repo, [merge.commit.id, two.commit.id, first.commit.id])
  t.same(changes.get(merge.commit.id), { files: [{ path: 'side.txt', status: 'added' }], additions: 1, deletions: 0 })
  t.same(changes.get(two.commit.id), {
    files: [
      { path: 'src/moved.txt', status: 'added' },
      { path: 'src/deep/a b.txt', status: 'removed' },
      { path: 'README.md', status: 'modified' },
    ],
    additions: 1,
    deletions: 0,
  })
  t.equal(changes.get(first.commit.id)?.files.length, 3)
  const last = await git.lastCommits(repo, merge.commit.id, '', ['README.md', 'run.sh', 'side.txt', 'src', 'none'])
  t.same(Object.fromEntries(last), {
    'README.md': two.commit.id,
    'run.sh': first.commit.id,
    'side.txt': side.commit.id,
    src: two.commit.id,
  })
  t.same(Object.fromEntries(await git.lastCommits(repo, merge.commit.id, 'src', ['moved.txt'])), {
    'moved.txt': two.commit.id,
  })

  t.equal(await git.mergeBase(repo, two.commit.id, side.commit.id), first.commit.id)
  t.equal(await git.isAncestor(repo, first.commit.id, merge.commit.id), true)
  t.equal(await git.isAncestor(repo, two.commit.id, side.commit.id), false)
  t.same(await git.aheadBehind(repo, two.commit.id, side.commit.id), { ahead: 1, behind: 1 })
  t.match(await git.compareCommits(repo, two.commit.id, side.commit.id), {
    mergeBase: first.commit.id,
    total: 1,
    commits: [{ id: side.commit.id }],
  })
  t.match(await git.listFileChanges(repo, first.commit.id, two.commit.id), [
    { path: 'README.md', status: 'modified', additions: 1, deletions: 0, binary: false },
    { path: 'src/moved.txt', oldPath: 'src/deep/a b.txt', status: 'renamed', additions: 0 },
  ])
  t.match(
    await text(await git.streamCommitDiff(repo, two.commit.id, 'diff')),
    /^diff --git a\/README.md[\s\S]*rename from src\/deep\/a b.txt/,
  )
  t.match(await text(await git.streamCommitDiff(repo, first.commit.id, 'diff')), /^commit [\s\S]*new file mode 100755/)
  t.match(await text(await git.streamCommitDiff(repo, two.commit.id, 'patch')), /^From .*\nFrom: Ann/)
  t.match(
    await text(await git.streamRangeDiff(repo, two.commit.id, side.commit.id, 'diff')),
    /^diff --git a\/side.txt b\/side.txt/,
  )
  await t.rejects(git.streamCommitDiff(repo, 'f'.repeat(40), 'diff'), refusal('not-found', /commit doesn't exist/))

  const clash = await git.commitChanges(repo, said('clash', 'side'), [
    { operation: 'update', path: 'README.md', content: Buffer.from('# clash\n') },
  ])
  t.same((await git.mergeTrees(repo, { ours: two.commit.id, theirs: clash.commit.id })).conflicts, ['README.md'])
  const picked = await git.mergeTrees(repo, { ours: first.commit.id, theirs: clash.commit.id, base: side.commit.id })
  t.same(picked.conflicts, [])
  t.same(
    (await git.listTree(repo, picked.tree)).entries.map(({ name }) => name),
    ['README.md', 'run.sh', 'src'],
  )
  const patch = await text(await git.streamCommitDiff(repo, side.commit.id, 'diff'))
  const applied = await git.commitPatch(
    repo,
    { ...said('patched', 'patched'), from: 'main', mode: 'create' },
    patch.replaceAll('side.txt', 'patched.txt'),
  )
  t.same(applied.paths, [{ path: 'patched.txt', fromPath: undefined, operation: 'create' }])
})

t.test('large blobs, binary, submodules, archives', async (t) => {
  const { repo } = await filled()
  const large = Buffer.alloc(12 * 2 ** 20, 'abcdefg\0')
  const modules = '[submodule "x"]\n\tpath = lib/x\n\turl = https://example.org/x.git\n'
  const { commit } = await git.commitChanges(repo, said('large'), [
    { operation: 'create', path: 'large.bin', content: large },
    { operation: 'create', path: '.gitmodules', content: Buffer.from(modules) },
  ])
  const entry = await git.readEntry(repo, commit.id, 'large.bin')
  t.equal(entry?.size, large.length)
  await t.rejects(git.readBlob(repo, entry?.id as string), refusal('too-large', /too large/))
  const stream = await git.streamBlob(repo, entry?.id as string)
  t.ok((await buffer((stream as git.BlobStream).stream)).equals(large))
  const abandoned = await git.streamBlob(repo, entry?.id as string)
  abandoned?.stream.destroy()
  t.equal(await git.streamBlob(repo, commit.id), undefined)
  t.equal(git.isText(large), false)
  t.equal(git.isText(Buffer.from('text')), true)
  t.same([...(await git.readSubmodules(repo, commit.id))], [['lib/x', 'https://example.org/x.git']])
  const tar = join(folder, 'a.tar.gz')
  writeFileSync(
    tar,
    await buffer(await git.streamArchive(repo, commit.id, 'tar.gz', { prefix: 'top', paths: ['README.md', 'src'] })),
  )
  t.same(execFileSync('tar', ['tzf', tar], { encoding: 'utf8' }).trim().split('\n'), [
    'top/',
    'top/README.md',
    'top/src/',
    'top/src/deep/',
    'top/src/deep/a b.txt',
  ])
  const bundle = join(folder, 'a.bundle')
  writeFileSync(bundle, await buffer(await git.streamArchive(repo, commit.id, 'bundle')))
  t.match(plain(folder, 'bundle', 'list-heads', bundle), `${commit.id} HEAD`)
  plain(folder, 'clone', '-q', '--bare', bundle, join(folder, 'from-bundle'))
  await t.rejects(git.streamArchive(repo, commit.id, 'bundle', { paths: ['x'] }), refusal('bad-request', /bundle/))
})

t.test('copies, maintenance, clean-up, deletion', async (t) => {
  const { repo, first } = await filled()
  await git.updateRefs(repo, [
    { ref: 'refs/pull/1/head', to: first.commit.id },
    { ref: 'refs/tags/v1', to: first.commit.id },
    { ref: 'refs/heads/side', to: first.commit.id },
  ])
  const copy = host.open(join(folder, 'copy', 'c.git'))
  await git.copyRepository(repo, copy, { defaultBranch: 'side', branch: 'side' })
  t.same(
    (await git.listRefs(copy)).map(({ name }) => name),
    ['refs/heads/side', 'refs/tags/v1'],
  )
  t.equal(existsSync(join(copy.path, 'objects/info/alternates')), false)
  const work = await git.commitChanges(copy, said('fork', 'side'), [
    { operation: 'create', path: 'f', content: Buffer.from('f') },
  ])
  await git.fetchInto(repo, copy, ['+refs/heads/side:refs/pull/2/head', work.commit.id])
  t.equal((await git.readRef(repo, 'refs/pull/2/head'))?.objectId, work.commit.id)
  t.equal(await git.needsMaintenance(repo), false)
  t.equal(await git.needsMaintenance(repo, 0), true)
  for (const full of [false, true]) {
    await git.maintainRepository(repo, { full })
    t.same(await git.checkRepository(repo), [])
    t.match(await git.resolveRevision(repo, 'main'), { commitId: first.commit.id })
  }
  t.ok((await git.repositorySize(repo)) > 1000)
  const stale = ['HEAD.lock', 'refs/heads/x.lock', 'objects/pack/tmp_pack_x', 'fast_import_crash_1', 'packed-refs.lock']
  for (const name of stale) writeFileSync(join(repo.path, name), '')
  t.same(await git.cleanRepository(repo), [], 'young files may be in use')
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.same((await git.cleanRepository(repo, 10)).sort(), stale.map((name) => join(repo.path, name)).sort())
  t.match(await git.resolveRevision(repo, 'main'), { commitId: first.commit.id })
  await git.deleteRepository(repo)
  await git.deleteRepository(repo)
  t.equal(await git.repositoryExists(repo), false)
  t.notOk(readdirSync(folder).some((name) => name.startsWith('.deleted')))
})

t.test('R16: 64 writers at once', async (t) => {
  const { repo } = await filled()
  const other = git.createGit()
  t.teardown(() => other.close())
  // A second host on the same folder: one writer in eight meets the rest only at git's own locks.
  const repos = [repo, other.open(repo.path)]
  const writes = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      git.commitChanges(repos[index % 8 === 0 ? 1 : 0] as git.GitRepo, { ...said(`w${index}`), attempts: 100 }, [
        { operation: 'create', path: `f/${index}.txt`, content: Buffer.from(String(index)) },
      ]),
    ),
  )
  t.equal(new Set(writes.map(({ commit }) => commit.id)).size, 64)
  const head = (await git.resolveBranch(repo, 'main'))?.commitId as string
  t.equal((await git.listDirectory(repo, head, 'f'))?.length, 64)
  t.equal(await git.countCommits(repo, { from: [head] }), 65)
  t.same(await git.checkRepository(repo), [])
  const branches = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      git.commitChanges(repo, { ...said('b', `b${index}`), from: 'main', mode: 'create' }, []),
    ),
  )
  t.equal(branches.length, 16)
})

t.test('the pool', async (t) => {
  const small = git.createGit({ pool: { processes: 2, idle: 200 } })
  t.teardown(() => small.close())
  const { repo, first } = await filled()
  const mine = small.open(repo.path)
  const id = (await git.readEntry(mine, first.commit.id, 'README.md'))?.id as string
  const start = process.hrtime.bigint()
  for (let round = 0; round < 200; round += 1) await git.readBlob(mine, id)
  const each = Number(process.hrtime.bigint() - start) / 200 / 1e6
  t.comment(`a file read takes ${each.toFixed(3)} ms`)
  t.ok(each < 5, 'a file read needs no process')
  const many = await Promise.all(Array.from({ length: 500 }, () => git.readBlob(mine, id)))
  t.ok(many.every((data) => String(data) === '# hello\n'))
  // More repositories than processes.
  const others = await Promise.all([fresh(), fresh(), fresh()])
  for (const each of others) t.equal(await git.resolveRevision(small.open(each.path), 'main'), undefined)
  t.equal(String(await git.readBlob(mine, id)), '# hello\n')
  // A process that dies is replaced.
  const child = children().find((line) => line.includes(repo.path))
  process.kill(Number(child?.split(' ')[0]), 'SIGKILL')
  t.equal(String(await git.readBlob(mine, id)), '# hello\n')
  await new Promise((resolve) => setTimeout(resolve, 500))
  t.equal(children().filter((line) => others.some(({ path }) => line.includes(path))).length, 0, 'idle processes go')
  await t.rejects(git.readBlob(small.open(join(folder, 'none.git')), id), { name: 'GitFailure' })

  function children() {
    return execFileSync('ps', ['-o', 'pid=,args=', '-A'], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.includes('cat-file'))
  }
})

t.test('limits of a run', async (t) => {
  const tight = git.createGit({ quick: 1, queue: 1, wait: 100 })
  t.teardown(() => tight.close())
  const { repo } = await filled()
  const mine = tight.open(repo.path)
  const hanging = await mine.start(['cat-file', '--batch'])
  await t.rejects(mine.text(['rev-parse', 'HEAD']), refusal('unavailable', /Too many/))
  const [one, two] = [mine.text(['rev-parse', 'HEAD']), mine.text(['rev-parse', 'HEAD'])]
  await t.rejects(Promise.any([two]), { message: /./ })
  hanging.stop()
  t.match(await one, /^[0-9a-f]{40}$/)
  await t.rejects(mine.run(['cat-file', '--batch'], { deadline: 50, input: new Readable({ read() {} }) }), {
    name: 'GitFailure',
    reason: 'deadline',
  })
  await t.rejects(mine.run(['cat-file', 'commit', 'HEAD'], { limit: 10 }), { name: 'GitFailure', reason: 'output' })
  await t.rejects(mine.run(['cat-file', 'commit', 'nope']), {
    name: 'GitFailure',
    code: 128,
    stderr: /Not a valid object name/,
  })
  const stopper = new AbortController()
  const stopped = mine.run(['cat-file', '--batch'], { signal: stopper.signal, input: new Readable({ read() {} }) })
  setTimeout(() => stopper.abort(), 30)
  await t.rejects(stopped, { name: 'GitFailure', reason: 'stopped' })
  t.match(await mine.text(['rev-parse', 'HEAD']), /^[0-9a-f]{40}$/, 'every place was given back')
  // Streams that nobody reads give their places back too.
  const narrow = git.createGit({ transfer: 1, wait: 5000 })
  t.teardown(() => narrow.close())
  const { commit } = (await filled()).first
  const theirs = narrow.open(repo.path)
  for (let round = 0; round < 4; round += 1) (await git.streamArchive(theirs, commit.id, 'tar.gz')).destroy()
  for (let round = 0; round < 3; round += 1)
    t.ok((await buffer(await git.streamArchive(theirs, commit.id, 'tar.gz'))).length > 50)
  const broken = git.createGit({ git: '/nonexistent/git' })
  t.teardown(() => broken.close())
  await t.rejects(broken.open(repo.path).text(['rev-parse', 'HEAD']), { name: 'GitFailure', reason: 'start' })
})
