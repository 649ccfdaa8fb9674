import { type Expression, type SqlBool, sql } from 'kysely'
import type { SearchTerm } from '#plugins/repositories'

const hasTopic = (repositoryId: Expression<number>, condition: Expression<SqlBool>) => sql<boolean>`exists (
  select 1 from repository_topic join topic on topic.id = repository_topic.topic_id
  where repository_topic.repository_id = ${repositoryId} and ${condition}
)`

/** What topics add to the search of repositories. */
export const topicSearch: SearchTerm = {
  word: (eb, word) =>
    hasTopic(eb.ref('repository.id'), sql<boolean>`topic.name like ${`%${word.replace(/[\\%_]/g, '\\$&')}%`}`),
  topic: (eb, topic) => hasTopic(eb.ref('repository.id'), sql<boolean>`topic.name = ${topic}`),
}
