import { anyone, Empty, list, notFound, RepositoryPath, type Route, repository, route, Type } from '#core/http'
import type { Use } from '#core/plugin'
import { wireTime } from '#core/repos'
import { checkTopic, checkTopics, cleanTopic } from './names.ts'
import type { topicNeeds } from './needs.ts'
import { addTopic, removeTopic, replaceTopics, searchTopics, topicsOf } from './queries.ts'
import { RepoTopicOptions, TopicListResponse, TopicName } from './schemas.ts'

const OneTopic = Type.Object({ ...RepositoryPath.properties, topic: Type.String({ description: 'The topic.' }) })

/** The topics of repositories, and finding topics. */
export function topicRoutes({ db }: Use<typeof topicNeeds>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/topics',
      operationId: 'repoListTopics',
      tag: 'repository',
      summary: 'Lists the topics of a repository.',
      access: repository.read(),
      scope: ['repository'],
      params: RepositoryPath,
      paging: 'total',
      answers: { 200: TopicName },
      handle: async ({ repo, page }) => {
        const { rows, total } = await topicsOf(db, repo.repo.id, page)
        return list(
          rows.map((row) => row.name),
          total,
          (topics) => ({ topics }),
        )
      },
    }),
    route({
      method: 'PUT',
      path: '/repos/{owner}/{repo}/topics',
      operationId: 'repoUpdateTopics',
      tag: 'repository',
      summary: 'Replaces the topics of a repository.',
      access: repository.admin(),
      scope: ['repository'],
      params: RepositoryPath,
      body: RepoTopicOptions,
      answers: { 204: Empty },
      handle: async ({ repo, body }) => {
        const names = checkTopics(body.topics ?? [])
        await db.tx((tx) => replaceTopics(tx, repo.repo.id, names))
      },
    }),
    route({
      method: 'PUT',
      path: '/repos/{owner}/{repo}/topics/{topic}',
      operationId: 'repoAddTopic',
      tag: 'repository',
      summary: 'Adds a topic to a repository.',
      access: repository.admin(),
      scope: ['repository'],
      params: OneTopic,
      answers: { 204: Empty },
      refusals: [422],
      handle: async ({ repo, params }) => {
        const name = checkTopic(params.topic)
        await db.tx((tx) => addTopic(tx, repo.repo.id, name))
      },
    }),
    route({
      method: 'DELETE',
      path: '/repos/{owner}/{repo}/topics/{topic}',
      operationId: 'repoDeleteTopic',
      tag: 'repository',
      summary: 'Removes a topic from a repository.',
      access: repository.admin(),
      scope: ['repository'],
      params: OneTopic,
      answers: { 204: Empty },
      refusals: [422],
      handle: async ({ repo, params }) => {
        checkTopic(params.topic)
        if (!(await db.tx((tx) => removeTopic(tx, repo.repo.id, cleanTopic(params.topic))))) throw notFound()
      },
    }),
    route({
      method: 'GET',
      path: '/topics/search',
      operationId: 'topicSearch',
      tag: 'repository',
      summary: 'Finds topics, most used first.',
      access: anyone,
      scope: ['repository'],
      query: Type.Object({ q: Type.Optional(Type.String({ description: 'Part of the topic.' })) }),
      paging: 'total',
      answers: { 200: TopicListResponse },
      handle: async ({ actor, query, page }) => {
        const { rows, total } = await searchTopics(db, actor, query.q ?? '', page)
        const topics = rows.map(({ id, name, repo_count, created_at, updated_at }) => ({
          id,
          topic_name: name,
          repo_count,
          created: wireTime(created_at),
          updated: wireTime(updated_at),
        }))
        return list(topics, total, (items) => ({ topics: items }))
      },
    }),
  ]
}
