import { type Expression, sql } from 'kysely'
import type { SearchTerm } from '#plugins/repositories'

/** What stars add to the search of repositories. */
export const starSearch: SearchTerm = {
  filters: {
    starredBy: (eb, id) =>
      sql<boolean>`exists (
        select 1 from star where star.repository_id = ${eb.ref('repository.id')} and star.account_id = ${id}
      )`,
  },
  sorts: {
    stars: (eb): Expression<number> =>
      sql<number>`(select count(*) from star where star.repository_id = ${eb.ref('repository.id')})`,
  },
}
