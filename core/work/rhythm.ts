import { duration } from '../config/index.ts'
import type { Rhythm } from './declare.ts'

const names: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

/**
 * Reads what operators write for a schedule: `@every 72h`, `@midnight`, or five or six cron fields.
 * @throws RangeError for anything else
 */
export function rhythmOf(text: string): Rhythm {
  const trimmed = text.trim()
  const every = /^@every\s+(\S+)$/.exec(trimmed)?.[1]
  if (every !== undefined) {
    const ms = duration(every)
    if (ms < 1000) throw new RangeError(`"${text}" is more often than every second`)
    return { every: ms }
  }
  const cron = names[trimmed] ?? trimmed
  if (!/^([\w*/,?#-]+\s+){4,5}[\w*/,?#-]+$/.test(cron))
    throw new RangeError(`"${text}" is no schedule such as "@every 72h" or "0 3 * * *"`)
  return { cron }
}
