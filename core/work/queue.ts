import { setTimeout as sleep } from 'node:timers/promises'
import * as bullmq from 'bullmq'
import { createPostgresBackend, getNextMillis, type Queue, type RepeatOptions, type Worker, withBackend } from 'bullmq'
import { Redis } from 'ioredis'
import type { Rhythm } from './declare.ts'
import type { WorkLog } from './retry.ts'

/** Everything that BullMQ is asked for; nothing else in the host imports it. */
export type Queues = {
  /** Adds pointers to a lane; one that is there already is left alone. */
  hand(lane: string, pointers: readonly Pointer[]): Promise<void>
  /** Whether a pointer is waiting, delayed or being worked on. */
  knows(lane: string, pointer: string): Promise<boolean>
  /** Starts working on a lane, `concurrency` pointers at a time. */
  open(lane: string, concurrency: number): Promise<void>
  /** Makes sure that a schedule ticks. `last`: its last known tick; one missed since comes at once. */
  ensureTicks(name: string, rhythm: Rhythm, last: Date | undefined): Promise<void>
  dropTicks(name: string): Promise<void>
  /** Takes no more from the queues. */
  pause(): Promise<void>
  /** Closes and leaves what still runs to itself; pause and wait first. */
  close(): Promise<void>
}

export type Pointer = { readonly id: string; readonly name: string; readonly delay: number }

/** The lane of schedules and of all jobs without a concurrency of their own. */
export const mainLane = 'main'

export type QueueOptions = {
  readonly databaseUrl: string
  readonly redisUrl?: string | undefined
  readonly log: WorkLog
  /** A worker that has not renewed its lock for so many ms loses its pointer to another. */
  readonly lockMs: number
  run(pointer: string): Promise<void>
  tick(name: string, at: Date): Promise<void>
}

const livingStates = new Set(['waiting', 'active', 'delayed', 'prioritized', 'waiting-children'])

type WorkerOptions = { readonly concurrency: number; readonly lockDuration: number; readonly stalledInterval: number }
type Backend = {
  newQueue(name: string): Queue
  newWorker(name: string, work: (job: { id?: string | undefined }) => Promise<void>, options: WorkerOptions): Worker
  close(): void
}

/** Opens the queues; on PostgreSQL their tables, in the schema `jobs`, are made when they are missing. */
export async function openQueues(options: QueueOptions): Promise<Queues> {
  const failed = seldom(options.log)
  const backend = options.redisUrl ? redisBackend(options.redisUrl, failed) : postgresBackend(options.databaseUrl)
  const queues = new Map<string, Queue>()
  const workers = new Map<string, Worker>()

  const queueOf = (lane: string) => {
    let queue = queues.get(lane)
    if (!queue) {
      queue = backend.newQueue(lane)
      queue.on('error', failed)
      queues.set(lane, queue)
    }
    return queue
  }
  /** Lets go of runs that do not end. A forced close would leave BullMQ's wait for the next entry behind, for an hour. */
  const abandoned = Promise.withResolvers<void>()
  const work = async ({ id = '' }: { id?: string | undefined }) => {
    const tick = tickOf(id)
    await Promise.race([tick ? options.tick(tick.name, tick.at) : options.run(id), abandoned.promise])
  }
  const ready = queueOf(mainLane).waitUntilReady()
  if (options.redisUrl) await within(5000, ready, 'Redis ([queue] REDIS_URL) does not answer')
  else await ready

  return {
    async hand(lane, pointers) {
      const entries = pointers.map(({ id, name, delay }) => ({
        name,
        data: {},
        opts: { jobId: id, delay, ...leaveNothing },
      }))
      await queueOf(lane).addBulk(entries)
    },
    async knows(lane, pointer) {
      return livingStates.has(await queueOf(lane).getJobState(pointer))
    },
    async open(lane, concurrency) {
      if (workers.has(lane)) return
      const { lockMs } = options
      const worker = backend.newWorker(lane, work, { concurrency, lockDuration: lockMs, stalledInterval: lockMs / 3 })
      worker.on('error', failed)
      workers.set(lane, worker)
      await worker.waitUntilReady()
    },
    async ensureTicks(name, rhythm, last) {
      const queue = queueOf(mainLane)
      const wanted = repeatOf(rhythm)
      const known = await queue.getJobScheduler(name)
      if (known && known.pattern === wanted.pattern && known.every === wanted.every && (known.next ?? 0) > 0) return
      const missed =
        last !== undefined && (getNextMillis(last.getTime(), wanted) ?? Number.POSITIVE_INFINITY) <= Date.now()
      const immediately = wanted.pattern !== undefined && missed
      await queue.upsertJobScheduler(
        name,
        { ...wanted, ...(immediately ? { immediately } : {}) },
        { name: 'tick', opts: leaveNothing },
      )
    },
    async dropTicks(name) {
      await queueOf(mainLane).removeJobScheduler(name)
    },
    async pause() {
      await Promise.all([...workers.values()].map((worker) => worker.pause(true)))
    },
    async close() {
      abandoned.resolve()
      await Promise.all([...workers.values()].map((worker) => worker.close()))
      await Promise.all([...queues.values()].map((queue) => queue.close()))
      backend.close()
    },
  }
}

/** BullMQ waits for Redis without end; an operator who mistyped the URL should hear of it. */
async function within(ms: number, work: Promise<unknown>, complaint: string): Promise<void> {
  const late = Symbol('late')
  if ((await Promise.race([work, sleep(ms, late, { ref: false })])) === late) throw new Error(complaint)
}

/** What ends leaves no trace in the queue: the record is in PostgreSQL. */
const leaveNothing = { removeOnComplete: true, removeOnFail: true } as const

function postgresBackend(databaseUrl: string): Backend {
  const { Queue, Worker } = withBackend(createPostgresBackend)
  const connection = {
    connectionString: databaseUrl,
    schema: 'jobs',
    max: 2,
    application_name: `switchyard work ${process.pid}`,
  }
  return {
    newQueue: (name) => new Queue(name, { connection: { ...connection, migrate: true } }) as unknown as Queue,
    newWorker: (name, work, options) => new Worker(name, work, { connection, ...options }) as unknown as Worker,
    close: () => {},
  }
}

function redisBackend(url: string, failed: (error: Error) => void): Backend {
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  connection.on('error', failed)
  const shared = { connection, prefix: 'switchyard' }
  return {
    newQueue: (name) => new bullmq.Queue(name, shared),
    newWorker: (name, work, options) => new bullmq.Worker(name, work, { ...shared, ...options }),
    close: () => connection.disconnect(),
  }
}

function repeatOf(rhythm: Rhythm): Pick<RepeatOptions, 'every' | 'pattern' | 'tz'> {
  return 'every' in rhythm ? { every: rhythm.every } : { pattern: rhythm.cron, tz: 'UTC' }
}

/** BullMQ names the entry of a tick `repeat:<schedule>:<ms>`. */
function tickOf(id: string): { name: string; at: Date } | undefined {
  const match = /^repeat:(.+):(\d+)$/.exec(id)
  return match?.[1] ? { name: match[1], at: new Date(Number(match[2])) } : undefined
}

/** A lost server makes every client complain several times a second: one line in five seconds is enough. */
function seldom(log: WorkLog): (error: Error) => void {
  let next = 0
  return (error) => {
    if (Date.now() < next) return
    next = Date.now() + 5000
    log.error('the job queue reports a problem', error)
  }
}
