import { sql } from 'kysely'
import type { Database } from '../db/index.ts'
import type { AfterListener } from './declare.ts'
import type { Leases } from './leases.ts'
import { pauseAfter, textOf, type WorkLog } from './retry.ts'

const batchSize = 50
export const maxDeliveryAttempts = 10

type Due = { event_id: number; payload: unknown; subject: string; attempts: number }

type DrainDeps = {
  readonly db: Database
  readonly leases: Leases
  readonly log: WorkLog
  /** Pause before the second attempt in ms. */
  readonly backoff: number
  /** Asks for another drain after so many ms. */
  later(ms: number): void
}

/**
 * Hands a listener its due events in order, until there are none, the lease is lost or `wanted` says no.
 * An event that fails holds back later ones of its subject; the others go on.
 */
export async function drainListener(deps: DrainDeps, listener: AfterListener, wanted: () => boolean): Promise<void> {
  const { leases } = deps
  const mayGoOn = () => wanted() && leases.holds(listener.name)
  while (wanted() && (await leases.take(listener.name))) {
    try {
      while (mayGoOn()) {
        const batch = await findDue(deps.db, listener.name)
        if (batch.length === 0) break
        await drainBatch(deps, listener, batch, mayGoOn)
      }
    } finally {
      await leases.release(listener.name)
    }
    // Somebody may have filed an event between the empty look and the release, and found the lease taken.
    if ((await findDue(deps.db, listener.name)).length === 0) return
  }
}

async function drainBatch(deps: DrainDeps, listener: AfterListener, batch: readonly Due[], mayGoOn: () => boolean) {
  const failing = new Set<string>()
  for (const due of batch) {
    if (!mayGoOn()) return
    if (failing.has(due.subject)) continue
    if (!(await deliver(deps, listener, due))) failing.add(due.subject)
  }
}

/** One attempt. It is counted before it starts, so that an event that kills the process is given up in the end, too. */
async function deliver({ db, log, backoff, later }: DrainDeps, listener: AfterListener, due: Due): Promise<boolean> {
  const conn = db.sql<Record<never, never>>()
  const row = sql`event_id = ${due.event_id} and listener = ${listener.name}`
  const attempt = due.attempts + 1
  const giveUp = async (reason: string) => {
    log.error(`${listener.name} gave up event ${due.event_id} after ${maxDeliveryAttempts} attempts`, new Error(reason))
    await sql`update event_delivery set dead_at = now(), last_error = ${reason} where ${row}`.execute(conn)
  }
  if (attempt > maxDeliveryAttempts) {
    await giveUp('each attempt ended with the process')
    return true
  }
  await sql`update event_delivery set attempts = ${attempt} where ${row}`.execute(conn)
  try {
    await listener.handle(due.payload, { id: due.event_id })
  } catch (error) {
    const reason = textOf(error)
    if (attempt === maxDeliveryAttempts) {
      await giveUp(reason)
      return true
    }
    const pause = pauseAfter(attempt, backoff)
    log.error(`${listener.name} failed on event ${due.event_id}, attempt ${attempt}; next in ${pause} ms`, error)
    await sql`
      update event_delivery set last_error = ${reason}, due_at = now() + ${pause} * interval '1 ms' where ${row}`.execute(
      conn,
    )
    later(pause)
    return false
  }
  await sql`update event_delivery set done_at = now(), last_error = null where ${row}`.execute(conn)
  return true
}

/** The next due events of a listener, without those behind an unfinished one of their subject that must wait. */
async function findDue(db: Database, listener: string): Promise<Due[]> {
  const { rows } = await sql<Due>`
    select d.event_id, o.payload, d.subject, d.attempts
    from event_delivery d join outbox o on o.id = d.event_id
    where d.listener = ${listener} and d.done_at is null and d.dead_at is null and d.due_at <= now()
      and not exists (
        select 1 from event_delivery e
        where e.listener = d.listener and e.subject = d.subject and e.event_id < d.event_id
          and e.done_at is null and e.dead_at is null and e.due_at > now())
    order by d.event_id limit ${batchSize}`.execute(db.sql<Record<never, never>>())
  return rows
}

/** Which of these listeners have due events. */
export async function listenersDue(db: Database, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const { rows } = await sql<{ listener: string }>`
    select n as listener from unnest(${names}::text[]) n
    where exists (
      select 1 from event_delivery d
      where d.listener = n and d.done_at is null and d.dead_at is null and d.due_at <= now())`.execute(
    db.sql<Record<never, never>>(),
  )
  return rows.map((row) => row.listener)
}
