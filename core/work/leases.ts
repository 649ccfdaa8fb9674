import { sql } from 'kysely'
import type { Database } from '../db/index.ts'

/** Who drains which listener, over all processes. */
export type Leases = {
  /** Takes or keeps the lease; false while another process has it. */
  take(listener: string): Promise<boolean>
  /** False once the lease may have passed to another process, for example after a long pause of this one. */
  holds(listener: string): boolean
  release(listener: string): Promise<void>
  stop(): void
}

/**
 * Leases in PostgreSQL, renewed by one statement for all that this process holds.
 * `leaseMs`: how long one lives without renewal, which is what a killed process costs its listeners.
 */
export function createLeases(db: Database, owner: string, leaseMs: number, failed: (error: unknown) => void): Leases {
  /** Listener → time in ms until which this process may be sure. */
  const held = new Map<string, number>()
  const conn = () => db.sql<Record<never, never>>()
  let renewing = false

  const renew = async () => {
    if (held.size === 0 || renewing) return
    renewing = true
    try {
      const until = Date.now() + leaseMs
      const { rows } = await sql<{ listener: string }>`
        update listener_lease set held_until = now() + ${leaseMs} * interval '1 ms'
        where owner = ${owner} and listener = any(${[...held.keys()]}::text[]) returning listener`.execute(conn())
      const kept = new Set(rows.map((row) => row.listener))
      for (const listener of [...held.keys()]) if (kept.has(listener)) held.set(listener, until)
    } catch (error) {
      failed(error)
    } finally {
      renewing = false
    }
  }
  const timer = setInterval(() => void renew(), leaseMs / 3)
  timer.unref()

  return {
    async take(listener) {
      const until = Date.now() + leaseMs
      const { rows } = await sql`
        insert into listener_lease (listener, owner, held_until)
        values (${listener}, ${owner}, now() + ${leaseMs} * interval '1 ms')
        on conflict (listener) do update set owner = excluded.owner, held_until = excluded.held_until
        where listener_lease.held_until < now() or listener_lease.owner = excluded.owner
        returning listener`.execute(conn())
      if (rows.length === 0) return false
      held.set(listener, until)
      return true
    },
    holds: (listener) => (held.get(listener) ?? 0) > Date.now(),
    async release(listener) {
      held.delete(listener)
      await sql`delete from listener_lease where listener = ${listener} and owner = ${owner}`.execute(conn())
    },
    stop: () => clearInterval(timer),
  }
}
