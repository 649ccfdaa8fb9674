import { definePlugin } from '#core/contract'
import { SearchTerms } from '#plugins/repositories'
import { starEntities } from './entities.ts'
import { starMigrations } from './migrations.ts'
import { starNeeds } from './needs.ts'
import { starPresenters } from './presenters.ts'
import { starRoutes } from './routes.ts'
import { starSearch } from './search.ts'
import { stars } from './stars.ts'

export default definePlugin({
  name: 'stars',
  compat: '^1',
  summary: 'People star repositories.',
  switch: { section: 'repository', key: 'DISABLE_STARS', off: { status: 403, message: 'Stars are disabled.' } },
  needs: starNeeds,
  entities: starEntities,
  migrations: starMigrations,
  presents: starPresenters,
  routes: starRoutes,
  listeners: stars.listeners,
  start: ({ contribute }) => contribute(SearchTerms, starSearch),
})
