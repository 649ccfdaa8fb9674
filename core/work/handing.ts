import type { Database } from '../db/index.ts'
import type { Job } from './declare.ts'
import { createPump, type Pump } from './pump.ts'
import { mainLane, type Queues } from './queue.ts'
import * as records from './records.ts'
import type { WorkLog } from './retry.ts'
import { pointerOf } from './runner.ts'

const batchSize = 200

/** A job with a concurrency of its own has a lane of its own. */
export const laneOf = (job: Job | undefined) => (job?.concurrency === undefined ? mainLane : `job-${job.name}`)

type HandingDeps = {
  readonly db: Database
  readonly log: WorkLog
  readonly jobs: ReadonlyMap<string, Job>
  readonly queues: Queues
  /** A job that should have run so many ms ago is asked after. */
  readonly doubtMs: number
}

/** Brings recorded jobs to the queue, and again when the queue has lost them. */
export type Handing = {
  /** Hands over what is new. */
  readonly fresh: Pump
  /** Asks the queue after jobs that are late. */
  readonly doubtful: Pump
}

export function createHanding({ db, log, jobs, queues, doubtMs }: HandingDeps): Handing {
  const failed = (what: string) => (error: unknown) => log.error(`${what} failed; tried again in a few seconds`, error)
  const names = () => [...jobs.keys()]

  const fresh = createPump(async () => {
    let taken = batchSize
    while (taken === batchSize) {
      // When the process ends between these two steps, the doubtful pass finds the jobs that the queue never saw.
      const batch = await records.takeUnhanded(db, names(), batchSize)
      taken = batch.length
      const lanes = Map.groupBy(batch, (one) => laneOf(jobs.get(one.name)))
      for (const [lane, part] of lanes) {
        const pointers = part.map((one) => ({ id: pointerOf(one), name: one.name, delay: one.delay }))
        await queues.hand(lane, pointers)
      }
    }
  }, failed('handing jobs to the queue'))

  const doubtful = createPump(async () => {
    let recalled = 1
    while (recalled > 0) {
      recalled = 0
      const known: records.Handed[] = []
      for (const one of await records.findDoubtful(db, names(), doubtMs, batchSize)) {
        if (await queues.knows(laneOf(jobs.get(one.name)), pointerOf(one))) known.push(one)
        else {
          await records.recall(db, one.id, one.round)
          recalled++
        }
      }
      if (known.length > 0) await records.confirm(db, known)
      if (recalled > 0) fresh.nudge()
    }
  }, failed('asking the queue after late jobs'))

  return { fresh, doubtful }
}
