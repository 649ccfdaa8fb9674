import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Refusal } from '../../plugin/index.ts'
import { type CommitFacts, readCommit } from './commit.ts'
import type { GitRepo } from './git.ts'
import { importCommit } from './import.ts'
import { cleanTreePath, isBranchName } from './names.ts'
import { type Sign, type Signer, writeCommit } from './object.ts'
import { type Change, type Plan, planChanges } from './plan.ts'
import { RefConflict, type RefUpdate, readRef, updateRefs } from './refs.ts'
import { GitFailure } from './run.ts'

export type BranchWrite = {
  /** Short name of the branch that receives the commit. */
  readonly branch: string
  /**
   * update (default): the branch exists and moves forward; create: it must not exist; force: whatever it was.
   * `first`: the branch may be missing and then begins with this commit (empty repositories).
   */
  readonly mode?: 'update' | 'create' | 'force' | 'first' | undefined
  /** Short name of the branch that the work starts from; default: the branch itself. */
  readonly from?: string | undefined
  /** The base must be this commit, else RefConflict. */
  readonly expected?: string | undefined
  readonly author: Signer
  readonly committer: Signer
  readonly message: string
  readonly sign?: Sign | undefined
  /** Looks at the finished commit before the branch moves; throws to refuse it. */
  readonly approve?: ((draft: Draft) => Promise<void>) | undefined
  /** Moves the branch; default updateRefs. For callers that record the move (throw its RefConflict onwards). */
  readonly move?: ((update: RefUpdate, draft: Draft) => Promise<void>) | undefined
  /** Attempts when somebody else moved the branch meanwhile. Default 5. */
  readonly attempts?: number | undefined
}

export type Draft = {
  readonly commit: CommitFacts
  /** The commit that the work started from; null in an empty repository. */
  readonly base: string | null
  /** What the target ref was; null = it did not exist. */
  readonly before: string | null
  readonly paths: Plan['paths']
}

export type Written = Draft & { readonly ref: string }

/**
 * Commits changes to a branch without a work tree. Writers of the same branch in this process take turns, writers
 * elsewhere are noticed by compare-and-swap and the work is done again on the new tip.
 * Refusals bear the contract's words; kind 'invalid' = 422, 'not-found' = 404, 'conflict' = RefConflict.
 */
export function commitChanges(repo: GitRepo, write: BranchWrite, changes: readonly Change[]): Promise<Written> {
  const once = changes.some((change) => 'content' in change && change.content && 'stream' in change.content)
  return writeBranch(repo, once ? { ...write, attempts: 1 } : write, async (base) => {
    const plan = await planChanges(repo, base, changes)
    const made = await importCommit(repo, { base, steps: plan.steps, ...write })
    if (!write.sign) return { id: made.commit, paths: plan.paths }
    return {
      id: await writeCommit(repo, { ...write, tree: made.tree, parents: base ? [base] : [] }),
      paths: plan.paths,
    }
  })
}

/** Commits a patch (unified or git's own, binary too). Refusal('invalid') when it does not apply. */
export function commitPatch(repo: GitRepo, write: BranchWrite, patch: string | Uint8Array): Promise<Written> {
  return writeBranch(repo, write, async (base) => {
    const { tree, paths } = await applyPatch(repo, base, patch)
    return { id: await writeCommit(repo, { ...write, tree, parents: base ? [base] : [] }), paths }
  })
}

/** Commits a finished tree, e.g. of a merge; `parents` beyond the base follow it. */
export function commitTree(
  repo: GitRepo,
  write: BranchWrite,
  tree: string,
  parents: readonly string[] = [],
): Promise<Written> {
  return writeBranch(repo, { ...write, attempts: 1 }, async (base) => {
    return {
      id: await writeCommit(repo, { ...write, tree, parents: [...(base ? [base] : []), ...parents] }),
      paths: [],
    }
  })
}

type Build = (base: string | null) => Promise<{ id: string; paths: Plan['paths'] }>

