import { sql } from 'kysely'
import type { Database } from '../db/index.ts'

/**
 * The life of a job's record. The queue only holds pointers `<id>-<round>`; a pointer of an older round does nothing.
 * That fences what a lost, stalled or repeated queue entry could do, and makes handing over safe to repeat.
 */
export type Handed = { readonly id: number; readonly name: string; readonly round: number; readonly delay: number }
export type Claimed = { readonly payload: unknown; readonly attempts: number }

const open = sql`done_at is null and dead_at is null`
const connOf = (db: Database) => db.sql<Record<never, never>>()

/** Takes open jobs of these names that wait to be handed to the queue. Their round is a new one. */
export async function takeUnhanded(db: Database, names: readonly string[], limit: number): Promise<Handed[]> {
  const { rows } = await sql<Handed>`
    with picked as (
      select id from job_record
      where ${open} and handed_at is null and name = any(${names}::text[])
      order by id limit ${limit} for update skip locked)
    update job_record j set handed_at = now(), round = j.round + 1 from picked where j.id = picked.id
    returning j.id, j.name, j.round, greatest(0, extract(epoch from j.due_at - now()) * 1000)::int8 as delay`.execute(
    connOf(db),
  )
  return rows.sort((one, other) => one.id - other.id)
}

/** Open jobs that should have run and were handed over some time ago: does the queue still know them? */
export async function findDoubtful(
  db: Database,
  names: readonly string[],
  quietMs: number,
  limit: number,
): Promise<Handed[]> {
  const { rows } = await sql<Handed>`
    select id, name, round, 0::int8 as delay from job_record
    where ${open} and name = any(${names}::text[])
      and handed_at < now() - ${quietMs} * interval '1 ms' and due_at < now() - ${quietMs} * interval '1 ms'
    order by handed_at limit ${limit}`.execute(connOf(db))
  return rows
}

/** Notes that the queue knows these jobs. */
export async function confirm(db: Database, jobs: readonly Handed[]): Promise<void> {
  await sql`update job_record set handed_at = now() where id = any(${jobs.map((one) => one.id)}::bigint[])`.execute(
    connOf(db),
  )
}

/** Lets a job be handed over again, unless that has happened since. */
export async function recall(db: Database, id: number, round: number): Promise<void> {
  await sql`update job_record set handed_at = null where id = ${id} and round = ${round} and ${open}`.execute(
    connOf(db),
  )
}

/** Counts a start. Undefined: the job is finished, or another round of it is the valid one. */
export async function claim(db: Database, id: number, round: number): Promise<Claimed | undefined> {
  const { rows } = await sql<Claimed>`
    update job_record set attempts = attempts + 1 where id = ${id} and round = ${round} and ${open}
    returning payload, attempts`.execute(connOf(db))
  return rows[0]
}

/** The job's name; undefined when no record is left. */
export async function nameOf(db: Database, id: number): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`select name from job_record where id = ${id}`.execute(connOf(db))
  return rows[0]?.name
}

/** Ends a job that succeeded; its record goes at once or with the next sweep. */
export async function finish(db: Database, id: number, round: number, keep: boolean): Promise<void> {
  const row = sql`id = ${id} and round = ${round} and ${open}`
  if (keep) await sql`update job_record set done_at = now(), last_error = null where ${row}`.execute(connOf(db))
  else await sql`delete from job_record where ${row}`.execute(connOf(db))
}

/** Ends a job that is not tried again. */
export async function bury(db: Database, id: number, round: number, reason: string): Promise<void> {
  await sql`update job_record set dead_at = now(), last_error = ${reason} where id = ${id} and round = ${round} and ${open}`.execute(
    connOf(db),
  )
}

/** Puts a failed job back, to start after `pause` ms. */
export async function postpone(db: Database, id: number, round: number, reason: string, pause: number): Promise<void> {
  await sql`
    update job_record set handed_at = null, last_error = ${reason}, due_at = now() + ${pause} * interval '1 ms'
    where id = ${id} and round = ${round} and ${open}`.execute(connOf(db))
}

/** Puts an interrupted job back as if it had not started. */
export async function giveBack(db: Database, id: number, round: number): Promise<void> {
  await sql`
    update job_record set handed_at = null, attempts = greatest(attempts - 1, 1) where id = ${id} and round = ${round} and ${open}`.execute(
    connOf(db),
  )
}
