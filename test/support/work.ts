import { dbEntities, dbMigrations, type OpenDatabase, openDatabase } from '#core/db'
import { createWork, type Work, type WorkOptions, workEntities, workMigrations } from '#core/work'
import { type FreshDatabase, freshDatabase, type Teardown } from './database.ts'

export type WorkBench = OpenDatabase & {
  /** What the room logged as errors. */
  readonly errors: string[]
  /** One more worker over the same database, as another process would be. Stopped at the end of the test. */
  worker(options?: Partial<WorkOptions>): Work
}

/** Waits in tests are short. */
const hasty = { backoff: 20, doubtMs: 400, pollMs: 200 } as const

/** Opens a database with the tables of this room. */
export async function openWorkBench(t: Teardown, redisUrl?: string, given?: FreshDatabase): Promise<WorkBench> {
  const { url } = given ?? (await freshDatabase(t, [dbMigrations, workMigrations]))
  const errors: string[] = []
  const open = await openDatabase({ url, entities: [...dbEntities, ...workEntities], log: () => {} })
  const workers: Work[] = []
  t.teardown(async () => {
    await Promise.all(workers.map((work) => work.stop(1000)))
    await open.close()
  })
  const log = { error: (message: string, error: unknown) => void errors.push(`${message}: ${error}`) }
  return {
    ...open,
    errors,
    worker(options) {
      const work = createWork({ db: open.database, databaseUrl: url, redisUrl, log, ...hasty, ...options })
      workers.push(work)
      return work
    },
  }
}
