import type { Tx } from '../db/index.ts'
import type { Listener } from './declare.ts'

/** The live listeners of the host, by name. */
export type Listeners = ReadonlyMap<string, Listener>

/** Runs the listeners inside a publisher's transaction, in the order in which they were added. The first veto ends it. */
export async function hearInside(listeners: Listeners, tx: Tx, event: string, payload: unknown): Promise<void> {
  for (const listener of [...listeners.values()]) {
    if (listener.kind === 'inside' && listener.event === event) await listener.handle(tx, payload)
  }
}
