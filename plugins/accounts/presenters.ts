import { sql } from 'kysely'
import type { Presenter } from '#core/db'
import { Type } from '#core/http'

/** How many follow an account, and how many it follows. */
export const accountsPresenters: readonly Presenter[] = [
  {
    record: 'User',
    fields: {
      followers_count: {
        schema: Type.Integer({ description: 'Users who follow the account.' }),
        off: 0,
        value: (id) => sql<number>`(select count(*) from follow where follow.followed_id = ${id})`,
      },
      following_count: {
        schema: Type.Integer({ description: 'Accounts that the user follows.' }),
        off: 0,
        value: (id) => sql<number>`(select count(*) from follow where follow.follower_id = ${id})`,
      },
    },
  },
]
