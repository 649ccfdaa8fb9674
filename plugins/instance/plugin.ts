import { definePlugin } from '#core/contract'
import { instanceConfig } from './config.ts'
import { instanceNeeds } from './needs.ts'
import { healthRoutes } from './raw.ts'
import { instanceRoutes } from './routes.ts'

export default definePlugin({
  name: 'instance',
  compat: '^1',
  summary: 'What clients and monitors ask of the host itself: version, settings, health.',
  config: instanceConfig,
  needs: instanceNeeds,
  routes: instanceRoutes,
  raw: healthRoutes,
})
