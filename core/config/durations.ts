import { FormatRegistry, Type } from '@sinclair/typebox'

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}

/**
 * Reads `10m`, `8h0m0s`, `1.5h`; a bare number counts seconds. Answers milliseconds.
 * Throws a RangeError for anything else.
 */
export function duration(text: string): number {
  const trimmed = text.trim()
  if (/^\d+$/.test(trimmed)) return Number(trimmed) * 1_000
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(trimmed))
    throw new RangeError(`"${text}" is not a duration such as 10m or 8h0m0s`)
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(amount) * (units[unit as string] as number)
  }
  return total
}

/** Whether `duration` can read the text. */
export function isDuration(text: string): boolean {
  try {
    duration(text)
    return true
  } catch {
    return false
  }
}

FormatRegistry.Set('duration', isDuration)

/** The schema of a duration. Its value stays text; `duration` turns it into milliseconds. */
export const Duration = (byDefault: string, description: string) =>
  Type.String({ format: 'duration', default: byDefault, description })
