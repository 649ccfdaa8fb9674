import { sql } from 'kysely'
import type { Presenter } from '#core/db'
import { Type } from '#core/http'

/** The topics of each repository, by name. */
export const topicPresenters: readonly Presenter[] = [
  {
    record: 'Repository',
    fields: {
      topics: {
        schema: Type.Array(Type.String(), { description: 'Words by which it is found.' }),
        off: [],
        value: (id) => sql<string[]>`(
          select coalesce(json_agg(topic.name order by topic.name), '[]') from repository_topic
          join topic on topic.id = repository_topic.topic_id where repository_topic.repository_id = ${id}
        )`,
      },
    },
  },
]
