import { defineEntity, p } from '@mikro-orm/core'
import { sql } from 'kysely'
import type { Event } from '../plugin/index.ts'
import type { Tx } from './database.ts'
import { uncounted } from './pool.ts'

/**
 * What was published, committed with the change that caused it. The work room reads the rows in the order of their
 * ids and hands them to listeners; `dispatched_at` is set when that is recorded.
 */
export const Outbox = defineEntity({
  name: 'Outbox',
  tableName: 'outbox',
  indexes: [
    {
      name: 'outbox_waiting',
      expression: 'create index outbox_waiting on outbox (id) where dispatched_at is null',
    },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    /** event, job */
    kind: p.string(),
    name: p.string(),
    payload: p.json(),
    created_at: p.datetime().defaultRaw('now()'),
    dispatched_at: p.datetime().nullable(),
  },
})

/** The channel on which readers of the outbox are woken. */
export const outboxChannel = 'outbox'

/** Runs inside the transaction that publishes; a throw takes the transaction back. */
export type PublishHook = (tx: Tx, eventName: string, payload: unknown, eventId: number) => Promise<void>

export type OutboxEntry = { readonly kind: 'event' | 'job'; readonly name: string; readonly payload: unknown }

export type OutboxWriter = {
  /** Inserts a row and wakes the readers after the commit; answers the row's id. */
  record(tx: Tx, entry: OutboxEntry): Promise<number>
  publish<T>(tx: Tx, token: Event<T>, payload: T): Promise<void>
  /** Installs the work room's inside listeners; answers how to take them off. */
  onPublish(hook: PublishHook): () => void
}

/**
 * Writes the outbox.
 *
 * Readers are woken after the commit and not inside it: a transaction that holds a NOTIFY takes one lock of the whole
 * server while it commits, so that all writers would wait for each other's disk. Losing a wake-up costs the delay of
 * the readers' timer. While one is under way, further ones are joined.
 */
export function createOutboxWriter(
  notify: (channel: string, payload: string) => Promise<void>,
  log: (message: string) => void,
): OutboxWriter {
  const hooks = new Set<PublishHook>()
  let waking = false
  let again = false
  const wake = () => {
    again = waking
    if (waking) return
    waking = true
    void uncounted(() => notify(outboxChannel, ''))
      .catch((error) => log(`readers of the outbox were not woken: ${String(error)}`))
      .finally(() => {
        waking = false
        if (again) wake()
      })
  }

  const record = async (tx: Tx, { kind, name, payload }: OutboxEntry) => {
    const { rows } = await sql<{ id: number }>`
      insert into outbox (kind, name, payload) values (${kind}, ${name}, ${JSON.stringify(payload ?? null)}) returning id`.execute(
      tx.sql<Record<never, never>>(),
    )
    tx.afterCommit(wake)
    return (rows[0] as { id: number }).id
  }

  return {
    record,
    async publish(tx, token, payload) {
      // The row comes before what inside listeners publish in turn: a consequence has the later number.
      const id = await record(tx, { kind: 'event', name: token.id, payload })
      for (const hook of hooks) await hook(tx, token.id, payload, id)
    },
    onPublish(hook) {
      hooks.add(hook)
      return () => void hooks.delete(hook)
    },
  }
}
