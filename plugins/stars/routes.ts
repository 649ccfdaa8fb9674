import {
  AccountPath,
  accountAccess,
  Empty,
  forbidden,
  list,
  notFound,
  RepositoryPath,
  type Route,
  repository,
  route,
  signedIn,
  signedInAccount,
  Type,
} from '#core/http'
import { type AccountRow, type Actor, actingAs, anonymous } from '#core/identity'
import type { Use } from '#core/plugin'
import type { starNeeds } from './needs.ts'
import { stars } from './stars.ts'

const Repositories = Type.Array(Type.Ref('Repository'))

/** Below /user, everybody is asked who he is before anything is looked up. */
const readable = repository.readSignedIn()
const starrer: typeof readable = {
  ...readable,
  admit(approach) {
    signedInAccount(approach)
    return readable.admit(approach)
  },
}

/** Who starred what. */
export function starRoutes(use: Use<typeof starNeeds>): Route[] {
  const { db, repos, identity } = use

  /**
   * Repositories that `starrer` starred: of others only what everybody may see, and the caller, too. The records show
   * the permissions of `starrer`.
   */
  const starred = async (starrer: AccountRow, call: { actor: Actor; base: string; page: Page }) => {
    const isOwn = call.actor.account?.id === starrer.id
    const as = isOwn ? call.actor : actingAs(starrer)
    const viewers = isOwn ? [call.actor] : [anonymous, call.actor]
    const { rows, total } = await stars.repositoriesOf(repos, as, viewers, call.page)
    return list(await repos.listing.present(rows, repos.viewer(call.actor, call.base), as), total)
  }

  return [
    route({
      method: 'GET',
      path: '/user/starred',
      operationId: 'userCurrentListStarred',
      tag: 'user',
      summary: 'Lists the repositories that the caller starred and may still see.',
      access: signedIn,
      scope: ['user', 'repository'],
      paging: 'link',
      answers: { 200: Repositories },
      handle: (call) => starred(call.me, call),
    }),
    route({
      method: 'GET',
      path: '/users/{username}/starred',
      operationId: 'userListStarred',
      tag: 'user',
      summary: 'Lists the repositories that somebody starred; of others only public ones.',
      access: accountAccess.signedIn,
      scope: ['user'],
      params: AccountPath,
      paging: 'link',
      answers: { 200: Repositories },
      handle: (call) => starred(call.account, call),
    }),
    route({
      method: 'GET',
      path: '/user/starred/{owner}/{repo}',
      operationId: 'userCurrentCheckStarring',
      tag: 'user',
      summary: 'Tells whether the caller starred a repository.',
      access: starrer,
      scope: ['user', 'repository'],
      params: RepositoryPath,
      answers: { 204: Empty },
      handle: async ({ me, repo }) => {
        if (!(await stars.find(db, me.id, repo.repo.id))) throw notFound()
      },
    }),
    route({
      method: 'PUT',
      path: '/user/starred/{owner}/{repo}',
      operationId: 'userCurrentPutStar',
      tag: 'user',
      summary: 'Stars a repository.',
      access: starrer,
      scope: ['user', 'repository'],
      params: RepositoryPath,
      answers: { 204: Empty },
      refusals: [403],
      handle: async ({ me, repo }) => {
        if (await identity.blocks.isBlocked(me, repo.owner)) throw forbidden('user is blocked')
        await db.tx((tx) => stars.set(tx, me.id, repo.repo.id))
      },
    }),
    route({
      method: 'DELETE',
      path: '/user/starred/{owner}/{repo}',
      operationId: 'userCurrentDeleteStar',
      tag: 'user',
      summary: 'Takes a star away.',
      access: starrer,
      scope: ['user', 'repository'],
      params: RepositoryPath,
      answers: { 204: Empty },
      handle: ({ me, repo }) => db.tx((tx) => stars.remove(tx, me.id, repo.repo.id)),
    }),
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/stargazers',
      operationId: 'repoListStargazers',
      tag: 'repository',
      summary: 'Lists who starred a repository.',
      access: repository.read(),
      scope: ['repository'],
      params: RepositoryPath,
      paging: 'total',
      answers: { 200: Type.Array(Type.Ref('User')) },
      handle: async ({ repo, actor, base, page }) => {
        const { rows, total } = await stars.peopleOf(identity, repo.repo.id, actor, page)
        return list(identity.records.show(rows, { as: actor, base, noReply: identity.noReplyDomain() }), total)
      },
    }),
  ]
}

type Page = { readonly limit: number; readonly offset: number }
