import { setTimeout as sleep } from 'node:timers/promises'
import type { Tx } from '../db/index.ts'
import type { Job, Listener, Schedule } from './declare.ts'
import { defaultRetention, type Engine, type Live, startEngine, type WorkOptions } from './engine.ts'
import { hearInside } from './inside.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { jobOfSchedule } from './schedules.ts'
import { countWork, isAnythingDue, sweepFinished, type WorkCounts } from './sweep.ts'

/** `web` only records events and jobs; `work` also brings them to listeners and workers; `all` is both. */
export type Role = 'all' | 'web' | 'work'

/** Takes back what was added; resolves when nothing of it runs any more. */
export type Undo = () => Promise<void>

export type Work = {
  readonly jobs: Jobs
  /** Call it when the plugins have started: an event is filed for the listeners that are there when it is relayed. */
  start(role: Role): Promise<void>
  /** Call it before the plugins are stopped. Lets what runs end, up to `graceMs`; the rest is done again elsewhere. */
  stop(graceMs: number): Promise<void>
  addListener(listener: Listener): Undo
  addJob(job: Job): Undo
  addSchedule(schedule: Schedule): Undo
  /** Runs the inside listeners of an event: the hook for `onPublish` of core/db. */
  heard(tx: Tx, event: string, payload: unknown): Promise<void>
  /** For tests: resolves when nothing is due any more. What waits for a later attempt does not count. */
  idle(): Promise<void>
  counts(): Promise<WorkCounts>
  /** Removes finished rows whose time is over; also done by itself every ten minutes. */
  sweep(): Promise<void>
}

/** The room's one object; see index.ts for how it thinks. */
export function createWork(options: WorkOptions): Work {
  const { db, log } = options
  const listeners = new Map<string, Listener>()
  const known = new Map<string, Job>()
  const schedules = new Map<string, Schedule>()
  const jobs = createJobs(db, log)
  const live: Live = { listeners, known, schedules, jobs }
  let engine: Engine | undefined

  const complain = (what: string) => (error: unknown) => log.error(what, error)

  const addJob = (job: Job): Undo => {
    add(known, job, 'job')
    engine?.openLane(job).catch(complain(`opening the lane of ${job.name} failed`))
    engine?.nudge()
    return async () => {
      known.delete(job.name)
      engine?.runner.abort(job.name)
      await engine?.runner.settled(job.name)
    }
  }

  return {
    jobs,
    async start(role) {
      if (role !== 'web') engine = await startEngine(options, live)
    },
    async stop(graceMs) {
      const running = engine
      engine = undefined
      await running?.stop(graceMs)
    },
    addListener(listener) {
      add(listeners, listener, 'listener')
      engine?.deliveries.drain(listener.name)
      return async () => {
        listeners.delete(listener.name)
        await engine?.deliveries.forget(listener.name)
      }
    },
    addJob,
    addSchedule(schedule) {
      add(schedules, schedule, 'schedule')
      const undoJob = addJob(jobOfSchedule(schedule))
      engine?.ensureTicks(schedule).catch(complain(`starting the schedule ${schedule.name} failed`))
      return async () => {
        schedules.delete(schedule.name)
        await undoJob()
      }
    },
    heard: (tx, event, payload) => hearInside(listeners, tx, event, payload),
    idle: () => drained(options, live, () => engine),
    counts: () => countWork(db),
    sweep: () => sweepFinished(db, options.retention ?? defaultRetention),
  }
}

function add<T extends { readonly name: string }>(map: Map<string, T>, entry: T, kind: string): void {
  if (map.has(entry.name)) throw new Error(`two ${kind}s are named ${entry.name}`)
  map.set(entry.name, entry)
}

async function drained(
  { db }: WorkOptions,
  { listeners, known }: Live,
  current: () => Engine | undefined,
): Promise<void> {
  for (const end = Date.now() + 30_000; ; await sleep(10)) {
    const engine = current()
    if (!engine) throw new Error('nothing drains here: start the work first')
    // The database first: what it still holds may be taken up between the two looks, but not the other way round.
    if (!(await isAnythingDue(db, [...listeners.keys()], [...known.keys()])) && !engine.busy()) return
    if (Date.now() > end) throw new Error(`work is not done after 30 s: ${JSON.stringify(await countWork(db))}`)
    engine.nudge()
  }
}
