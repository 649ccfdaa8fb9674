import { conflict, forbidden, notFound, unprocessable } from '#core/http'
import { authorize } from '#core/identity'
import { git } from '#core/repos'
import type { GitDataUse } from '../needs.ts'
import { branchPrefix, tagPrefix } from '../presenters.ts'
import { clashingRef, findRefs, type RefRow } from '../queries.ts'
import { type ChangeBy, changeRefs, type HowToChange, judge, refuseMirror } from './ref-changes.ts'

const exists = 'The branch already exists.'
const inTheWay = 'The branch with the same name already exists.'
const clashText = ({ why }: git.RefConflict) => (why === 'prefix' ? inTheWay : exists)

/** A branch by its short name. @throws Problem 404 */
export async function findBranch(use: GitDataUse, { access }: ChangeBy, name: string): Promise<RefRow> {
  const [row] = await findRefs(use.db, access.repo.id, [branchPrefix + name])
  if (!row) throw notFound()
  return row
}

function checkName(name: string, field: string): void {
  if (!git.isBranchName(name)) throw unprocessable(`[${field}]: GitRefName`)
}

export type NewBranch = {
  readonly name: string
  readonly oldRef?: string | undefined
  readonly oldBranch?: string | undefined
}

/** Creates a branch where a ref, another branch or the default branch is. */
export async function createBranch(
  use: GitDataUse,
  by: ChangeBy,
  { name, oldRef, oldBranch }: NewBranch,
): Promise<RefRow> {
  const { repo } = by.access
  if (repo.is_empty) throw notFound('Git Repository is empty.')
  refuseMirror(by.access)
  checkName(name, 'BranchName')
  const ref = branchPrefix + name
  const to = await startOf(use, by, oldRef, oldBranch)
  const taken = await findRefs(use.db, repo.id, [ref, tagPrefix + name])
  if (taken.some((row) => row.name === ref)) throw conflict(exists)
  if (taken.length > 0) throw conflict('The branch with the same tag already exists.')
  if (await clashingRef(use.db, repo.id, ref)) throw conflict(inTheWay)
  await judge(use, [{ ref, from: null, to }], by)
  await changeRefs(use, by, [{ ref, to, from: null }], { clash: clashText })
  const [row] = await findRefs(use.db, repo.id, [ref])
  // Made, and gone again before we looked.
  if (!row) throw notFound()
  return row
}

async function startOf(use: GitDataUse, { access }: ChangeBy, ref?: string, branch?: string): Promise<string> {
  const repo = use.repos.open(access.repo)
  const found = ref
    ? await git.resolveRevision(repo, ref)
    : await git.resolveBranch(repo, branch || access.repo.default_branch)
  if (found) return found.commitId
  throw notFound(ref ? `object does not exist [id: ${ref}, rel_path: ]` : 'The old branch does not exist')
}

const onlyAdmins = 'User must be a repo or site admin to rename default or protected branches.'
const sameName = 'Cannot rename a branch using the same name or rename to a branch that already exists.'

/** Gives a branch another name. The default branch stays the default one. */
export async function renameBranch(use: GitDataUse, by: ChangeBy, name: string, newName: string): Promise<void> {
  const { repo } = by.access
  refuseMirror(by.access)
  const ref = branchPrefix + name
  const newRef = branchPrefix + newName
  const rows = await findRefs(use.db, repo.id, [ref, newRef])
  const branch = rows.find((row) => row.name === ref)
  if (!branch) throw notFound("Branch doesn't exist.")
  checkName(newName, 'Name')
  if (rows.some((row) => row.name === newRef)) throw unprocessable(sameName)
  const isDefault = name === repo.default_branch
  if (isDefault && !authorize(by.actor, 'admin', by.access).ok) throw forbidden(onlyAdmins)
  const from = branch.object_id
  const refuse = () => forbidden('Failed to rename branch due to branch protection rules.')
  const leaving = isDefault ? [] : [{ ref, from, to: null }]
  await judge(use, [...leaving, { ref: newRef, from: null, to: from }], by, refuse)
  const updates = [
    { ref, to: null, from },
    { ref: newRef, to: from, from: null },
  ]
  const how = { clash: clashText, renamed: { from: ref, to: newRef } }
  if (isDefault) await renameDefault(use, by, newName, updates, how)
  else await changeRefs(use, by, updates, how)
}

/** HEAD goes first: it tells which branch becomes the default one, even when a crash comes in between. */
async function renameDefault(
  use: GitDataUse,
  by: ChangeBy,
  newName: string,
  updates: readonly git.RefUpdate[],
  how: HowToChange,
): Promise<void> {
  const repo = use.repos.open(by.access.repo)
  // One after the other: whoever comes second must not take back what the first did to HEAD.
  await repo.exclusive('HEAD', async () => {
    const head = (await git.readHead(repo)) ?? by.access.repo.default_branch
    const before = () => git.writeHead(repo, newName)
    await changeRefs(use, by, updates, { ...how, before, undo: () => git.writeHead(repo, head) })
  })
}

export type Move = { readonly to: string; readonly from?: string | undefined; readonly force?: boolean | undefined }

/** Moves a branch to a commit, forwards unless `force` is set. */
export async function moveBranch(use: GitDataUse, by: ChangeBy, name: string, move: Move): Promise<void> {
  refuseMirror(by.access)
  const { object_id: current } = await findBranch(use, by, name)
  const repo = use.repos.open(by.access.repo)
  const resolve = async (text: string) => {
    const found = await git.resolveRevision(repo, text)
    if (!found) throw unprocessable(`object does not exist [id: ${text}, rel_path: ]`)
    return found.commitId
  }
  const to = await resolve(move.to)
  const expected = move.from ? await resolve(move.from) : current
  if (expected !== current) {
    throw unprocessable(`branch commit does not match [expected: ${expected}, given: ${current}]`)
  }
  if (to === current) return
  if (!move.force && !(await git.isAncestor(repo, current, to))) {
    throw unprocessable(`Force push ${name} need a confirm force parameter`)
  }
  const ref = branchPrefix + name
  await judge(use, [{ ref, from: current, to }], by)
  await changeRefs(use, by, [{ ref, to, from: current }])
}

/** Deletes a branch that is neither the default one nor kept by a rule. */
export async function deleteBranch(use: GitDataUse, by: ChangeBy, name: string): Promise<void> {
  refuseMirror(by.access)
  const { object_id: from } = await findBranch(use, by, name)
  if (name === by.access.repo.default_branch) {
    throw forbidden('can not delete default or pull request target branch')
  }
  const ref = branchPrefix + name
  await judge(use, [{ ref, from, to: null }], by)
  await changeRefs(use, by, [{ ref, to: null, from }])
}
