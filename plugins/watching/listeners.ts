import type { Use } from '#core/plugin'
import { Pushed, RepositoryCreated } from '#core/repos'
import { inside, type Listener } from '#core/work'
import { watchConfig } from './config.ts'
import type { watchNeeds } from './needs.ts'
import { watches } from './watches.ts'

/** Watches that come and go by themselves. */
export function watchListeners({ config }: Use<typeof watchNeeds>): Listener[] {
  const keys = () => config.get('service', watchConfig.service)
  return [
    ...watches.listeners(),
    inside(RepositoryCreated, 'watching.created', async (tx, { repositoryId, actorId }) => {
      if (keys().AUTO_WATCH_NEW_REPOS) await watches.set(tx, actorId, repositoryId)
    }),
    inside(Pushed, 'watching.pushed', async (tx, { repositoryId, actorId }) => {
      if (actorId !== null && keys().AUTO_WATCH_ON_CHANGES) await watches.set(tx, actorId, repositoryId)
    }),
  ]
}
