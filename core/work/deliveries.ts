import { randomUUID } from 'node:crypto'
import type { Database } from '../db/index.ts'
import type { AfterListener, Listener } from './declare.ts'
import { drainListener, listenersDue } from './drain.ts'
import { createLeases } from './leases.ts'
import { createPump, type Pump } from './pump.ts'
import { relayEvents } from './relay.ts'
import type { WorkLog } from './retry.ts'

/** Events on their way from the outbox to the durable listeners of this process. */
export type Deliveries = {
  /** Looks for new events. */
  nudge(): void
  /** Looks for deliveries that are due, whoever filed them. */
  lookForDue(): void
  /** Starts draining a listener that was added. */
  drain(name: string): void
  /** Waits for the running delivery of a listener that was removed. */
  forget(name: string): Promise<void>
  /** Takes up nothing new; resolves when the deliveries that run have ended. */
  stop(): Promise<void>
  busy(): boolean
}

type DeliveriesDeps = {
  readonly db: Database
  readonly log: WorkLog
  readonly listeners: ReadonlyMap<string, Listener>
  readonly backoff: number
  readonly leaseMs: number
}

export function createDeliveries({ db, log, listeners, backoff, leaseMs }: DeliveriesDeps): Deliveries {
  const timers = new Set<NodeJS.Timeout>()
  const drains = new Map<string, Pump>()
  let stopped = false

  const failed = (what: string) => (error: unknown) => log.error(`${what} failed; tried again in a few seconds`, error)
  const leases = createLeases(db, randomUUID(), leaseMs, failed('renewing the leases of listeners'))
  const durable = (name: string): AfterListener | undefined => {
    const listener = listeners.get(name)
    return listener?.kind === 'after' ? listener : undefined
  }
  const live = () => [...listeners.values()].filter((listener) => listener.kind === 'after')

  const later = (ms: number, act: () => void) => {
    if (stopped) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      act()
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  const drain = (name: string) => {
    if (stopped || !durable(name)) return
    let pump = drains.get(name)
    if (!pump) {
      const work = async () => {
        const listener = durable(name)
        if (!listener) return
        const wanted = () => !stopped && listeners.get(name) === listener
        await drainListener({ db, log, leases, backoff, later: (ms) => later(ms, () => drain(name)) }, listener, wanted)
      }
      pump = createPump(work, failed(`draining ${name}`))
      drains.set(name, pump)
    }
    pump.nudge()
  }

  const relay = createPump(async () => {
    const { contended, listeners: reached } = await relayEvents(db, live)
    for (const name of reached) drain(name)
    if (contended) later(250, relay.nudge)
  }, failed('relaying events'))

  const due = createPump(async () => {
    const names = live().map((listener) => listener.name)
    for (const name of await listenersDue(db, names)) drain(name)
  }, failed('looking for due events'))

  return {
    nudge: relay.nudge,
    lookForDue: due.nudge,
    drain,
    async forget(name) {
      const pump = drains.get(name)
      drains.delete(name)
      await pump?.stop()
    },
    async stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.all([relay, due, ...drains.values()].map((pump) => pump.stop()))
      leases.stop()
    },
    busy: () => [relay, due, ...drains.values()].some((pump) => pump.busy()),
  }
}
