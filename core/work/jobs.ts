import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import type { Database, Tx } from '../db/index.ts'
import { type Service, service } from '../plugin/index.ts'
import type { JobName } from './declare.ts'
import { createPump } from './pump.ts'
import type { WorkLog } from './retry.ts'

export type EnqueueOptions = {
  /** Ms until the job may start. */
  readonly delay?: number
  /**
   * Collapses with a job of the same name and key that has not started. Until this transaction ends, others that use
   * the same key wait for it, so choose keys that unrelated writers do not share.
   */
  readonly once?: string
}

/** Where plugins put work that is done in the background. */
export type Jobs = {
  /**
   * Records a job in the caller's transaction; it starts after the commit, and never without it.
   * @returns the job's id
   */
  enqueue<T>(tx: Tx, name: JobName<T> | string, payload: T, options?: EnqueueOptions): Promise<number>
}

export const Jobs: Service<Jobs> = service<Jobs>('work.jobs')

/** The channel that wakes relays and handers; the outbox uses it as well. */
export const wakeChannel = 'outbox'

/** The service behind `Jobs`. */
export function createJobs(db: Database, log: WorkLog): Jobs {
  // After the commit and not inside it: a transaction that holds a NOTIFY takes a lock of the whole server to commit.
  const wake = createPump(
    () => db.notify(wakeChannel, ''),
    (error) => log.error('workers were not woken; they look by themselves in a few seconds', error),
  )
  // What happens behind the back of a request is no part of it.
  const apart = AsyncLocalStorage.snapshot()
  return {
    async enqueue(tx, name, payload, { delay = 0, once } = {}) {
      const conn = tx.sql<Record<never, never>>()
      // A collapsed job is locked until commit: its run must not begin before the change that asked for it is visible.
      const { rows } = await sql<{ id: number }>`
        insert into job_record (name, payload, once_key, due_at)
        values (${name}, ${JSON.stringify(payload ?? null)}::jsonb, ${once ?? null}, now() + ${delay} * interval '1 ms')
        on conflict (name, once_key) where attempts = 0 and done_at is null and dead_at is null
        do update set due_at = least(job_record.due_at, excluded.due_at)
        returning id`.execute(conn)
      tx.afterCommit(() => apart(wake.nudge))
      const row = rows[0]
      if (!row) throw new Error(`the job ${name} was not recorded`)
      return row.id
    },
  }
}
