import { Refusal } from '../plugin/index.ts'

/**
 * Lets a few pieces of heavy work run at once; the rest waits its turn.
 *
 * @throws Refusal unavailable when too many wait already
 */
export function createTurns({ atOnce, waiting }: { atOnce: number; waiting: number }) {
  const queue: (() => void)[] = []
  let running = 0
  /** Hands the place to the next in line, so that nobody who comes meanwhile takes it. */
  const leave = () => {
    const turn = queue.shift()
    if (turn) turn()
    else running--
  }
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw new Refusal('unavailable', 'too many passwords are being checked, try again')
      await new Promise<void>((turn) => queue.push(turn))
    } else running++
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
