import { definePlugin } from '#core/contract'
import { watchConfig } from './config.ts'
import { watchEntities } from './entities.ts'
import { watchListeners } from './listeners.ts'
import { watchMigrations } from './migrations.ts'
import { watchNeeds } from './needs.ts'
import { watchPresenters } from './presenters.ts'
import { watchRoutes } from './routes.ts'

export default definePlugin({
  name: 'watching',
  compat: '^1',
  summary: 'People watch repositories to hear of what happens there.',
  config: watchConfig,
  needs: watchNeeds,
  entities: watchEntities,
  migrations: watchMigrations,
  presents: watchPresenters,
  routes: watchRoutes,
  listeners: watchListeners,
})
