import { definePlugin } from '#core/contract'
import { CommitPresenter } from './api.ts'
import { gitDataConfig } from './config.ts'
import { gitDataEntities } from './entities.ts'
import { gitDataJobs } from './jobs.ts'
import { gitDataListeners } from './listeners.ts'
import { gitDataMigrations } from './migrations.ts'
import { gitDataNeeds } from './needs.ts'
import { archivePages, archiveRoutes } from './routes/archives.ts'
import { branchRoutes } from './routes/branches.ts'
import { commitRoutes } from './routes/commits.ts'
import { compareRoutes } from './routes/compare.ts'
import { objectRoutes } from './routes/objects.ts'
import { statisticsRoutes } from './routes/statistics.ts'
import { tagRoutes } from './routes/tags.ts'
import { createCommits } from './service/commits.ts'

export default definePlugin({
  name: 'git-data',
  compat: '^1',
  summary: 'Branches, tags, commits and the objects of git; archives and languages of repositories.',
  config: gitDataConfig,
  needs: gitDataNeeds,
  provides: [CommitPresenter],
  entities: gitDataEntities,
  migrations: gitDataMigrations,
  routes: (use) => [
    ...branchRoutes(use),
    ...tagRoutes(use),
    ...commitRoutes(use),
    ...objectRoutes(use),
    ...compareRoutes(use),
    ...archiveRoutes(use),
    ...statisticsRoutes(use),
  ],
  raw: archivePages,
  listeners: gitDataListeners,
  jobs: gitDataJobs,
  start: ({ provide, use }) => provide(CommitPresenter, createCommits(use)),
})
