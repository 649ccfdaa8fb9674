import { Worker } from 'node:worker_threads'
import { Refusal } from '#core/plugin'

export type Threads<J> = {
  /** Runs a job in a thread of its own. */
  run(job: J): Promise<string>
  close(): Promise<void>
}

export type ThreadOptions = {
  readonly module: URL
  /** How many jobs run at a time. */
  readonly size: number
  /** How many may wait. */
  readonly queue: number
  /** How long one job may take, in ms. The thread is ended with it. */
  readonly deadline: number
  /** How much memory one thread may have, in MiB. */
  readonly memory: number
  /** Hears of jobs that failed for a reason of ours. */
  report(failure: string): void
}

type Reply = { readonly html: string } | { readonly failure: string }
type Waiting<J> = { readonly job: J; resolve(html: string): void; reject(error: Error): void }
type Seat<J> = { readonly worker: Worker; busy: Waiting<J> | undefined; timer: NodeJS.Timeout | undefined }

const tooMuch = () => new Refusal('invalid', 'the text takes too long to render')

/** Threads that start when there is work and stay for the next; a job that exceeds its bounds takes its thread along. */
export function createThreads<J>(options: ThreadOptions): Threads<J> {
  const seats = new Set<Seat<J>>()
  const waiting: Waiting<J>[] = []
  let closed = false

  const failed = (failure: string) => {
    options.report(failure)
    return new Refusal('invalid', 'the text cannot be rendered')
  }

  const settle = (seat: Seat<J>, finish: (task: Waiting<J>) => void) => {
    clearTimeout(seat.timer)
    const task = seat.busy
    seat.busy = undefined
    seat.worker.unref()
    if (task) finish(task)
  }

  const drop = (seat: Seat<J>, error: Error) => {
    if (!seats.delete(seat)) return
    settle(seat, (task) => task.reject(error))
    void seat.worker.terminate()
    pump()
  }

  const open = (): Seat<J> => {
    const worker = new Worker(options.module, { resourceLimits: { maxOldGenerationSizeMb: options.memory }, env: {} })
    const seat: Seat<J> = { worker, busy: undefined, timer: undefined }
    worker.unref()
    worker.on('message', (reply: Reply) => {
      settle(seat, (task) => {
        if ('html' in reply) task.resolve(reply.html)
        else task.reject(failed(reply.failure))
      })
      pump()
    })
    // Out of memory, most of all: the fault of this one text.
    worker.on('error', () => drop(seat, tooMuch()))
    worker.on('exit', () => drop(seat, tooMuch()))
    seats.add(seat)
    return seat
  }

  const pump = () => {
    while (waiting.length > 0 && !closed) {
      const seat = [...seats].find((one) => !one.busy) ?? (seats.size < options.size ? open() : undefined)
      const task = seat && waiting.shift()
      if (!seat || !task) return
      seat.busy = task
      seat.worker.ref()
      seat.timer = setTimeout(() => drop(seat, tooMuch()), options.deadline)
      seat.worker.postMessage(task.job)
    }
  }

  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Refusal('unavailable', 'rendering is turned off'))
        if (waiting.length >= options.queue)
          return reject(new Refusal('unavailable', 'too many texts wait to be rendered'))
        waiting.push({ job, resolve, reject })
        pump()
      }),
    close: async () => {
      closed = true
      for (const task of waiting.splice(0)) task.reject(new Refusal('unavailable', 'rendering is turned off'))
      const leaving = [...seats]
      seats.clear()
      for (const seat of leaving)
        settle(seat, (task) => task.reject(new Refusal('unavailable', 'rendering is turned off')))
      await Promise.all(leaving.map((seat) => seat.worker.terminate()))
    },
  }
}
