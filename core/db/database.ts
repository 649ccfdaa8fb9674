import type { EntityManager } from '@mikro-orm/postgresql'
import type { Kysely } from 'kysely'
import { type Event, service } from '../plugin/index.ts'

/** The tables of some entities, as Kysely wants them: `TablesOf<typeof Star | typeof Repository>`. */
export type { InferKyselyDB as TablesOf } from '@mikro-orm/postgresql'

/** One transaction. Services that write take it as their first argument, so that several join into one. */
export type Tx = {
  /** For records that change: create, find, set fields; flushed before commit. */
  readonly em: EntityManager
  /** For set-based writes and locked reads, inside this transaction. Flush `em` first when it must be seen. */
  sql<Tables>(): Kysely<Tables>
  /** Records an event: inside listeners run at once, the others after commit, driven by the outbox. */
  publish<T>(token: Event<T>, payload: T): Promise<void>
  /** Runs after a successful commit, in this process only: for caches and wake-ups, never for data. */
  afterCommit(effect: () => void): void
}

/** The host's PostgreSQL. */
export type Database = {
  /** Reads outside a transaction. */
  sql<Tables>(): Kysely<Tables>
  /** Runs `work` in a transaction; deadlocks and serialization failures are retried, so `work` may run again. */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Hears NOTIFY on a channel, over one shared connection that reconnects; `onGap` runs after a reconnect. */
  listen(channel: string, heard: (payload: string) => void, onGap?: () => void): Promise<() => void>
  /** Sends NOTIFY outside a transaction. Inside one: `select pg_notify(...)` through `tx.sql()`. */
  notify(channel: string, payload: string): Promise<void>
}

export const Database = service<Database>('db.database')
