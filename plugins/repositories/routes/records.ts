import {
  type Access,
  accountAccess,
  type ByAccount,
  Empty,
  notFound,
  RepositoryPath,
  type Route,
  repository,
  repositoryOf,
  route,
  signedIn,
  Type,
} from '#core/http'
import {
  deleteRecord,
  type ListedRow,
  lockRecord,
  permissionsOf,
  type RepoAccess,
  type RepositoryRow,
  reposConfig,
} from '#core/repos'
import { createRepository } from '../create.ts'
import { editRepository } from '../edit.ts'
import type { RepositoriesUse } from '../needs.ts'
import { CreateRepoOption, EditRepoOption } from '../schemas.ts'

const Repository = Type.Ref('Repository')
/** Who may call a route about a repository that is named by its id. */
const byId = (use: RepositoriesUse): Access<ByAccount & { repo: RepoAccess }> => ({
  name: 'repository read signed in, by id',
  refusals: [401, 404],
  async admit(approach) {
    const { me } = await signedIn.admit(approach)
    const id = Number(approach.params.id)
    const found = Number.isSafeInteger(id) ? await use.repos.findById(approach.actor, id) : undefined
    if (!found) throw notFound()
    return { me, repo: found }
  },
})

/** A repository by name, found and selected with all that its record shows in one query: the most frequent read. */
const shown = (use: RepositoriesUse): Access<{ row: ListedRow }> => ({
  name: 'repository read',
  refusals: [404],
  async admit(approach) {
    const { owner = '', repo = '' } = approach.params
    const row = await use.repos.listing.find(approach.actor, owner, repo)
    if (row) return { row }
    // Redirects for an old name, and otherwise refuses.
    await repositoryOf(approach)
    throw notFound()
  },
})

/** Creating, reading, editing and deleting repositories. */
export function recordRoutes(use: RepositoriesUse): Route[] {
  const show = async (id: number, call: Parameters<typeof use.repos.listing.record>[1]) => {
    const record = await use.repos.listing.record(id, call)
    if (!record) throw notFound()
    return record
  }
  /** The answer to a creation: the caller is shown as its owner, whoever he is. */
  const showNew = async (row: RepositoryRow, viewer: Parameters<typeof show>[1]) => ({
    ...(await show(row.id, viewer)),
    permissions: { admin: true, push: true, pull: true },
  })

  return [
    route({
      method: 'POST',
      path: '/user/repos',
      operationId: 'createCurrentUserRepo',
      tag: 'repository',
      summary: 'Creates a repository of the caller.',
      access: signedIn,
      scope: ['user', 'repository'],
      publicOnly: 'refuse',
      body: CreateRepoOption,
      answers: { 201: Repository },
      refusals: [400, 409],
      handle: async ({ me, body, actor, base }) =>
        showNew(await createRepository(use, me, me, body), use.repos.viewer(actor, base)),
    }),
    route({
      method: 'POST',
      path: '/admin/users/{username}/repos',
      operationId: 'adminCreateRepo',
      tag: 'admin',
      summary: 'Creates a repository of another account.',
      access: accountAccess.site,
      scope: ['admin'],
      params: Type.Object({ username: Type.String({ description: 'Name of the owner.' }) }),
      body: CreateRepoOption,
      answers: { 201: Repository },
      refusals: [400, 409],
      handle: async ({ me, account, body, actor, base }) =>
        showNew(await createRepository(use, account, me, body), use.repos.viewer(actor, base)),
    }),
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}',
      operationId: 'repoGet',
      tag: 'repository',
      summary: 'Reads a repository.',
      access: shown(use),
      scope: ['repository'],
      params: RepositoryPath,
      answers: { 200: Repository },
      handle: async ({ row, actor, base }) =>
        (await use.repos.listing.present([row], use.repos.viewer(actor, base)))[0],
    }),
    route({
      method: 'GET',
      path: '/repositories/{id}',
      operationId: 'repoGetByID',
      tag: 'repository',
      summary: 'Reads a repository by its id.',
      access: byId(use),
      scope: ['repository'],
      params: Type.Object({ id: Type.Integer({ description: 'Id of the repository.' }) }),
      answers: { 200: Repository },
      handle: ({ repo, actor, base }) => show(repo.repo.id, use.repos.viewer(actor, base)),
    }),
    route({
      method: 'PATCH',
      path: '/repos/{owner}/{repo}',
      operationId: 'repoEdit',
      tag: 'repository',
      summary: 'Edits a repository; only given keys change.',
      access: repository.admin(),
      scope: ['repository'],
      params: RepositoryPath,
      body: EditRepoOption,
      answers: { 200: Repository },
      handle: async ({ repo, me, actor, body, base }) => {
        const deps = {
          repos: use.repos,
          forcePrivate: use.config.get('repository', reposConfig.repository).FORCE_PRIVATE,
        }
        await use.db.tx(async (tx) => {
          // Read again under a lock: of two edits at once, the second one builds on the first.
          const now = { ...repo, repo: await lockRecord(tx, repo.repo.id) }
          await editRepository(deps, tx, now, { ...actor, account: me }, body)
        })
        // The rights are those that the caller had when he asked.
        return { ...(await show(repo.repo.id, use.repos.viewer(actor, base))), permissions: permissionsOf(repo) }
      },
    }),
    route({
      method: 'DELETE',
      path: '/repos/{owner}/{repo}',
      operationId: 'repoDelete',
      tag: 'repository',
      summary: 'Deletes a repository with all that belongs to it.',
      access: repository.owner(),
      scope: ['repository'],
      params: RepositoryPath,
      answers: { 204: Empty },
      handle: ({ repo, me }) => use.db.tx((tx) => deleteRecord(tx, repo.repo, me.id)),
    }),
  ]
}
