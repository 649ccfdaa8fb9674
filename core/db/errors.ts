import { Refusal } from '../plugin/index.ts'

type Chained = Error & { code?: string; constraint?: string; detail?: string; previous?: unknown }

/** The error that PostgreSQL or the socket gave, below what the ORM and we wrapped around it. */
function* chainOf(error: unknown): Generator<Chained> {
  for (let at = error; at instanceof Error; at = at.cause ?? (at as Chained).previous) yield at as Chained
}

/** PostgreSQL's five-letter code, or the system's (ECONNREFUSED); undefined for errors of neither. */
export function codeOf(error: unknown): string | undefined {
  for (const { code } of chainOf(error)) if (code) return code
  return undefined
}

/** Name of the constraint that a write broke, so that a service can say it in its own words; undefined for other errors. */
export function violatedConstraint(error: unknown): string | undefined {
  for (const { code, constraint } of chainOf(error)) if (code?.startsWith('23')) return constraint
  return undefined
}

/** A prepared statement met a table that has changed since, which happens while another version migrates. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && /cached plan/.test(String(error))
}

/** The same transaction may succeed when it runs again: deadlocks, serialization failures, stale plans. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error)
  return code === '40001' || code === '40P01' || isStalePlan(error)
}

/** Server going or coming, out of connections, a wait for a lock or an answer that was cut off. */
const outages = new Set(['57P01', '57P02', '57P03', '53300', '55P03', '57014', '25P03', '58000'])
const socketErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
])

function isOutage(error: Error & { code?: string }): boolean {
  const { code } = error
  if (code) return outages.has(code) || code.startsWith('08') || socketErrors.has(code)
  return /^Connection terminated|timeout exceeded when trying to connect|not queryable|pool after calling end/.test(
    error.message,
  )
}

/** Values that no column can hold, however they got past validation. */
const unstorable: Readonly<Record<string, string>> = {
  '22003': 'a number is out of range',
  '22021': 'text may not contain the character U+0000',
  '22P05': 'text may not contain the character U+0000',
  '22P02': 'a value has the wrong form',
  '22007': 'a time has the wrong form',
  '22008': 'a time is out of range',
}

/** Constraints that two changes at once break, where each would have been right alone. A service may say it better. */
function collision({ code, detail = '' }: Chained): Refusal | undefined {
  if (code === '23503' && !/is still referenced/.test(detail)) {
    return new Refusal('not-found', 'something that this belongs to does not exist any more')
  }
  if (code === '23503' || code === '23505')
    return new Refusal('conflict', 'somebody else changed this at the same time')
  return undefined
}

/**
 * What a caller sees of a database that does not answer, of a value that it cannot hold and of changes that collide;
 * other errors as they are.
 */
export function translated(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Refusal) return error
  const { code } = error as Chained
  const refused = code === undefined ? undefined : unstorable[code]
  if (refused) return Object.assign(new Refusal('invalid', refused), { cause: error })
  const collided = collision(error)
  if (collided) return Object.assign(collided, { cause: error })
  if (!isOutage(error)) return error
  return Object.assign(new Refusal('unavailable', 'the database cannot answer right now, try again'), { cause: error })
}
