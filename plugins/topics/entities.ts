import { defineEntity, p } from '@mikro-orm/core'
import { Repository } from '#core/repos'

/** A word. It stays when no repository uses it any more, as the contract's search shows. */
export const Topic = defineEntity({
  name: 'Topic',
  tableName: 'topic',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    name: p.string().unique(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
})

export const RepositoryTopic = defineEntity({
  name: 'RepositoryTopic',
  tableName: 'repository_topic',
  properties: {
    repository: () => p.manyToOne(Repository).primary().deleteRule('cascade'),
    topic: () => p.manyToOne(Topic).primary().deleteRule('cascade').index(),
  },
})

export const topicEntities = [Topic, RepositoryTopic]
