import { type Job, job, jobName } from '#core/work'
import type { GitDataUse } from './needs.ts'
import { measure } from './service/measurement.ts'

/** Measures a repository after it changed. */
export const MeasureRepository = jobName<{ repositoryId: number }>('git-data.measure')

/** One at a time in a process: others wait for nothing that this finds out. */
export function gitDataJobs(use: GitDataUse): Job[] {
  return [
    job(MeasureRepository, ({ repositoryId }, { signal }) => measure(use, repositoryId, signal), { concurrency: 1 }),
  ]
}
