import { definePlugin } from '#core/contract'
import { Config, maybe } from '#core/plugin'
import { Templates } from './api.ts'
import { templateRoutes } from './routes.ts'
import { createTemplates } from './service.ts'

export default definePlugin({
  name: 'templates',
  compat: '^1',
  summary: 'Templates of .gitignore files, licences and labels; finds licences and languages.',
  needs: { config: Config, templates: maybe(Templates) },
  provides: [Templates],
  routes: templateRoutes,
  async start({ provide }) {
    provide(Templates, await createTemplates())
  },
})
