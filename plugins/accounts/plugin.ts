import { definePlugin } from '#core/contract'
import { accountsCommands } from './commands.ts'
import { accountsConfig } from './config.ts'
import { accountsEntities } from './entities.ts'
import { accountsListeners } from './listeners.ts'
import { accountsMigrations } from './migrations.ts'
import { accountsNeeds } from './needs.ts'
import { accountsPresenters } from './presenters.ts'
import { publicRoutes } from './raw.ts'
import { administrationRoutes } from './routes/administration.ts'
import { blockRoutes } from './routes/blocks.ts'
import { emailRoutes } from './routes/emails.ts'
import { followRoutes } from './routes/follows.ts'
import { keyRoutes } from './routes/keys.ts'
import { ownRoutes } from './routes/own.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { userRoutes } from './routes/users.ts'

export default definePlugin({
  name: 'accounts',
  compat: '^1',
  summary: 'Users, their settings, addresses, keys, tokens, pictures, followers and blocks, and their administration.',
  config: accountsConfig,
  needs: accountsNeeds,
  entities: accountsEntities,
  migrations: accountsMigrations,
  presents: accountsPresenters,
  routes: (use) => [
    ...ownRoutes(use),
    ...emailRoutes(use),
    ...blockRoutes(use),
    ...followRoutes(use),
    ...keyRoutes(use),
    ...userRoutes(use),
    ...tokenRoutes(use),
    ...administrationRoutes(use),
  ],
  raw: publicRoutes,
  listeners: accountsListeners,
  commands: accountsCommands,
})
