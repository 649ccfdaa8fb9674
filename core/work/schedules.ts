import { sql } from 'kysely'
import type { Database } from '../db/index.ts'
import { type Job, job, type Schedule } from './declare.ts'
import type { Jobs } from './jobs.ts'

const prefix = 'schedule:'

/** The job that does a schedule's work. A failure is tried again soon, for the next tick may be far. */
export function jobOfSchedule(schedule: Schedule): Job {
  return job(prefix + schedule.name, (_nothing, run) => schedule.handle(run), { attempts: 3, backoff: 1000 })
}

export const isScheduleJob = (one: Job) => one.name.startsWith(prefix)

/** When the schedule last became a job. */
export async function lastTick(db: Database, name: string): Promise<Date | undefined> {
  const { rows } = await sql<{ last_at: Date }>`select last_at from schedule_tick where schedule = ${name}`.execute(
    db.sql<Record<never, never>>(),
  )
  return rows[0]?.last_at
}

/**
 * Turns a tick into a job, once, whatever the queue repeats. A tick that comes too early after the last one (the queue
 * was lost and started anew) and one that finds the work before it unfinished are left out.
 * @returns whether a job was made
 */
export async function acceptTick(db: Database, jobs: Jobs, { name, rhythm }: Schedule, at: Date): Promise<boolean> {
  const gap = 'every' in rhythm ? rhythm.every * 0.9 : 1
  return db.tx(async (tx) => {
    const conn = tx.sql<Record<never, never>>()
    const taken = await sql`
      insert into schedule_tick (schedule, last_at) values (${name}, ${at})
      on conflict (schedule) do update set last_at = excluded.last_at
      where schedule_tick.last_at <= excluded.last_at - ${gap} * interval '1 ms'
      returning schedule`.execute(conn)
    if (taken.rows.length === 0) return false
    const open = await sql`
      select 1 from job_record where name = ${prefix + name} and done_at is null and dead_at is null limit 1`.execute(
      conn,
    )
    if (open.rows.length > 0) return false
    await jobs.enqueue(tx, prefix + name, null)
    return true
  })
}
