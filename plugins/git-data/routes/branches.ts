import { answer, Empty, list, nullable, type Route, record, route, Type } from '#core/http'
import type { GitDataUse } from '../needs.ts'
import { branchPrefix, branchRecords } from '../presenters.ts'
import { listRefs, type RefRow } from '../queries.ts'
import { Branch } from '../schemas.ts'
import { createBranch, deleteBranch, findBranch, moveBranch, renameBranch } from '../service/branches.ts'
import { createCommits } from '../service/commits.ts'
import type { ChangeBy } from '../service/ref-changes.ts'
import { about, InRepo, inRepo, linksOf, reading, writing } from './in-repository.ts'

const InBranch = Type.Object({
  ...inRepo,
  branch: Type.String({ description: 'Name of the branch; slashes may stand as they are.' }),
})
const optional = (description: string) => Type.Optional(Type.String({ description }))
const newName = (description: string, fieldName: string) =>
  Type.String({ maxLength: 100, rule: 'GitRefName', fieldName, description })

const CreateBranchRepoOption = record(
  'CreateBranchRepoOption',
  {
    new_branch_name: newName('Name of the new branch.', 'BranchName'),
    old_ref_name: optional('Branch, tag or commit to start from; the default branch unless given.'),
    old_branch_name: optional('Older way to name the branch to start from.'),
  },
  { description: 'A branch to create.' },
)
const RenameBranchRepoOption = record(
  'RenameBranchRepoOption',
  { name: newName('The new name.', 'Name') },
  { description: 'Another name for a branch.' },
)
const UpdateBranchRepoOption = record(
  'UpdateBranchRepoOption',
  {
    new_commit_id: Type.String({
      fieldName: 'NewCommitID',
      description: 'Where the branch shall be: a commit, branch or tag.',
    }),
    old_commit_id: optional('Where the branch must be now, if given.'),
    force: Type.Optional(Type.Boolean({ description: 'Moves the branch even when commits get lost by it.' })),
  },
  { description: 'Where a branch shall be moved.' },
)

/** Branches: listed from PostgreSQL, changed in git. */
export function branchRoutes(use: GitDataUse): Route[] {
  const commits = createCommits(use)
  type InCall = { actor: ChangeBy['actor']; base: string; repo: ChangeBy['access'] }
  const show = (call: InCall, rows: readonly RefRow[]) => branchRecords(commits, linksOf(use, call), call.repo, rows)
  const by = (call: InCall): ChangeBy => ({ actor: call.actor, access: call.repo })

  return [
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/branches',
      operationId: 'repoListBranches',
      summary: 'Lists the branches of a repository, those with the newest commits first; null while it is empty.',
      access: reading,
      params: InRepo,
      query: Type.Object({ q: optional('A part of the name.') }),
      paging: 'link',
      answers: { 200: nullable(Type.Array(Branch)) },
      async handle(call) {
        if (call.repo.repo.is_empty) return list(null, 0)
        const wanted = { prefix: branchPrefix, part: call.query.q ?? '' }
        const { rows, total } = await listRefs(use.db, call.repo.repo.id, wanted, call.page)
        return list(await show(call, rows), total)
      },
    }),
    route({
      ...about,
      method: 'POST',
      path: '/repos/{owner}/{repo}/branches',
      operationId: 'repoCreateBranch',
      summary: 'Creates a branch.',
      access: writing,
      params: InRepo,
      body: CreateBranchRepoOption,
      answers: { 201: Branch },
      refusals: [403, 404, 409],
      async handle(call) {
        const { new_branch_name: name, old_ref_name: oldRef, old_branch_name: oldBranch } = call.body
        const row = await createBranch(use, by(call), { name, oldRef, oldBranch })
        return answer(201, (await show(call, [row]))[0])
      },
    }),
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/branches/{branch+}',
      operationId: 'repoGetBranch',
      summary: 'Shows a branch.',
      access: reading,
      params: InBranch,
      answers: { 200: Branch },
      handle: async (call) => (await show(call, [await findBranch(use, by(call), call.params.branch)]))[0],
    }),
    route({
      ...about,
      method: 'PATCH',
      path: '/repos/{owner}/{repo}/branches/{branch+}',
      operationId: 'repoRenameBranch',
      summary: 'Gives a branch another name.',
      access: writing,
      params: InBranch,
      body: RenameBranchRepoOption,
      answers: { 204: Empty },
      refusals: [403, 404, 409],
      handle: (call) => renameBranch(use, by(call), call.params.branch, call.body.name),
    }),
    route({
      ...about,
      method: 'PUT',
      path: '/repos/{owner}/{repo}/branches/{branch+}',
      operationId: 'repoUpdateBranch',
      summary: 'Moves a branch to another commit.',
      access: writing,
      params: InBranch,
      body: UpdateBranchRepoOption,
      answers: { 204: Empty },
      refusals: [403, 404, 409],
      handle(call) {
        const { new_commit_id: to, old_commit_id: from, force } = call.body
        return moveBranch(use, by(call), call.params.branch, { to, from, force })
      },
    }),
    route({
      ...about,
      method: 'DELETE',
      path: '/repos/{owner}/{repo}/branches/{branch+}',
      operationId: 'repoDeleteBranch',
      summary: 'Deletes a branch.',
      access: writing,
      params: InBranch,
      answers: { 204: Empty },
      refusals: [403, 404, 409],
      handle: (call) => deleteBranch(use, by(call), call.params.branch),
    }),
  ]
}
