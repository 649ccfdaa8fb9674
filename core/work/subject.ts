/**
 * What an event is about, read from its payload: the first of these fields that is there. While an event fails, later
 * events of the same subject wait for it, so that nobody hears of a comment before its issue; all others go on.
 * An event without any of them shares the subject ''.
 */
const fields = ['subject', 'repositoryId', 'accountId'] as const

/** The subject of a payload, at most 255 characters. */
export function subjectOf(payload: unknown): string {
  if (typeof payload !== 'object' || payload === null) return ''
  for (const field of fields) {
    const value = (payload as Record<string, unknown>)[field]
    if (typeof value === 'number' || typeof value === 'string')
      return `${field.replace(/Id$/, '')}:${value}`.slice(0, 255)
  }
  return ''
}
