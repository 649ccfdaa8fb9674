import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../db/index.ts'
import type { Job, Listener, Schedule } from './declare.ts'
import { createDeliveries, type Deliveries } from './deliveries.ts'
import { createHanding, type Handing, laneOf } from './handing.ts'
import { type Jobs, wakeChannel } from './jobs.ts'
import { createPump, type Pump } from './pump.ts'
import { mainLane, openQueues, type Queues } from './queue.ts'
import type { WorkLog } from './retry.ts'
import { createRunner, type Runner } from './runner.ts'
import { acceptTick, isScheduleJob, lastTick } from './schedules.ts'
import { type Retention, sweepFinished } from './sweep.ts'

const sweepEvery = 600_000
const dayMs = 86_400_000
export const defaultRetention: Retention = { done: dayMs, dead: 30 * dayMs }

export type WorkOptions = {
  readonly db: Database
  readonly databaseUrl: string
  /** Without it the queue is on PostgreSQL. A Redis database serves one host. */
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

/** What is on at present; it changes while the engine runs. */
export type Live = {
  readonly listeners: ReadonlyMap<string, Listener>
  readonly known: ReadonlyMap<string, Job>
  readonly schedules: ReadonlyMap<string, Schedule>
  readonly jobs: Jobs
}

/** The machinery of a process that works. */
export type Engine = {
  readonly deliveries: Deliveries
  readonly runner: Runner
  nudge(): void
  busy(): boolean
  openLane(job: Job): Promise<void>
  ensureTicks(schedule: Schedule): Promise<void>
  stop(graceMs: number): Promise<void>
}

/** Starts bringing events to listeners and jobs to workers. */
export async function startEngine(options: WorkOptions, live: Live): Promise<Engine> {
  const { db, databaseUrl, redisUrl, log, backoff = 1000 } = options
  const { concurrency = 10, pollMs = 5000, doubtMs = 15_000, lockMs = 15_000, leaseMs = 6000 } = options
  const deliveries = createDeliveries({ db, log, listeners: live.listeners, backoff, leaseMs })
  const putBack = () => handing.fresh.nudge()
  const runner = createRunner({ db, log, jobs: live.known, keep: (job) => !isScheduleJob(job), putBack })
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
  const care = createCare({ options, live, deliveries, handing, runner, nudge, ensureTicks })

  await queues.open(mainLane, concurrency)
  for (const job of live.known.values()) await openLane(job)
  const unlisten = await db.listen(wakeChannel, nudge, care.look)
  const timer = setInterval(care.look, pollMs)
  care.look()

  return {
    deliveries,
    runner,
    nudge,
    busy: () => deliveries.busy() || handing.fresh.busy() || runner.busy(),
    openLane,
    ensureTicks,
    async stop(graceMs) {
      clearInterval(timer)
      unlisten()
      const calm = () => Promise.all([queues.pause(), deliveries.stop(), care.stop(), stopAll(handing)])
      await stopWithin(graceMs, calm, runner, queues)
    },
  }
}

type CareDeps = Pick<Engine, 'deliveries' | 'runner' | 'nudge' | 'ensureTicks'> & {
  readonly options: WorkOptions
  readonly live: Live
  readonly handing: Handing
}

/** What is looked after every few seconds, should a wake-up, a process or the queue be lost. */
function createCare({ options, live, deliveries, handing, runner, nudge, ensureTicks }: CareDeps) {
  const { db, log, retention = defaultRetention } = options
  const failed = (what: string) => (error: unknown) => log.error(`${what} failed; tried again in a few seconds`, error)
  let nextSweep = Date.now() + sweepEvery * Math.random()

  const rows = createPump(async () => {
    nudge()
    deliveries.lookForDue()
    await runner.confirm()
    handing.doubtful.nudge()
    if (Date.now() < nextSweep) return
    nextSweep = Date.now() + sweepEvery
    await sweepFinished(db, retention)
  }, failed('looking after events and jobs'))
  // Apart from the rest, for a queue that is away makes it wait.
  const ticks = createPump(async () => {
    for (const schedule of live.schedules.values()) await ensureTicks(schedule)
  }, failed('setting up the ticks of schedules'))

  return {
    look() {
      rows.nudge()
      ticks.nudge()
    },
    stop: () => stopAll({ rows, ticks }),
  }
}

const stopAll = (pumps: Readonly<Record<string, Pump>>) => Promise.all(Object.values(pumps).map((pump) => pump.stop()))

/** First takes up nothing new and lets what runs end, then asks it to stop, then leaves it. */
async function stopWithin(graceMs: number, calm: () => Promise<unknown>, runner: Runner, queues: Queues) {
  const deadline = Date.now() + graceMs
  const within = (part: number, work: Promise<unknown>) =>
    Promise.race([work, sleep(Math.max(0, deadline - Date.now()) * part, undefined, { ref: false })])
  const settled = Promise.allSettled([calm()]).then(() => runner.settled())
  await within(0.7, settled)
  runner.abort()
  await within(0.8, settled)
  await within(1, queues.close())
}
