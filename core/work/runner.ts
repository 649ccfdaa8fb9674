import type { Database } from '../db/index.ts'
import type { Job } from './declare.ts'
import * as records from './records.ts'
import { pauseAfter, textOf, type WorkLog } from './retry.ts'

/** Runs jobs that the queue points to, and records how they end. */
export type Runner = {
  run(pointer: string): Promise<void>
  /** Asks the runs of one job, or all, to stop. They are put back as if interrupted. */
  abort(name?: string): void
  /** Ends when nothing of this job, or of any, runs. */
  settled(name?: string): Promise<void>
  /** Tells all processes that the runs here are alive. */
  confirm(): Promise<void>
  busy(): boolean
}

type Running = { readonly record: records.Handed; readonly stop: AbortController; readonly ended: Promise<void> }

/** The queue's entry for a round of a job. */
export const pointerOf = ({ id, round }: { id: number; round: number }) => `${id}-${round}`

type RunnerDeps = {
  readonly db: Database
  readonly log: WorkLog
  readonly jobs: ReadonlyMap<string, Job>
  /** Whether a finished run is kept for a while. */
  keep(job: Job): boolean
  /** Called when a job was put back and wants to be handed over. */
  putBack(): void
}

export function createRunner(deps: RunnerDeps): Runner {
  const { db, log, jobs } = deps
  const running = new Map<string, Running>()
  const ofJob = (name?: string) => [...running.values()].filter((one) => name === undefined || one.record.name === name)

  const attempt = async (job: Job, record: records.Handed, signal: AbortSignal) => {
    const { id, round } = record
    const claimed = await records.claim(db, id, round)
    if (!claimed) return
    if (claimed.attempts > job.attempts) {
      const reason = `each of ${job.attempts} attempts ended with the process`
      log.error(`job ${job.name} ${id} is given up`, new Error(reason))
      return records.bury(db, id, round, reason)
    }
    try {
      await job.handle(claimed.payload, { id, attempt: claimed.attempts, signal })
    } catch (error) {
      if (signal.aborted) {
        await records.giveBack(db, id, round)
      } else if (claimed.attempts >= job.attempts) {
        log.error(`job ${job.name} ${id} failed for the last time, attempt ${claimed.attempts}`, error)
        await records.bury(db, id, round, textOf(error))
      } else {
        const pause = pauseAfter(claimed.attempts, job.backoff)
        log.error(`job ${job.name} ${id} failed, attempt ${claimed.attempts}; next in ${pause} ms`, error)
        await records.postpone(db, id, round, textOf(error), pause)
      }
      return deps.putBack()
    }
    await records.finish(db, id, round, deps.keep(job))
  }

  return {
    async run(pointer) {
      const [id = 0, round = 0] = pointer.split('-').map(Number)
      const name = await records.nameOf(db, id)
      if (name === undefined) return
      const job = jobs.get(name)
      if (!job) return records.recall(db, id, round)
      const stop = new AbortController()
      const record = { id, round, name, delay: 0 }
      const ended = attempt(job, record, stop.signal)
      running.set(pointer, { record, stop, ended })
      try {
        await ended
      } finally {
        running.delete(pointer)
      }
    },
    abort(name) {
      for (const one of ofJob(name)) one.stop.abort()
    },
    async settled(name) {
      await Promise.allSettled(ofJob(name).map((one) => one.ended))
    },
    async confirm() {
      const alive = ofJob().map((one) => one.record)
      if (alive.length > 0) await records.confirm(db, alive)
    },
    busy: () => running.size > 0,
  }
}
