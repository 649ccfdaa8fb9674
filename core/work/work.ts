import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Tx } from '../db/index.ts'
import type { Job, Listener, Schedule } from './declare.ts'
import { createDeliveries } from './deliveries.ts'
import { createHanding, laneOf } from './handing.ts'
import { hearInside } from './inside.ts'
import { createJobs, type Jobs, wakeChannel } from './jobs.ts'
import { mainLane, openQueues, type Queues } from './queue.ts'
import type { WorkLog } from './retry.ts'
import { createRunner, type Runner } from './runner.ts'
import { acceptTick, isScheduleJob, jobOfSchedule, lastTick } from './schedules.ts'
import { countWork, isAnythingDue, type Retention, sweepFinished, type WorkCounts } from './sweep.ts'

/** `web` only records events and jobs; `work` also brings them to listeners and workers; `all` is both. */
export type Role = 'all' | 'web' | 'work'

export type WorkOptions = {
  readonly db: Database
  readonly databaseUrl: string
  /** Without it the queue is on PostgreSQL. */
  readonly redisUrl?: string | undefined
  readonly log: WorkLog
  /** How long finished rows stay: a day, and 30 days when given up, unless told otherwise. */
  readonly retention?: Retention
  /** Jobs of the common lane that one process runs at a time. */
  readonly concurrency?: number
  /** Ms between looks at the tables, behind the wake-ups. */
  readonly pollMs?: number
  /** A job that should have run so many ms ago is asked after in the queue. */
  readonly doubtMs?: number
  /** A worker that is silent for so many ms is taken for dead, and its jobs run again. */
  readonly lockMs?: number
  /** The same for what drains a listener. */
  readonly leaseMs?: number
  /** Pause in ms before a listener's second attempt. */
  readonly backoff?: number
}

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
  /** For tests: resolves when nothing is due any more. */
  idle(): Promise<void>
  counts(): Promise<WorkCounts>
  /** Removes finished rows whose time is over; also done by itself every ten minutes. */
  sweep(): Promise<void>
}

const sweepEvery = 600_000
const dayMs = 86_400_000
const defaultRetention: Retention = { done: dayMs, dead: 30 * dayMs }

type Engine = { nudge(): void; busy(): boolean; drain(name: string): void; forget(name: string): Promise<void> } & {
  readonly runner: Runner
  openLane(job: Job): Promise<void>
  ensureTicks(schedule: Schedule): Promise<void>
  stop(graceMs: number): Promise<void>
}

/** The room's one object; see index.ts for how it thinks. */
export function createWork(options: WorkOptions): Work {
  const { db, log } = options
  const listeners = new Map<string, Listener>()
  const known = new Map<string, Job>()
  const schedules = new Map<string, Schedule>()
  const jobs = createJobs(db, log)
  let engine: Engine | undefined

  const complain = (what: string) => (error: unknown) => log.error(what, error)
  const add = <T extends { readonly name: string }>(map: Map<string, T>, entry: T, kind: string) => {
    if (map.has(entry.name)) throw new Error(`two ${kind}s are named ${entry.name}`)
    map.set(entry.name, entry)
  }

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
      if (role !== 'web') engine = await startEngine(options, { listeners, known, schedules, jobs })
    },
    async stop(graceMs) {
      const running = engine
      engine = undefined
      await running?.stop(graceMs)
    },
    addListener(listener) {
      add(listeners, listener, 'listener')
      engine?.drain(listener.name)
      return async () => {
        listeners.delete(listener.name)
        await engine?.forget(listener.name)
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
    async idle() {
      for (const end = Date.now() + 30_000; ; await sleep(10)) {
        if (!engine) throw new Error('nothing drains here: start the work first')
        const busy = engine.busy() || (await isAnythingDue(db, [...listeners.keys()], [...known.keys()]))
        if (!busy) return
        if (Date.now() > end) throw new Error(`work is not done after 30 s: ${JSON.stringify(await countWork(db))}`)
        engine.nudge()
      }
    },
    counts: () => countWork(db),
    sweep: () => sweepFinished(db, options.retention ?? defaultRetention),
  }
}

type Live = {
  readonly listeners: ReadonlyMap<string, Listener>
  readonly known: ReadonlyMap<string, Job>
  readonly schedules: ReadonlyMap<string, Schedule>
  readonly jobs: Jobs
}

/** What runs in a process that works. */
async function startEngine(options: WorkOptions, live: Live): Promise<Engine> {
  const { db, databaseUrl, redisUrl, log, retention = defaultRetention, backoff = 1000 } = options
  const { concurrency = 10, pollMs = 5000, doubtMs = 15_000, lockMs = 15_000, leaseMs = 6000 } = options
  const deliveries = createDeliveries({ db, log, listeners: live.listeners, backoff, leaseMs })
  const runner: Runner = createRunner({
    db,
    log,
    jobs: live.known,
    keep: (job) => !isScheduleJob(job),
    putBack: () => handing.fresh.nudge(),
  })
  const tick = async (name: string, at: Date) => {
    const schedule = live.schedules.get(name)
    // Its plugin is off here. Where it is on, the tick is set up again within seconds.
    if (!schedule) await queues.dropTicks(name)
    else await acceptTick(db, live.jobs, schedule, at)
  }
  const queues: Queues = await openQueues({ databaseUrl, redisUrl, log, lockMs, run: runner.run, tick })
  const handing = createHanding({ db, log, jobs: live.known, queues, doubtMs })

  const openLane = async (job: Job) => {
    if (job.concurrency !== undefined) await queues.open(laneOf(job), job.concurrency)
  }
  const ensureTicks = async (schedule: Schedule) => {
    await queues.ensureTicks(schedule.name, schedule.rhythm, await lastTick(db, schedule.name))
  }
  const nudge = () => {
    deliveries.nudge()
    handing.fresh.nudge()
  }

  let nextSweep = Date.now() + sweepEvery * Math.random()
  const round = async () => {
    nudge()
    deliveries.lookForDue()
    await runner.confirm()
    handing.doubtful.nudge()
    for (const schedule of live.schedules.values()) await ensureTicks(schedule)
    if (Date.now() < nextSweep) return
    nextSweep = Date.now() + sweepEvery
    await sweepFinished(db, retention)
  }
  let turn: Promise<void> | undefined
  const look = () => {
    turn ??= round()
      .catch((error) => log.error('looking after the work failed; tried again in a few seconds', error))
      .finally(() => {
        turn = undefined
      })
  }

  await queues.open(mainLane, concurrency)
  for (const job of live.known.values()) await openLane(job)
  const unlisten = await db.listen(wakeChannel, nudge, look)
  const timer = setInterval(look, pollMs)
  look()

  return {
    nudge,
    runner,
    openLane,
    ensureTicks,
    drain: deliveries.drain,
    forget: deliveries.forget,
    busy: () => deliveries.busy() || handing.fresh.busy() || runner.busy(),
    async stop(graceMs) {
      clearInterval(timer)
      unlisten()
      const deadline = Date.now() + graceMs
      const within = (part: number, work: Promise<unknown>) =>
        Promise.race([work, sleep(Math.max(0, deadline - Date.now()) * part, undefined, { ref: false })])
      const still = Promise.allSettled([
        queues.pause(),
        deliveries.stop(),
        handing.fresh.stop(),
        handing.doubtful.stop(),
        turn,
      ]).then(() => runner.settled())
      await within(0.7, still)
      runner.abort()
      await within(
        0.8,
        still.then(() => runner.settled()),
      )
      await within(1, queues.close())
    },
  }
}
