import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { compare, type Explained, judge, ourRules, type Rules } from './compare.ts'
import { plainSteps } from './plain.ts'
import { type Played, play, type Scenario, type Server } from './play.ts'
import { readRecording } from './recording.ts'

export type Loaded = { readonly name: string; readonly scenario: Scenario; readonly explained: readonly Explained[] }

const folder = join(import.meta.dirname, 'scenarios')

export const scenarioNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -3))
    .sort()

export async function loadScenario(name: string): Promise<Loaded> {
  const { default: scenario, explained = [] } = await import(join(folder, `${name}.ts`))
  return { name, scenario, explained }
}

export type Verdict = { readonly steps: number; readonly complaints: readonly string[] }

/** Plays a scenario on a server of ours and compares it with the reference's recorded answers. */
export async function replay(server: Server, loaded: Loaded, rules: Rules = ourRules): Promise<Verdict> {
  const played = await play(server, loaded.scenario)
  const recorded = readRecording(loaded.name).steps
  const options = played.steps.map((step) => step.options)
  const complaints = judge(compare(plainSteps(played), recorded, options, rules), loaded.explained)
  return { steps: recorded.length, complaints: played.error ? [...complaints, brokeOff(played)] : complaints }
}

/** How a scenario that threw ended. */
export function brokeOff({ error, steps }: Played): string {
  const last = steps.at(-1)
  const text = error instanceof Error ? error.message.slice(0, 400) : String(error)
  return `broke off after ${last ? `${last.what} (${last.status})` : 'nothing'}: ${text}`
}
