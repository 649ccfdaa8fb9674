import { forbidden, unprocessable } from '#core/http'
import type { AccountRow } from '#core/identity'
import { git, judgeRefs } from '#core/repos'
import { commitMeta, repoLinks } from '#plugins/git-data'
import { decodeBase64 } from './base64.ts'
import { messageOf, peopleOf } from './commit-text.ts'
import type { ContentsUse } from './needs.ts'
import { presentEntries } from './presenters.ts'
import { type Looking, viewAt } from './reading.ts'
import type { ChangeFileOperation, CommonFileOptions, FileCommitResponse } from './schemas.ts'

/** Who changes files in which repository. */
export type Editing = Looking & { readonly me: AccountRow }

/** `a/../b` is b, but nothing may lead above the top, even if it came back. */
function refuseAbove(path: string): void {
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1
    else if (part !== '' && part !== '.') depth += 1
    if (depth < 0) throw unprocessable(`path contains a malformed path component [path: ${path.slice(0, 200)}]`)
  }
}

/** What a change is called in git's room. Throws 422 for a path above the top and for content that is no base64. */
export function changeOf({ operation, path, content, sha, from_path }: ChangeFileOperation): git.Change {
  refuseAbove(path)
  if (from_path) refuseAbove(from_path)
  const known = sha ? { sha } : {}
  const from = from_path ? { fromPath: from_path } : {}
  if (operation === 'delete') return { operation, path, ...known }
  if (operation === 'rename') {
    return {
      operation,
      path,
      fromPath: from_path || path,
      ...known,
      ...(content ? { content: decodeBase64(content) } : {}),
    }
  }
  const bytes = decodeBase64(content ?? '')
  if (operation === 'create') return { operation, path, content: bytes, ...from }
  return { operation: operation === 'update' ? 'update' : 'upload', path, content: bytes, ...known, ...from }
}

/** Which branch receives the commit, and where the work starts. In an empty repository it begins with the commit. */
function targetOf({ repo: { repo } }: Editing, wanted: CommonFileOptions, mayBegin: boolean) {
  const base = wanted.branch || repo.default_branch
  const branch = wanted.new_branch || base
  if (repo.is_empty && mayBegin) return { branch, mode: 'first' } as const
  if (branch === base) return { branch, mode: 'update' } as const
  return { branch, from: base, mode: wanted.force_push ? 'force' : 'create' } as const
}

/** Makes the commit, of changes or of a patch, and returns when the database knows of it. */
export async function commit(
  use: ContentsUse,
  editing: Editing,
  wanted: CommonFileOptions,
  work: { readonly standard: string } & ({ readonly changes: readonly git.Change[] } | { readonly patch: string }),
): Promise<git.Written> {
  const { me, actor, repo: access } = editing
  const repo = use.repos.open(access.repo)
  const people = peopleOf(me, wanted, use.identity)
  const announced = await use.repos.writes.begin(access.repo, me.id)
  // Nothing has moved before git is asked to move it; a refused change then needs no look at all refs.
  const moved: string[] = []
  const order: git.BranchWrite = {
    ...targetOf(editing, wanted, 'changes' in work),
    ...people,
    message: messageOf(wanted, work.standard, people.committer),
    async approve({ before, commit: { id } }) {
      const ref = `refs/heads/${wanted.new_branch || wanted.branch || access.repo.default_branch}`
      const [refusal] = await judgeRefs(use.rules, [{ ref, from: before, to: id }], { access, actor })
      if (refusal) throw forbidden(refusal.message)
    },
    async move(update) {
      moved.push(update.ref)
      await git.updateRefs(repo, [update])
    },
  }
  try {
    return await ('changes' in work
      ? git.commitChanges(repo, order, work.changes)
      : git.commitPatch(repo, order, work.patch))
  } finally {
    await announced.settle(moved)
  }
}

const utc = (date: string) => `${new Date(date).toISOString().slice(0, 19)}Z`
const person = ({ name, email, date }: git.Person) => ({ name, email, date: utc(date) })

/** The parts of every answer to a change: the commit, and what is known of its signature. */
export async function presentCommit(use: ContentsUse, { repo, actor, base }: Editing, { commit }: git.Written) {
  const links = repoLinks(use.repos.viewer(actor, base), repo)
  const shown: FileCommitResponse = {
    ...commitMeta(links, 'commits', commit.id),
    html_url: `${links.page}/commit/${commit.id}`,
    author: person(commit.author),
    committer: person(commit.committer),
    parents: commit.parents.map((parent) => commitMeta(links, 'commits', parent)),
    message: commit.message,
    tree: commitMeta(links, 'trees', commit.tree),
  }
  const [verification] = (await use.commits?.verify([commit])) ?? []
  return { commit: shown, verification: verification ?? null }
}

/** The changed files as they became, in the order of the changes; null for what is gone. */
export async function presentChanged(use: ContentsUse, editing: Editing, written: git.Written) {
  const { base, commit, ref, paths } = written
  const name = ref.slice('refs/heads/'.length)
  const view = viewAt(use, editing, { kind: 'branch', name, commitId: commit.id })
  const touched = new Map<string, git.CommitFacts>()
  const entries = await Promise.all(
    paths.map(async ({ path, operation }) => {
      if (operation === 'delete') return undefined
      const [entry, before] = await Promise.all([
        git.readEntry(view.repo, commit.id, path),
        base === null ? undefined : git.findEntry(view.repo, base, path),
      ])
      // A file that was written as it had been was last touched by an older commit.
      if (entry && (entry.id !== before?.id || entry.mode !== before.mode)) touched.set(path, commit)
      return entry
    }),
  )
  const there = entries.filter((entry) => entry !== undefined)
  const records = (await presentEntries(view, there, { content: true, lfs: true, commit: true }, touched)).values()
  return entries.map((entry) => (entry ? (records.next().value ?? null) : null))
}
