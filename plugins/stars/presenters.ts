import { sql } from 'kysely'
import type { Presenter } from '#core/db'
import { Type } from '#core/http'

const counts = [
  {
    record: 'Repository',
    fields: {
      stars_count: {
        schema: Type.Integer({ description: 'How many people starred it.' }),
        off: 0,
        value: (id) => sql<number>`(select count(*) from star where star.repository_id = ${id})`,
      },
    },
  },
  {
    record: 'User',
    fields: {
      starred_repos_count: {
        schema: Type.Integer({ description: 'How many repositories the user starred.' }),
        off: 0,
        value: (id) => sql<number>`(select count(*) from star where star.account_id = ${id})`,
      },
    },
  },
] satisfies Presenter[]

/** The counts of stars on repositories and users. */
export const starPresenters: readonly Presenter[] = counts
