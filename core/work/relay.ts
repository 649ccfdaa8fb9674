import { sql } from 'kysely'
import type { Database } from '../db/index.ts'
import type { AfterListener } from './declare.ts'
import { subjectOf } from './subject.ts'

/** Any number that nothing else in the host locks. */
const fanLock = 7_305_800_101
const batchSize = 200

type OutboxRow = { id: number; name: string; payload: unknown }

/** What a turn of the relay came to. `contended`: another process is at it. */
export type Relayed = { readonly contended: boolean; readonly listeners: ReadonlySet<string> }

/**
 * Turns committed events into one delivery for each live listener, in the order of their ids.
 *
 * One process at a time, for two at once could file a later event before the earlier one that caused it. It looks at
 * the rows that are visible and waits for none, so a long transaction elsewhere holds back nothing but itself: its own
 * events have caused nothing yet, and are filed when they appear, whatever their ids.
 */
export async function relayEvents(db: Database, live: () => Iterable<AfterListener>): Promise<Relayed> {
  const reached = new Set<string>()
  for (;;) {
    const turn = await relayBatch(db, live)
    for (const listener of turn.listeners) reached.add(listener)
    if (turn.contended || turn.events < batchSize) return { contended: turn.contended, listeners: reached }
  }
}

async function relayBatch(db: Database, live: () => Iterable<AfterListener>) {
  return db.tx(async (tx) => {
    const conn = tx.sql<Record<never, never>>()
    const lock = await sql<{ ok: boolean }>`select pg_try_advisory_xact_lock(${fanLock}) as ok`.execute(conn)
    if (!lock.rows[0]?.ok) return { contended: true, events: 0, listeners: [] }

    const { rows } = await sql<OutboxRow>`
      select id, name, payload from outbox where dispatched_at is null and kind = 'event'
      order by id limit ${batchSize} for update skip locked`.execute(conn)
    if (rows.length === 0) return { contended: false, events: 0, listeners: [] }

    const listeners = [...live()]
    const deliveries = rows.flatMap((row) =>
      listeners
        .filter((listener) => listener.event === row.name)
        .map((listener) => ({ event_id: row.id, listener: listener.name, subject: subjectOf(row.payload) })),
    )
    if (deliveries.length > 0) {
      await sql`
        insert into event_delivery (event_id, listener, subject)
        select event_id, listener, subject
        from jsonb_to_recordset(${JSON.stringify(deliveries)}::jsonb) as d(event_id bigint, listener text, subject text)
        on conflict do nothing`.execute(conn)
    }
    await sql`update outbox set dispatched_at = now() where id = any(${rows.map((row) => row.id)}::bigint[])`.execute(
      conn,
    )
    return { contended: false, events: rows.length, listeners: deliveries.map((delivery) => delivery.listener) }
  })
}
