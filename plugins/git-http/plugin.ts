import { definePlugin } from '#core/contract'
import { gitHttpNeeds } from './needs.ts'
import { dumbRoutes } from './routes/dumb.ts'
import { smartRoutes } from './routes/smart.ts'

export default definePlugin({
  name: 'git-http',
  compat: '^1',
  summary: 'Clone, fetch and push over HTTP.',
  switch: {
    section: 'repository',
    key: 'DISABLE_HTTP_GIT',
    off: { status: 403, message: 'Interacting with repositories by HTTP protocol is not allowed' },
  },
  needs: gitHttpNeeds,
  raw: (use) => [...smartRoutes(use), ...dumbRoutes(use)],
})
