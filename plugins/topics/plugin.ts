import { definePlugin } from '#core/contract'
import { SearchTerms } from '#plugins/repositories'
import { topicEntities } from './entities.ts'
import { topicMigrations } from './migrations.ts'
import { topicNeeds } from './needs.ts'
import { topicPresenters } from './presenters.ts'
import { topicRoutes } from './routes.ts'
import { topicSearch } from './search.ts'

export default definePlugin({
  name: 'topics',
  compat: '^1',
  summary: 'Words by which repositories are found.',
  needs: topicNeeds,
  entities: topicEntities,
  migrations: topicMigrations,
  presents: topicPresenters,
  routes: topicRoutes,
  start: ({ contribute }) => contribute(SearchTerms, topicSearch),
})
