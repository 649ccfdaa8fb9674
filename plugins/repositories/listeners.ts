import { RepositoryDeleted } from '#core/repos'
import { createPictures } from '#core/storage'
import { after, type Listener } from '#core/work'
import type { RepositoriesUse } from './needs.ts'

/** What goes with a repository beside its rows. It does so while the plugin is off, too. */
export function repositoriesListeners(use: RepositoriesUse): Listener[] {
  return [
    after(
      RepositoryDeleted,
      'repositories.remove-picture',
      async ({ avatar }) => {
        if (avatar) await createPictures(use.storage, 'repo-avatars').delete(avatar)
      },
      { whileOff: true },
    ),
  ]
}
