import {
  Empty,
  forbidden,
  list,
  notFound,
  RepositoryPath,
  type Route,
  repository,
  route,
  Type,
  unprocessable,
} from '#core/http'
import { type AccountRow, type Actor, actingAs, isPublicOnly } from '#core/identity'
import { type RepoAccess, setRole } from '#core/repos'
import type { RepositoriesUse } from '../needs.ts'
import { listCollaborators, roleOf } from '../queries.ts'
import { AddCollaboratorOption, RepoCollaboratorPermission } from '../schemas.ts'

const WithCollaborator = Type.Object({
  ...RepositoryPath.properties,
  collaborator: Type.String({ description: 'Name of the collaborator.' }),
})

/** Whoever gives the roles knows who has them, also of people who are hidden otherwise. */
const administers = ({ mode }: RepoAccess, actor: Actor) =>
  (mode === 'admin' || mode === 'owner') && !isPublicOnly(actor)

/** People with a role of their own in a repository. */
export function collaboratorRoutes(use: RepositoriesUse): Route[] {
  /** Whom the path names; an unknown name is the caller's mistake here, not a missing page. */
  const named = async (name: string): Promise<AccountRow> => {
    const account = await use.identity.accounts.byName(name)
    if (!account) throw unprocessable(`user does not exist [uid: 0, name: ${name}]`)
    return account
  }

  return [
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/collaborators',
      operationId: 'repoListCollaborators',
      tag: 'repository',
      summary: 'Lists the direct collaborators of a repository.',
      access: repository.readSignedIn(),
      scope: ['repository'],
      params: RepositoryPath,
      paging: 'total',
      answers: { 200: Type.Array(Type.Ref('User')) },
      handle: async ({ repo, actor, base, page }) => {
        const viewer = administers(repo, actor) ? undefined : actor
        const { rows, total } = await listCollaborators(use.identity, repo.repo.id, viewer, page)
        const look = { as: actor, base, noReply: use.identity.noReplyDomain() }
        return list(use.identity.records.show(rows, look), total)
      },
    }),
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
      operationId: 'repoCheckCollaborator',
      tag: 'repository',
      summary: 'Tells whether somebody is a direct collaborator.',
      access: repository.readSignedIn(),
      scope: ['repository'],
      params: WithCollaborator,
      answers: { 204: Empty },
      refusals: [404, 422],
      handle: async ({ repo, params }) => {
        const account = await named(params.collaborator)
        if (!(await roleOf(use.db, repo.repo.id, account.id))) throw notFound()
      },
    }),
    route({
      method: 'PUT',
      path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
      operationId: 'repoAddCollaborator',
      tag: 'repository',
      summary: 'Gives somebody a role, or another one.',
      access: repository.admin(),
      scope: ['repository'],
      params: WithCollaborator,
      body: AddCollaboratorOption,
      answers: { 204: Empty },
      refusals: [422],
      handle: async ({ repo, params, body, me }) => {
        const account = await named(params.collaborator)
        const { owner } = repo
        if (!account.is_active) throw unprocessable(`user is not active [name: ${account.name}]`)
        const { blocks } = use.identity
        if ((await blocks.isBlocked(me, account)) || (await blocks.isBlocked(owner, account))) {
          throw forbidden('user is blocked')
        }
        await use.db.tx((tx) => setRole(tx, repo.repo.id, account.id, body.permission ?? 'write'))
      },
    }),
    route({
      method: 'DELETE',
      path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
      operationId: 'repoDeleteCollaborator',
      tag: 'repository',
      summary: "Takes somebody's role away.",
      access: repository.admin(),
      scope: ['repository'],
      params: WithCollaborator,
      answers: { 204: Empty },
      refusals: [422],
      handle: async ({ repo, params }) => {
        const account = await named(params.collaborator)
        await use.db.tx((tx) => setRole(tx, repo.repo.id, account.id, 'none'))
      },
    }),
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/collaborators/{collaborator}/permission',
      operationId: 'repoGetRepoPermissions',
      tag: 'repository',
      summary:
        'Tells what somebody may do with a repository. One may ask for oneself; for others as an administrator of it.',
      access: repository.readSignedIn(),
      scope: ['repository'],
      params: WithCollaborator,
      answers: { 200: RepoCollaboratorPermission },
      refusals: [403, 404],
      handle: async ({ repo, params, me, actor, base }) => {
        const isMe = params.collaborator.toLowerCase() === me.lower_name
        if (!isMe && !me.is_admin && !['admin', 'owner'].includes(repo.mode)) {
          throw forbidden(
            'Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own',
          )
        }
        const account = await use.identity.accounts.byName(params.collaborator)
        const isKnown =
          account &&
          (isMe ||
            (await use.identity.visibility.canSee(actor, account)) ||
            (administers(repo, actor) && (await roleOf(use.db, repo.repo.id, account.id))))
        if (!isKnown) throw notFound(`user does not exist [uid: 0, name: ${params.collaborator}]`)
        const theirs = await use.repos.findById(actingAs(account), repo.repo.id)
        const mode = theirs?.mode ?? 'none'
        // Collaborators are shown as to strangers, even to themselves; the owner as to whoever asks.
        const as = account.id === repo.owner.id ? actor : 'owner'
        const look = { as, base, noReply: use.identity.noReplyDomain() } as const
        const [user] = await use.identity.records.present([account], look)
        return { permission: mode, role_name: mode, user }
      },
    }),
  ]
}
