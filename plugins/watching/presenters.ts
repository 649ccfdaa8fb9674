import { sql } from 'kysely'
import type { Presenter } from '#core/db'
import { Type } from '#core/http'

/** How many people watch each repository. */
export const watchPresenters: readonly Presenter[] = [
  {
    record: 'Repository',
    fields: {
      watchers_count: {
        schema: Type.Integer({ description: 'How many people watch it.' }),
        off: 0,
        value: (id) => sql<number>`(select count(*) from watch where watch.repository_id = ${id})`,
      },
    },
  },
]
