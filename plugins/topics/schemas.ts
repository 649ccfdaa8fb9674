import { Type } from '#core/http'

export const TopicName = Type.Object(
  { topics: Type.Array(Type.String()) },
  { $id: 'TopicName', description: 'The topics of a repository.' },
)
export const RepoTopicOptions = Type.Object(
  { topics: Type.Optional(Type.Array(Type.String(), { description: 'All topics that it shall have.' })) },
  { $id: 'RepoTopicOptions', description: 'New topics.' },
)
export const TopicResponse = Type.Object(
  {
    id: Type.Integer(),
    topic_name: Type.String(),
    repo_count: Type.Integer({ description: 'Repositories with it that the caller may see.' }),
    created: Type.String({ format: 'date-time' }),
    updated: Type.String({ format: 'date-time' }),
  },
  { $id: 'TopicResponse', description: 'A topic.' },
)
/** Swagger of the contract calls it a list; the answer wraps it. */
export const TopicListResponse = Type.Object({ topics: Type.Array(TopicResponse) })
