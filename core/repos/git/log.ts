import { LRUCache } from 'lru-cache'
import { Refusal } from '../../plugin/index.ts'
import { type CommitFacts, readCommits } from './commit.ts'
import type { GitRepo } from './git.ts'
import { readTreePath } from './names.ts'
import { isObjectId } from './revision.ts'
import type { GitProcess } from './run.ts'

export type LogOptions = {
  /** Commit ids to start from. */
  readonly from: readonly string[]
  /** Commit ids whose history is left out. */
  readonly not?: readonly string[] | undefined
  /** Only commits that touched this file or folder. */
  readonly path?: string | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  readonly skip?: number | undefined
  readonly limit?: number | undefined
  readonly firstParent?: boolean | undefined
}

export type LogPage = { readonly commits: readonly CommitFacts[]; readonly total: number }

/** A page of commits, newest first, and how many there are in all. */
export async function logCommits(repo: GitRepo, options: LogOptions): Promise<LogPage> {
  const [ids, total] = await Promise.all([logIds(repo, options), countCommits(repo, options)])
  return { commits: await readCommits(repo, ids), total }
}

/** Like logCommits, without the count. */
export async function listCommits(repo: GitRepo, options: LogOptions): Promise<CommitFacts[]> {
  return readCommits(repo, await logIds(repo, options))
}

/** Only the ids of a page. */
export async function logIds(repo: GitRepo, options: LogOptions): Promise<string[]> {
  const page = [`--skip=${options.skip ?? 0}`, ...(options.limit === undefined ? [] : [`--max-count=${options.limit}`])]
  const text = await repo.text(['rev-list', ...page, ...selection(options)])
  return text === '' ? [] : text.split('\n')
}

/** How many commits a log has, all pages together. Fast where a commit-graph exists (see maintain). */
export async function countCommits(repo: GitRepo, options: LogOptions): Promise<number> {
  return Number(await repo.text(['rev-list', '--count', ...selection(options)]))
}

function selection({ from, not = [], path, since, until, firstParent }: LogOptions): string[] {
  for (const id of [...from, ...not]) if (!isObjectId(id)) throw new Refusal('invalid', `not an object id [id: ${id}]`)
  const clean = path === undefined ? '' : readTreePath(path)
  if (clean === undefined) throw new Refusal('not-found', `object does not exist [rel_path: ${path}]`)
  return [
    ...(firstParent ? ['--first-parent'] : []),
    ...(since ? [`--since=${since.toISOString()}`] : []),
    ...(until ? [`--until=${until.toISOString()}`] : []),
    ...from,
    ...not.map((id) => `^${id}`),
    '--',
    ...(clean === '' ? [] : [clean]),
  ]
}

export type ChangedFile = { readonly path: string; readonly status: 'added' | 'removed' | 'modified' }

export type CommitChange = {
  /** A rename counts as one file removed and one added. */
  readonly files: readonly ChangedFile[]
  readonly additions: number
  readonly deletions: number
}

/** What each commit changed against its first parent: id → files and line counts. One git command for all. */
export async function readChanges(repo: GitRepo, ids: readonly string[]): Promise<Map<string, CommitChange>> {
  for (const id of ids) if (!isObjectId(id)) throw new Refusal('invalid', `not an object id [id: ${id}]`)
  if (ids.length === 0) return new Map()
  const { stdout } = await repo.run(
    [
      'log',
      '--no-walk=unsorted',
      '--stdin',
      '-z',
      '--format=%x01%H',
      '--raw',
      '--numstat',
      '-M',
      '--diff-merges=first-parent',
    ],
    { input: `${ids.join('\n')}\n` },
  )
  return parseChanges(stdout.toString('utf8'))
}

/** `\x01<id>`, then raw entries (`:mode mode id id S`, path, path), then numstat entries (`1\t2\tpath`). */
function parseChanges(text: string) {
  const changes = new Map<string, { files: ChangedFile[]; additions: number; deletions: number }>()
  let current: { files: ChangedFile[]; additions: number; deletions: number } | undefined
  const tokens = text.split('\0')
  for (let at = 0; at < tokens.length; at += 1) {
    const token = (tokens[at] ?? '').replace(/^\n/, '')
    if (token.startsWith('\x01')) {
      current = { files: [], additions: 0, deletions: 0 }
      changes.set(token.slice(1), current)
    } else if (token.startsWith(':') && current) {
      const letter = /[A-Z]\d*$/.exec(token)?.[0][0]
      const path = tokens[++at] ?? ''
      if (letter === 'R') current.files.push({ path, status: 'removed' }, { path: tokens[++at] ?? '', status: 'added' })
      else if (letter === 'C') current.files.push({ path: tokens[++at] ?? '', status: 'added' })
      else current.files.push({ path, status: letter === 'A' ? 'added' : letter === 'D' ? 'removed' : 'modified' })
    } else if (token !== '' && current) {
      const [additions = '0', deletions = '0', path] = token.split('\t')
      current.additions += Number(additions) || 0
      current.deletions += Number(deletions) || 0
      // A rename names both paths in tokens of their own.
      if (path === '') at += 2
    }
  }
  for (const { files } of changes.values()) files.sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
  return changes
}

