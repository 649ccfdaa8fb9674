import { LRUCache } from 'lru-cache'

/** Texts seen so often are worth a plan that the server keeps. */
const worthwhile = 4
/** Each costs memory in every connection's server process. */
const mostNames = 250

/**
 * Decides which statements the server prepares: those whose text comes again and again. Reading one row by its id
 * takes half the time then, for the server parses and plans it once per connection.
 */
export type Prepared = {
  /** The name under which to send a statement; undefined: as it is. */
  nameOf(text: string): string | undefined
  /** Never names this text again: its tables changed under the plans. */
  ban(text: string): void
}

export function createPrepared(): Prepared {
  const seen = new LRUCache<string, number>({ max: 2000 })
  const names = new Map<string, string | undefined>()
  let last = 0
  return {
    nameOf(text) {
      if (names.has(text)) return names.get(text)
      if (names.size >= mostNames) return undefined
      const times = (seen.get(text) ?? 0) + 1
      seen.set(text, times)
      if (times < worthwhile) return undefined
      seen.delete(text)
      const name = `s${++last}`
      names.set(text, name)
      return name
    },
    ban: (text) => void names.set(text, undefined),
  }
}