async function writeBranch(repo: GitRepo, write: BranchWrite, build: Build): Promise<Written> {
  if (!isBranchName(write.branch)) throw new Refusal('invalid', `invalid branch name [name: ${write.branch}]`)
  const ref = `refs/heads/${write.branch}`
  return repo.exclusive(ref, async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await writeOnce(repo, ref, write, build)
      } catch (error) {
        const again =
          error instanceof RefConflict && (error.why === 'moved' || error.why === 'locked') && !write.expected
        if (!again || attempt >= (write.attempts ?? 5)) throw error
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * attempt))
      }
    }
  })
}

async function writeOnce(repo: GitRepo, ref: string, write: BranchWrite, build: Build): Promise<Written> {
  const mode = write.mode ?? 'update'
  const source = write.from ?? write.branch
  const [target, origin] = await Promise.all([readRef(repo, ref), readRef(repo, `refs/heads/${source}`)])
  const base = origin?.peeledId ?? null
  const before = target?.objectId ?? null
  if (!base && mode !== 'first') throw new Refusal('not-found', `branch does not exist [name: ${source}]`)
  if (mode === 'create' && before) throw new Refusal('invalid', `branch already exists [name: ${write.branch}]`)
  if (mode === 'update' && source !== write.branch && before !== base) {
    throw new RefConflict(ref, 'moved', `ref was changed by somebody else [name: ${ref}]`)
  }
  if (write.expected && write.expected !== base) {
    throw new RefConflict(ref, 'moved', `branch has moved [given: ${write.expected}, expected: ${base ?? ''}]`)
  }
  const { id, paths } = await build(base)
  const commit = await readCommit(repo, id)
  if (!commit) throw new GitFailure('fast-import', 0, `commit ${id} is not there`)
  const draft: Draft = { commit, base, before, paths }
  await write.approve?.(draft)
  const update: RefUpdate = { ref, to: id, from: before }
  await (write.move ? write.move(update, draft) : updateRefs(repo, [update]))
  return { ...draft, ref }
}

/** Applies a patch to a commit's tree in an index of its own; answers the new tree. */
export async function applyPatch(
  repo: GitRepo,
  base: string | null,
  patch: string | Uint8Array,
): Promise<{ tree: string; paths: Plan['paths'] }> {
  const folder = join(repo.path, 'tmp')
  await mkdir(folder, { recursive: true })
  const index = join(folder, `index-${randomUUID()}`)
  const env = { GIT_INDEX_FILE: index }
  try {
    await repo.run(base ? ['read-tree', base] : ['read-tree', '--empty'], { env })
    const { code, stderr } = await repo.run(['apply', '--cached', '--whitespace=nowarn', '-'], {
      env,
      input: patch,
      accept: [0, 1, 128],
    })
    if (code !== 0) throw new Refusal('invalid', `git apply error: ${stderr.trim().slice(0, 2000)}`)
    const tree = await repo.text(['write-tree'], { env })
    return { tree, paths: await changedPaths(repo, base, tree) }
  } finally {
    await Promise.all([rm(index, { force: true }), rm(`${index}.lock`, { force: true })])
  }
}

/** Git has its own rules for paths; ours are stricter and hold for patches too. */
async function changedPaths(repo: GitRepo, base: string | null, tree: string): Promise<Plan['paths']> {
  const empty = base ?? (await repo.text(['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' }))
  const output = await repo.text(['diff-tree', '-r', '-z', '--name-status', '--no-renames', empty, tree])
  const tokens = output.split('\0').filter((token) => token !== '')
  const paths: Plan['paths'][number][] = []
  for (let at = 0; at + 1 < tokens.length; at += 2) {
    const path = tokens[at + 1] as string
    const letter = tokens[at]
    if (letter !== 'D' && cleanTreePath(path) !== path)
      throw new Refusal('invalid', `path contains a malformed path component [path: ${path}]`)
    paths.push({
      path,
      fromPath: undefined,
      operation: letter === 'A' ? 'create' : letter === 'D' ? 'delete' : 'update',
    })
  }
  return paths
}
