import {
  AccountPath,
  accountAccess,
  Empty,
  forbidden,
  list,
  notFound,
  nullable,
  RepositoryPath,
  type Route,
  repository,
  route,
  signedIn,
  Type,
} from '#core/http'
import { type AccountRow, type Actor, actingAs, anonymous } from '#core/identity'
import type { Use } from '#core/plugin'
import { type RepoAccess, wireTime } from '#core/repos'
import type { watchNeeds } from './needs.ts'
import { watches } from './watches.ts'

const Repositories = Type.Array(Type.Ref('Repository'))

const WatchInfo = Type.Object(
  {
    subscribed: Type.Boolean(),
    ignored: Type.Boolean(),
    reason: nullable(Type.Object({}, { description: 'Always null.' })),
    created_at: Type.String({ format: 'date-time', description: 'When the repository was created.' }),
    url: Type.String(),
    repository_url: Type.String(),
  },
  { $id: 'WatchInfo', description: "The caller's watch of a repository." },
)

type Paged = { readonly actor: Actor; readonly base: string; readonly page: { limit: number; offset: number } }

/** Who watches what. */
export function watchRoutes({ db, repos, identity }: Use<typeof watchNeeds>): Route[] {
  /** As with stars: of others only what everybody may see, and the caller, too, with their permissions. */
  const watched = async (watcher: AccountRow, call: Paged) => {
    const isOwn = call.actor.account?.id === watcher.id
    const as = isOwn ? call.actor : actingAs(watcher)
    const viewers = isOwn ? [call.actor] : [anonymous, call.actor]
    const { rows, total } = await watches.repositoriesOf(repos, as, viewers, call.page)
    return list(await repos.listing.present(rows, repos.viewer(call.actor, call.base), as), total)
  }
  const infoOf = ({ repo, owner }: RepoAccess, actor: Actor, base: string) => {
    const api = `${repos.viewer(actor, base).links.root}/api/v1/repos/${owner.name}/${repo.name}`
    return {
      subscribed: true,
      ignored: false,
      reason: null,
      created_at: wireTime(repo.created_at),
      url: `${api}/subscription`,
      repository_url: api,
    }
  }

  return [
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/subscription',
      operationId: 'userCurrentCheckSubscription',
      tag: 'repository',
      summary: 'Tells whether the caller watches a repository.',
      access: repository.readSignedIn(),
      scope: ['repository'],
      params: RepositoryPath,
      answers: { 200: WatchInfo },
      handle: async ({ me, repo, actor, base }) => {
        if (!(await watches.find(db, me.id, repo.repo.id))) throw notFound()
        return infoOf(repo, actor, base)
      },
    }),
    route({
      method: 'PUT',
      path: '/repos/{owner}/{repo}/subscription',
      operationId: 'userCurrentPutSubscription',
      tag: 'repository',
      summary: 'Watches a repository.',
      access: repository.readSignedIn(),
      scope: ['repository'],
      params: RepositoryPath,
      answers: { 200: WatchInfo },
      refusals: [403],
      handle: async ({ me, repo, actor, base }) => {
        if (await identity.blocks.isBlocked(me, repo.owner)) throw forbidden('user is blocked')
        await db.tx((tx) => watches.set(tx, me.id, repo.repo.id))
        return infoOf(repo, actor, base)
      },
    }),
    route({
      method: 'DELETE',
      path: '/repos/{owner}/{repo}/subscription',
      operationId: 'userCurrentDeleteSubscription',
      tag: 'repository',
      summary: 'Stops watching a repository.',
      access: repository.readSignedIn(),
      scope: ['repository'],
      params: RepositoryPath,
      answers: { 204: Empty },
      handle: ({ me, repo }) => db.tx((tx) => watches.remove(tx, me.id, repo.repo.id)),
    }),
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/subscribers',
      operationId: 'repoListSubscribers',
      tag: 'repository',
      summary: 'Lists who watches a repository.',
      access: repository.read(),
      scope: ['repository'],
      params: RepositoryPath,
      paging: 'total',
      answers: { 200: Type.Array(Type.Ref('User')) },
      handle: async ({ repo, actor, base, page }) => {
        const { rows, total } = await watches.peopleOf(identity, repo.repo.id, actor, page)
        return list(identity.records.show(rows, { as: actor, base, noReply: identity.noReplyDomain() }), total)
      },
    }),
    route({
      method: 'GET',
      path: '/user/subscriptions',
      operationId: 'userCurrentListSubscriptions',
      tag: 'user',
      summary: 'Lists the repositories that the caller watches and may still see.',
      access: signedIn,
      scope: ['user'],
      paging: 'link',
      answers: { 200: Repositories },
      handle: (call) => watched(call.me, call),
    }),
    route({
      method: 'GET',
      path: '/users/{username}/subscriptions',
      operationId: 'userListSubscriptions',
      tag: 'user',
      summary: 'Lists the repositories that somebody watches; of others only public ones.',
      access: accountAccess.signedIn,
      scope: ['user'],
      params: AccountPath,
      paging: 'link',
      answers: { 200: Repositories },
      handle: (call) => watched(call.account, call),
    }),
  ]
}
