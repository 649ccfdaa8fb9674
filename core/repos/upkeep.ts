import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../db/index.ts'
import { after, type Job, type Jobs, job, jobName, type Listener, type Schedule, schedule } from '../work/index.ts'
import { Pushed } from './events.ts'
import * as git from './git/index.ts'
import type { Repos } from './repos.ts'
import type { ReposTables } from './tables.ts'

export type UpkeepParts = {
  readonly db: Database
  readonly repos: Repos
  readonly jobs: Jobs
  /** Folder that holds all repositories. */
  readonly folder: string
}

const minute = 60_000
const hour = 60 * minute

const MaintainRepository = jobName<{ repositoryId: number }>('repos.maintain')

/** Every push may leave a pack of its own; a while after, somebody looks whether there are too many. */
export function upkeepListeners({ db, jobs }: UpkeepParts): Listener[] {
  return [
    after(
      Pushed,
      'repos.maintain',
      ({ repositoryId }) =>
        db.tx(async (tx) => {
          await jobs.enqueue(tx, MaintainRepository, { repositoryId }, { once: String(repositoryId), delay: minute })
        }),
      { whileOff: true },
    ),
  ]
}

/** Packs what pushes left, one repository at a time in a process, and removes what killed git processes left. */
export function upkeepJobs({ repos }: UpkeepParts): Job[] {
  return [
    job(
      MaintainRepository,
      async ({ repositoryId }, { signal }) => {
        const repo = repos.open({ id: repositoryId })
        if (!(await git.repositoryExists(repo))) return
        await git.cleanRepository(repo)
        if (await git.needsMaintenance(repo)) await git.maintainRepository(repo, { signal })
      },
      { concurrency: 1 },
    ),
  ]
}

export function upkeepSchedules(parts: UpkeepParts): Schedule[] {
  return [schedule('repos.sweep', { every: hour }, async () => void (await sweepFolders(parts)))]
}

/**
 * Removes folders that no record leads to: a process was killed between the one and the other. What is younger than an
 * hour may belong to a transaction that has not ended.
 *
 * @returns the removed paths
 */
export async function sweepFolders({ db, folder }: Pick<UpkeepParts, 'db' | 'folder'>): Promise<string[]> {
  const removed: string[] = []
  for (const shelf of await readdir(folder).catch(() => [])) {
    const names = await readdir(join(folder, shelf)).catch(() => [])
    const known = await idsIn(db, names.flatMap(idOf))
    for (const name of names) {
      const [id] = idOf(name)
      const isStray = name.startsWith('.deleted-') || (id !== undefined && !known.has(id))
      const path = join(folder, shelf, name)
      if (!isStray || !(await isOld(path))) continue
      await rm(path, { recursive: true, force: true })
      removed.push(path)
    }
  }
  return removed
}

const idOf = (name: string): number[] => (/^\d+\.git$/.test(name) ? [Number.parseInt(name, 10)] : [])

async function idsIn(db: Database, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const rows = await db.sql<ReposTables>().selectFrom('repository').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map((row) => row.id))
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && found.mtimeMs < Date.now() - hour
}