/** Clients get the files in this order, each group by path. */
const order: readonly ChangedFile['status'][] = ['added', 'removed', 'modified']

/** Which commit last touched a path, seen from a commit. History does not change, so an answer holds for ever. */
const touched = new LRUCache<string, string>({ max: 50_000 })

/**
 * For every entry of a folder the commit that last touched it: name → commit id. One walk for all entries that nobody
 * asked for before, ended when every name is found or after `deadline` milliseconds (default 10 000): names without an
 * answer are left out.
 */
export async function lastCommits(
  repo: GitRepo,
  commit: string,
  folder: string,
  names: readonly string[],
  deadline = 10_000,
): Promise<Map<string, string>> {
  const clean = readTreePath(folder)
  const found = new Map<string, string>()
  if (clean === undefined || !isObjectId(commit)) return found
  const prefix = clean === '' ? '' : `${clean}/`
  const keyOf = (name: string) => `${repo.path}\n${commit}\n${prefix}${name}`
  for (const name of names) {
    const known = touched.get(keyOf(name))
    if (known !== undefined) found.set(name, known)
  }
  const unknown = names.filter((name) => !found.has(name))
  if (unknown.length === 0) return found
  for (const [name, id] of await walkToLast(repo, commit, prefix, unknown, deadline)) {
    touched.set(keyOf(name), id)
    found.set(name, id)
  }
  return found
}

async function walkToLast(repo: GitRepo, commit: string, prefix: string, names: readonly string[], deadline: number) {
  const found = new Map<string, string>()
  const wanted = new Set(names)
  const paths = names.length <= 4 ? names.map((name) => prefix + name) : prefix === '' ? [] : [prefix]
  const process = await repo.start(
    ['log', '-z', '--format=%x01%H', '--name-only', '--no-renames', '--diff-merges=combined', commit, '--', ...paths],
    { deadline },
  )
  process.stdin.end()
  let current = ''
  try {
    for await (const token of tokens(process)) {
      if (token[0] === '\x01' && isObjectId(token.slice(1))) {
        current = token.slice(1)
        continue
      }
      if (!token.startsWith(prefix)) continue
      const name = token.slice(prefix.length).split('/', 1)[0] ?? ''
      if (wanted.delete(name)) found.set(name, current)
      if (wanted.size === 0) break
    }
  } catch (error) {
    // Ended by the deadline: what was found is right as it is.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  } finally {
    process.stop()
  }
  return found
}

async function* tokens(process: GitProcess) {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let at = 0
    for (let end = data.indexOf(0); end >= 0; end = data.indexOf(0, at)) {
      yield data.toString('utf8', at, end).replace(/^\n/, '')
      at = end + 1
    }
    rest = data.subarray(at)
  }
}

/** The best common ancestor of two commits; undefined when their histories never meet. */
export async function mergeBase(repo: GitRepo, one: string, other: string): Promise<string | undefined> {
  const { code, stdout } = await repo.run(['merge-base', '--end-of-options', one, other], { accept: [0, 1] })
  return code === 0 ? stdout.toString('utf8').trim() : undefined
}

/** Is the first commit part of the second's history? False = moving a ref from it would be a forced move. */
export async function isAncestor(repo: GitRepo, ancestor: string, descendant: string): Promise<boolean> {
  if (ancestor === descendant) return true
  const { code } = await repo.run(['merge-base', '--is-ancestor', '--end-of-options', ancestor, descendant], {
    accept: [0, 1],
  })
  return code === 0
}

/** Commits that only the head has (ahead) and that only the base has (behind). */
export async function aheadBehind(
  repo: GitRepo,
  base: string,
  head: string,
): Promise<{ ahead: number; behind: number }> {
  const [behind, ahead] = (await repo.text(['rev-list', '--left-right', '--count', `${base}...${head}`, '--'])).split(
    '\t',
  )
  return { ahead: Number(ahead), behind: Number(behind) }
}
