/** Where this room reports. `Log` of the host fits. */
export type WorkLog = {
  error(message: string, error: unknown): void
}

const longestPause = 3_600_000

/** Pause in ms after a failed attempt: three times the one before, up to an hour, give or take a tenth. */
export function pauseAfter(attempt: number, backoff: number): number {
  const pause = Math.min(backoff * 3 ** (attempt - 1), longestPause)
  return Math.round(pause * (0.9 + Math.random() * 0.2))
}

/** What is kept of an error: enough to find it, not whole pages. */
export function textOf(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 2000)
}
