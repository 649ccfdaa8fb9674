import type { Readable } from 'node:stream'
import { Refusal } from '../../plugin/index.ts'
import { type CommitFacts, readCommit } from './commit.ts'
import type { GitRepo } from './git.ts'
import { countCommits, listCommits, mergeBase } from './log.ts'
import { isObjectId } from './revision.ts'

export type DiffFormat = 'diff' | 'patch'

/** A commit as text: `diff` against its first parent, `patch` as a mail. Refusal('not-found') without such a commit. */
export async function streamCommitDiff(repo: GitRepo, id: string, format: DiffFormat): Promise<Readable> {
  const commit = await readCommit(repo, id)
  if (!commit) throw new Refusal('not-found', `commit doesn't exist: ${id}`)
  if (format === 'patch') return repo.stream(['format-patch', '--stdout', '--no-signature', '-1', commit.id])
  const [parent] = commit.parents
  // The first commit comes with its header, as it always did for clients.
  return repo.stream(parent ? ['diff', '-M', parent, commit.id, '--'] : ['show', commit.id, '--'])
}

export type RangeOptions = {
  /** Against the common ancestor (`base...head`, the default) or against the base itself. */
  readonly fromMergeBase?: boolean | undefined
  /** Full blob ids and binary content, so that the diff can be applied. */
  readonly binary?: boolean | undefined
}

/** Two commits as text: one diff, or one mail per commit. */
export async function streamRangeDiff(
  repo: GitRepo,
  base: string,
  head: string,
  format: DiffFormat,
  options: RangeOptions = {},
): Promise<Readable> {
  const range = rangeOf(base, head, options)
  const binary = options.binary ? ['--binary'] : []
  if (format === 'patch') return repo.stream(['format-patch', '--stdout', ...binary, `${base}..${head}`])
  return repo.stream(['diff', '-M', ...binary, range, '--'])
}

function rangeOf(base: string, head: string, { fromMergeBase = true }: RangeOptions) {
  if (!isObjectId(base) || !isObjectId(head)) throw new Refusal('invalid', 'not an object id')
  return `${base}${fromMergeBase ? '...' : '..'}${head}`
}

export type FileChange = {
  readonly path: string
  /** Before a rename or copy. */
  readonly oldPath: string | undefined
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'changed'
  /** Lines; 0 for binary files. */
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
  readonly oldMode: string
  readonly newMode: string
  /** Blob ids; undefined where the side does not exist. */
  readonly oldId: string | undefined
  readonly newId: string | undefined
}

/** The files between two commits in order of path. One git command. */
export async function listFileChanges(
  repo: GitRepo,
  base: string,
  head: string,
  options: RangeOptions = {},
): Promise<FileChange[]> {
  const range = rangeOf(base, head, options)
  const { stdout } = await repo.run(['diff', '-z', '--raw', '--numstat', '--no-abbrev', '-M', range, '--'])
  return parseFileChanges(stdout.toString('utf8').split('\0'))
}

const statuses: Readonly<Record<string, FileChange['status']>> = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
}

function parseFileChanges(tokens: readonly string[]): FileChange[] {
  const files = new Map<string, FileChange>()
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? ''
    if (token.startsWith(':')) {
      const [oldMode = '', newMode = '', oldId = '', newId = '', letter = ''] = token.slice(1).split(' ')
      const oldPath = /^[RC]/.test(letter) ? tokens[++at] : undefined
      const path = tokens[++at] ?? ''
      files.set(path, {
        path,
        oldPath,
        status: statuses[letter[0] ?? ''] ?? 'changed',
        additions: 0,
        deletions: 0,
        binary: false,
        oldMode,
        newMode,
        oldId: existing(oldId),
        newId: existing(newId),
      })
    } else if (token !== '') {
      const [additions = '', deletions = '', inline = ''] = splitStat(token)
      // A rename names both paths in tokens of their own.
      if (inline === '') at += 2
      const path = inline === '' ? (tokens[at] ?? '') : inline
      const file = files.get(path)
      if (file)
        files.set(path, {
          ...file,
          additions: Number(additions) || 0,
          deletions: Number(deletions) || 0,
          binary: additions === '-',
        })
    }
  }
  return [...files.values()]
}

function splitStat(token: string) {
  const first = token.indexOf('\t')
  const second = token.indexOf('\t', first + 1)
  return [token.slice(0, first), token.slice(first + 1, second), token.slice(second + 1)]
}

function existing(id: string) {
  return /^0+$/.test(id) ? undefined : id
}

export type Comparison = {
  readonly mergeBase: string | undefined
  /** Commits of the head that the base lacks, newest first. */
  readonly commits: readonly CommitFacts[]
  readonly total: number
}

/** What a head has that a base has not. */
export async function compareCommits(
  repo: GitRepo,
  base: string,
  head: string,
  page: { readonly skip?: number; readonly limit?: number } = {},
): Promise<Comparison> {
  const range = { from: [head], not: [base] }
  const [ancestor, commits, total] = await Promise.all([
    mergeBase(repo, base, head),
    listCommits(repo, { ...range, ...page }),
    countCommits(repo, range),
  ])
  return { mergeBase: ancestor, commits, total }
}
