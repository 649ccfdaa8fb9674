import type { GitRepo } from './git.ts'
import { writeCommit } from './object.ts'

export type MergeInput = {
  readonly ours: string
  readonly theirs: string
  /** Commit to compare both sides with; default: their merge base. For cherry-picks and reverts. */
  readonly base?: string | undefined
}

export type MergeResult = {
  /** The merged tree; with conflicts it holds the markers. */
  readonly tree: string
  /** Files that both sides changed in different ways; empty = clean. */
  readonly conflicts: readonly string[]
}

const nobody = { name: 'Switchyard', email: 'switchyard@localhost', date: '1970-01-01T00:00:00Z' }

/** Merges two commits without a work tree (merge-tree). No ref moves; commit the tree with writeCommit. */
export async function mergeTrees(repo: GitRepo, { ours, theirs, base }: MergeInput): Promise<MergeResult> {
  const [left, right] =
    base === undefined ? [ours, theirs] : await Promise.all([above(repo, base, ours), above(repo, base, theirs)])
  const { code, stdout } = await repo.run(
    ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--allow-unrelated-histories', left, right],
    { accept: [0, 1] },
  )
  const [tree = '', ...conflicts] = stdout.toString('utf8').split('\0')
  return { tree, conflicts: code === 0 ? [] : [...new Set(conflicts.filter((path) => path !== ''))] }
}

/** git 2.39 takes no merge base, so each side becomes a commit whose one parent is the base. */
async function above(repo: GitRepo, base: string, side: string) {
  if (side === base) return side
  const tree = await repo.objects.info(`${side}^{tree}`)
  return writeCommit(repo, {
    tree: tree?.id ?? side,
    parents: [base],
    author: nobody,
    committer: nobody,
    message: 'merge side',
  })
}
