import { Refusal } from '../../plugin/index.ts'

export type GateOptions = {
  /** How many may be inside at once. */
  readonly slots: number
  /** How many may wait; one more is refused at once. */
  readonly queue: number
  /** Milliseconds that one may wait. */
  readonly wait: number
}

export type Gate = {
  /** Resolves to the function that gives the place back. Refusal('unavailable') when the queue is full or too slow. */
  enter(signal?: AbortSignal | undefined): Promise<() => void>
}

/** A counting semaphore with a bounded, impatient queue. */
export function createGate({ slots, queue, wait }: GateOptions): Gate {
  let free = slots
  const waiting = new Set<() => void>()

  function leaveOnce() {
    let left = false
    return () => {
      if (left) return
      left = true
      const next = waiting.values().next().value
      if (next) next()
      else free += 1
    }
  }

  function enter(signal?: AbortSignal) {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (free > 0) {
      free -= 1
      return Promise.resolve(leaveOnce())
    }
    if (waiting.size >= queue) return Promise.reject(busy())
    return new Promise<() => void>((resolve, reject) => {
      const stop = (reason: unknown) => {
        settle()
        reject(reason)
      }
      const onAbort = () => stop(signal?.reason)
      const admitted = () => {
        settle()
        resolve(leaveOnce())
      }
      const timer = setTimeout(() => stop(busy()), wait)
      function settle() {
        clearTimeout(timer)
        waiting.delete(admitted)
        signal?.removeEventListener('abort', onAbort)
      }
      waiting.add(admitted)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  return { enter }
}

function busy() {
  return new Refusal('unavailable', 'Too many git operations are under way, try again later.')
}

/** One at a time per key, in the order of arrival. */
export function createLocks() {
  const tails = new Map<string, Promise<unknown>>()

  return async function withLock<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = tails.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    // The tail never rejects: a failure belongs to the one who asked, not to the next in line.
    const tail = mine.then(ignore, ignore)
    tails.set(key, tail)
    try {
      return await mine
    } finally {
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}

function ignore() {}
