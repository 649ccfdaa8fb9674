import type { Tx } from '../db/index.ts'
import type { Event } from '../plugin/index.ts'

/** What a durable listener knows of an event beside its payload. */
export type EventMeta = {
  /** Number of the event. A listener may meet an event twice: it is the same event when the id is the same. */
  readonly id: number
}

/** Hears an event after the commit that published it: at least once, in the order of the events. */
export type AfterListener = {
  readonly kind: 'after'
  readonly event: string
  /** Unique in the host, and kept over releases: unfinished deliveries are filed under it. */
  readonly name: string
  /** Keeps data right while its plugin is off, so that it is added once and for ever. */
  readonly whileOff: boolean
  handle(payload: unknown, meta: EventMeta): Promise<void>
}

/** Hears an event inside the publisher's transaction. */
export type InsideListener = {
  readonly kind: 'inside'
  readonly event: string
  readonly name: string
  readonly whileOff: boolean
  handle(tx: Tx, payload: unknown): Promise<void>
}

export type Listener = AfterListener | InsideListener

type ListenerOptions = { readonly whileOff?: boolean }

/**
 * A durable listener. `handle` runs after the commit, at least once, and must therefore bear the same event id twice.
 * When it throws, the event is tried again with growing pauses; meanwhile only later events of the same subject wait.
 */
export function after<T>(
  token: Event<T>,
  name: string,
  handle: (payload: T, meta: EventMeta) => Promise<void>,
  { whileOff = false }: ListenerOptions = {},
): AfterListener {
  return { kind: 'after', event: token.id, name, whileOff, handle: (payload, meta) => handle(payload as T, meta) }
}

/** A listener inside the publisher's transaction: fast, without network. It vetoes by throwing a Refusal. */
export function inside<T>(
  token: Event<T>,
  name: string,
  handle: (tx: Tx, payload: T) => Promise<void>,
  { whileOff = false }: ListenerOptions = {},
): InsideListener {
  return { kind: 'inside', event: token.id, name, whileOff, handle: (tx, payload) => handle(tx, payload as T) }
}

/** Carries the payload's type of a job's name; never present at run time. */
declare const carries: unique symbol
export type JobName<T> = string & { readonly [carries]?: T }

/** Names a job together with the type of its payload, so that who enqueues and who works agree. */
export function jobName<T>(name: string): JobName<T> {
  return name
}

/** What a job knows of its run. */
export type JobRun = {
  readonly id: number
  /** 1 for the first attempt. */
  readonly attempt: number
  /** Aborted when the process stops or the plugin is turned off: stop soon, the job is run again elsewhere. */
  readonly signal: AbortSignal
}

export type JobOptions = {
  /** Starts after which a job is given up, 5 unless told otherwise. */
  readonly attempts?: number
  /** Pause before the second attempt in ms, 2,000 unless told otherwise; it triples each time, up to an hour. */
  readonly backoff?: number
  /** How many of this job one process runs at a time. Without it the job shares the common workers. */
  readonly concurrency?: number
}

export type Job = {
  readonly name: string
  readonly attempts: number
  readonly backoff: number
  readonly concurrency: number | undefined
  handle(payload: unknown, run: JobRun): Promise<void>
}

/** Work in the background: at least once, tried again when it throws. */
export function job<T>(
  name: JobName<T> | string,
  handle: (payload: T, run: JobRun) => Promise<void>,
  { attempts = 5, backoff = 2000, concurrency }: JobOptions = {},
): Job {
  return { name, attempts, backoff, concurrency, handle: (payload, run) => handle(payload as T, run) }
}

/** `every`: ms between ticks, at round times; the first tick comes at once. `cron`: five or six fields, in UTC. */
export type Rhythm = { readonly every: number } | { readonly cron: string }

export type Schedule = {
  readonly name: string
  readonly rhythm: Rhythm
  handle(run: JobRun): Promise<void>
}

/**
 * Work at set times. Each tick runs once over all processes; ticks that were missed run once, together. A tick that
 * comes while the work of the one before is unfinished is left out.
 */
export function schedule(name: string, rhythm: Rhythm, handle: (run: JobRun) => Promise<void>): Schedule {
  return { name, rhythm, handle }
}
