import { accountAccess, anyone, list, type Route, route, signedIn, Type } from '#core/http'
import type { RepositoriesUse } from '../needs.ts'
import { listOwned, listReachable, searchRepositories } from '../queries.ts'
import { SearchQuery, SearchResults } from '../schemas.ts'

const Repositories = Type.Array(Type.Ref('Repository'))

/** Lists and the search of repositories. */
export function searchRoutes(use: RepositoriesUse): Route[] {
  return [
    route({
      method: 'GET',
      path: '/repos/search',
      operationId: 'repoSearch',
      tag: 'repository',
      summary: 'Searches repositories.',
      access: anyone,
      scope: ['repository'],
      query: SearchQuery,
      paging: 'link',
      answers: { 200: SearchResults },
      refusals: [422],
      handle: async ({ actor, base, query, page }) => {
        const { rows, total } = await searchRepositories(use.repos, use.searchTerms, actor, query, page)
        const records = await use.repos.listing.present(rows, use.repos.viewer(actor, base))
        return list(records, total, (data) => ({ ok: true, data }))
      },
    }),
    route({
      method: 'GET',
      path: '/user/repos',
      operationId: 'userCurrentListRepos',
      tag: 'user',
      summary: 'Lists the repositories that the caller owns or has a role in.',
      access: signedIn,
      scope: ['user', 'repository'],
      paging: 'link',
      answers: { 200: Repositories },
      handle: async ({ actor, base, page }) => {
        const { rows, total } = await listReachable(use.repos, actor, page)
        return list(await use.repos.listing.present(rows, use.repos.viewer(actor, base)), total)
      },
    }),
    route({
      method: 'GET',
      path: '/users/{username}/repos',
      operationId: 'userListRepos',
      tag: 'user',
      summary: 'Lists the repositories of an account that the caller may see.',
      access: accountAccess.visible,
      scope: ['user', 'repository'],
      params: Type.Object({ username: Type.String({ description: 'Name of the owner.' }) }),
      paging: 'link',
      answers: { 200: Repositories },
      handle: async ({ account, actor, base, page }) => {
        const { rows, total } = await listOwned(use.repos, account.id, actor, page)
        return list(await use.repos.listing.present(rows, use.repos.viewer(actor, base)), total)
      },
    }),
  ]
}
