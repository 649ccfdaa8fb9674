import { Pushed } from '#core/repos'
import { after, type Listener } from '#core/work'
import { MeasureRepository } from './jobs.ts'
import type { GitDataUse } from './needs.ts'

/** Every push asks for a measurement; those that have not begun yet become one. */
export function gitDataListeners(use: GitDataUse): Listener[] {
  return [
    after(Pushed, 'git-data.measure', ({ repositoryId }) =>
      use.db.tx(async (tx) => {
        await use.jobs.enqueue(tx, MeasureRepository, { repositoryId }, { once: String(repositoryId) })
      }),
    ),
  ]
}
