import { sql } from 'kysely'
import type { Database } from '../db/index.ts'

/** How long finished rows stay, in ms; given-up ones stay longer, so that the operator may look. */
export type Retention = { readonly done: number; readonly dead: number }

const batchSize = 5000

/** Removes finished deliveries, jobs and events after their time. Any number of processes may do so at once. */
export async function sweepFinished(db: Database, { done, dead }: Retention): Promise<void> {
  const old = (ms: number) => sql`now() - ${ms} * interval '1 ms'`
  const ended = sql`done_at < ${old(done)} or dead_at < ${old(dead)}`
  const sweeps = [
    sql`delete from event_delivery where ctid = any(array(
      select ctid from event_delivery where ${ended} limit ${batchSize} for update skip locked))`,
    sql`delete from job_record where ctid = any(array(
      select ctid from job_record where ${ended} limit ${batchSize} for update skip locked))`,
    sql`delete from outbox where ctid = any(array(
      select ctid from outbox o where dispatched_at < ${old(done)}
        and not exists (select 1 from event_delivery d where d.event_id = o.id) limit ${batchSize} for update skip locked))`,
  ]
  for (const sweep of sweeps) {
    let removed = batchSize
    while (removed === batchSize) {
      const result = await sweep.execute(db.sql<Record<never, never>>())
      removed = Number(result.numAffectedRows ?? 0n)
    }
  }
}

/** How much is waiting and how much was given up: for `switchyard doctor`. */
export type WorkCounts = {
  readonly events: { readonly waiting: number }
  readonly deliveries: { readonly waiting: number; readonly dead: number }
  readonly jobs: { readonly waiting: number; readonly dead: number }
}

/** Counts over all processes and plugins, on or off. */
export async function countWork(db: Database): Promise<WorkCounts> {
  type Row = { events: number; deliveries: number; dead_deliveries: number; jobs: number; dead_jobs: number }
  const { rows } = await sql<Row>`
    select
      (select count(*) from outbox where dispatched_at is null and kind = 'event') as events,
      (select count(*) from event_delivery where done_at is null and dead_at is null) as deliveries,
      (select count(*) from event_delivery where dead_at is not null) as dead_deliveries,
      (select count(*) from job_record where done_at is null and dead_at is null) as jobs,
      (select count(*) from job_record where dead_at is not null) as dead_jobs`.execute(db.sql<Record<never, never>>())
  const row = rows[0]
  if (!row) throw new Error('PostgreSQL did not answer a count')
  return {
    events: { waiting: row.events },
    deliveries: { waiting: row.deliveries, dead: row.dead_deliveries },
    jobs: { waiting: row.jobs, dead: row.dead_jobs },
  }
}

/** Whether anything of these listeners and jobs is due; what waits for a later attempt does not count. */
export async function isAnythingDue(
  db: Database,
  listeners: readonly string[],
  jobs: readonly string[],
): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select 1 from outbox where dispatched_at is null and kind = 'event')
      or exists (
        select 1 from event_delivery d where listener = any(${listeners}::text[]) and done_at is null and dead_at is null
          and due_at <= now() and not exists (
            select 1 from event_delivery e where e.listener = d.listener and e.subject = d.subject
              and e.event_id < d.event_id and e.done_at is null and e.dead_at is null and e.due_at > now()))
      or exists (
        select 1 from job_record where name = any(${jobs}::text[]) and done_at is null and dead_at is null and due_at <= now())
      as due`.execute(db.sql<Record<never, never>>())
  return rows[0]?.due ?? false
}
