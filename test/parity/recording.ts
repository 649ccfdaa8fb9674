import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plain } from './plain.ts'
import type { Json } from './play.ts'

/** The reference's answers to one scenario. */
export type Recording = { readonly reference: string; readonly steps: readonly Plain[] }

const fileOf = (name: string) => join(import.meta.dirname, 'recorded', `${name}.json`)

export function readRecording(name: string): Recording {
  return JSON.parse(readFileSync(fileOf(name), 'utf8')) as Recording
}

/** One line per step, so that a difference between two recordings can be read. */
export function writeRecording(name: string, { reference, steps }: Recording): void {
  const lines = steps.map((step) => JSON.stringify(step))
  writeFileSync(fileOf(name), `{"reference":${JSON.stringify(reference)},"steps":[\n${lines.join(',\n')}\n]}\n`)
}

/** What stands for a value that was another one in another play of the same scenario. */
const holes: Readonly<Record<string, string>> = {
  '{sha}': '[0-9a-f]{40}',
  '{digest}': '[0-9a-f]{64}',
  '{hex}': '[0-9a-f]{8,}',
  '{n}': '\\d+',
  '{text}': '[\\s\\S]*',
}
const hole = /\{(?:sha|digest|hex|n|text)\}/

/** Whether a value of ours is what was recorded, holes filled with anything of their kind. */
export function fits(ours: Json | undefined, recorded: Json): boolean {
  if (recorded === '{number}') return typeof ours === 'number'
  if (typeof recorded !== 'string' || typeof ours !== 'string' || !hole.test(recorded)) return ours === recorded
  const parts = recorded.split(/(\{(?:sha|digest|hex|n|text)\})/)
  const source = parts.map((part) => holes[part] ?? part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('')
  return new RegExp(`^${source}$`).test(ours)
}

/**
 * Two plays of a scenario on the reference become one recording: where they differ stands a hole.
 * @throws Error when they differ in shape, as the scenario then depends on chance
 */
export function merge(one: readonly Plain[], two: readonly Plain[]): Plain[] {
  if (one.length !== two.length) throw new Error(`${one.length} steps, then ${two.length}`)
  return one.map((step, i) => {
    const other = two[i] as Plain
    const at = `${step.what}: `
    if (step.status !== other.status) throw new Error(`${at}status ${step.status}, then ${other.status}`)
    return {
      what: mergeText(step.what, other.what),
      status: step.status,
      headers: mergeValue(step.headers, other.headers, `${at}headers`) as Record<string, string>,
      body: mergeValue(step.body, other.body, `${at}body`),
    }
  })
}

function mergeValue(one: Json | undefined, two: Json | undefined, at: string): Json {
  if (typeof one === 'string' && typeof two === 'string') return mergeText(one, two)
  if (typeof one === 'number' && typeof two === 'number') return one === two ? one : '{number}'
  if (Array.isArray(one) && Array.isArray(two) && one.length === two.length) {
    return one.map((item, i) => mergeValue(item, two[i], `${at}[${i}]`))
  }
  if (isRecord(one) && isRecord(two) && Object.keys(one).join() === Object.keys(two).join()) {
    return Object.fromEntries(
      Object.entries(one).map(([key, value]) => [key, mergeValue(value, two[key], `${at}.${key}`)]),
    )
  }
  if (one === two && one !== undefined) return one
  throw new Error(`${at}: ${JSON.stringify(one)}, then ${JSON.stringify(two)}`)
}

const isRecord = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** From the strictest hole to the loosest, and only where the two differ. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{64}/g, '{digest}'],
  [/[0-9a-f]{40}/g, '{sha}'],
  [/\b[0-9a-f]{8,}\b/g, '{hex}'],
  [/\d+/g, '{n}'],
]

function mergeText(one: string, two: string): string {
  if (one === two) return one
  let [a, b] = [one, two]
  for (const [pattern, mask] of masks) {
    const found = b.match(pattern) ?? []
    let i = 0
    const before = a.match(pattern) ?? []
    if (before.length !== found.length) continue
    a = a.replace(pattern, (text) => (text === found[i++] ? text : mask))
    i = 0
    b = b.replace(pattern, (text) => (text === before[i++] ? text : mask))
    if (a === b) return a
  }
  return '{text}'
}
