import { definePlugin } from 'switchyard/core/contract'
import { Database, sql } from 'switchyard/core/db'
import { repository, route, Type } from 'switchyard/core/http'
import { Pushed } from 'switchyard/core/repos'
import { inside } from 'switchyard/core/work'

const table = `create table push_count (
  repository_id bigint primary key references repository on delete cascade, pushes integer not null)`

export default definePlugin({
  name: 'push-count',
  compat: '^1',
  summary: 'Counts the pushes to each repository.',
  switch: { section: 'repository', key: 'DISABLE_PUSH_COUNT', off: { status: 403, message: 'Nobody counts pushes.' } },
  needs: { db: Database },
  migrations: [{ name: '0001-start', up: [table] }],
  routes: ({ db }) => [
    route({
      method: 'GET',
      path: '/repos/{owner}/{repo}/push-count',
      operationId: 'repoGetPushCount',
      tag: 'repository',
      summary: 'Tells how often somebody pushed to a repository.',
      access: repository.read(),
      scope: ['repository'],
      answers: { 200: Type.Object({ pushes: Type.Integer() }) },
      async handle({ repo }) {
        const found = sql`select pushes from push_count where repository_id = ${repo.repo.id}`.execute(db.sql())
        return (await found).rows[0] ?? { pushes: 0 }
      },
    }),
  ],
  listeners: () => [
    inside(Pushed, 'push-count.pushed', async (tx, { repositoryId }) => {
      await sql`insert into push_count values (${repositoryId}, 1)
        on conflict (repository_id) do update set pushes = push_count.pushes + 1`.execute(tx.sql())
    }),
  ],
})
