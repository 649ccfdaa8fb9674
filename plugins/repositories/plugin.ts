import { definePlugin } from '#core/contract'
import { RepositoryMaker } from './api.ts'
import { createRepository } from './create.ts'
import { repositoriesListeners } from './listeners.ts'
import { repositoriesNeeds } from './needs.ts'
import { repositoryPresenters } from './presenters.ts'
import { avatarRoutes, pictureRoutes } from './routes/avatars.ts'
import { collaboratorRoutes } from './routes/collaborators.ts'
import { recordRoutes } from './routes/records.ts'
import { searchRoutes } from './routes/search.ts'

export default definePlugin({
  name: 'repositories',
  compat: '^1',
  summary: 'Creates, shows, edits, finds and deletes repositories.',
  needs: repositoriesNeeds,
  provides: [RepositoryMaker],
  presents: repositoryPresenters,
  routes: (use) => [...recordRoutes(use), ...searchRoutes(use), ...collaboratorRoutes(use), ...avatarRoutes(use)],
  raw: pictureRoutes,
  listeners: repositoriesListeners,
  start(scope) {
    scope.provide(RepositoryMaker, {
      create: (owner, doer, wanted) => createRepository(scope.use, owner, doer, wanted),
    })
  },
})
