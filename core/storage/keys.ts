import { Refusal } from '../plugin/index.ts'

const allowed = /^[a-z0-9][a-z0-9/._-]*$/

/** Throws a Refusal (invalid) unless `key` may name an object. */
export function checkKey(key: string): void {
  const parts = key.split('/')
  const good =
    allowed.test(key) &&
    key.length <= 1024 &&
    parts.every((part) => part !== '' && part !== '.' && !part.includes('..') && part.length <= 255)
  if (!good) throw new Refusal('invalid', `not a storage key: ${JSON.stringify(key.slice(0, 100))}`)
}

/** Throws a Refusal (invalid) unless `prefix` is a key with a slash behind it. */
export function checkPrefix(prefix: string): void {
  if (!prefix.endsWith('/'))
    throw new Refusal('invalid', `a storage prefix ends with "/": ${JSON.stringify(prefix.slice(0, 100))}`)
  checkKey(prefix.slice(0, -1))
}
