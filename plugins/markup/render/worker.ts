import { parentPort } from 'node:worker_threads'
import { type Job, renderDocument } from './document.ts'

/** The thread: one job in, one page of HTML or one failure out. */
parentPort?.on('message', (job: Job) => {
  try {
    parentPort?.postMessage({ html: renderDocument(job) })
  } catch (error) {
    parentPort?.postMessage({ failure: error instanceof Error ? error.message : String(error) })
  }
})
