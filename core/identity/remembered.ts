import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'

const fiveMinutes = 5 * 60_000

/**
 * Remembers for five minutes that a password was right, so that a client that sends Basic with each request costs one
 * slow hash and not hundreds.
 *
 * What is kept is a keyed hash over the account, its *stored hash* and the password; the key lives in this process
 * only. The account's row is read with every request anyway, so a password changed by any process makes the entry
 * unreachable at once, without a message that could be late or lost.
 */
export function createRemembered() {
  const key = randomBytes(32)
  const right = new LRUCache<string, true>({ max: 10_000, ttl: fiveMinutes })
  const underWay = new Map<string, Promise<boolean>>()
  const nameOf = (accountId: number, storedHash: string, password: string) =>
    createHmac('sha256', key).update(`${accountId}\0${storedHash}\0${password}`).digest('base64')

  return {
    /** Answers from memory, or asks `verify` (once for any number of equal questions at the same time). */
    check(accountId: number, storedHash: string, password: string, verify: () => Promise<boolean>): Promise<boolean> {
      const name = nameOf(accountId, storedHash, password)
      if (right.has(name)) return Promise.resolve(true)
      const known = underWay.get(name)
      if (known) return known
      const asked = verify()
        .then((ok) => {
          if (ok) right.set(name, true)
          return ok
        })
        .finally(() => underWay.delete(name))
      underWay.set(name, asked)
      return asked
    },
  }
}
