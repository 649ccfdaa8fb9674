/**
 * Asks a reference server and keeps its answers: node test/parity/record.ts --ref http://127.0.0.1:3300 [scenario…]
 * Every scenario is played twice, so that what differs by chance is told from what is an answer, and then replayed.
 * Option: --admin login:password (admin:admin-pw)
 */
import { parseArgs } from 'node:util'
import { plainSteps } from './plain.ts'
import { type Played, play, type Server } from './play.ts'
import { merge, writeRecording } from './recording.ts'
import { brokeOff, type Loaded, loadScenario, replay, scenarioNames } from './scenarios.ts'

async function playWhole(server: Server, { scenario }: Loaded): Promise<Played> {
  const played = await play(server, scenario)
  if (played.error) throw new Error(brokeOff(played))
  return played
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { ref: { type: 'string' }, admin: { type: 'string', default: 'admin:admin-pw' } },
})
if (!values.ref) throw new Error('say which server: --ref http://…')
const [login = '', password = ''] = values.admin.split(':')
const server: Server = { base: values.ref, admin: { login, password } }
const { version } = (await (await fetch(`${values.ref}/api/v1/version`)).json()) as { version: string }

for (const name of positionals.length > 0 ? positionals : scenarioNames()) {
  try {
    const loaded = await loadScenario(name)
    const [one, two] = [await playWhole(server, loaded), await playWhole(server, loaded)]
    writeRecording(name, { reference: version, steps: merge(plainSteps(one), plainSteps(two)) })
    const { steps, complaints } = await replay(server, { ...loaded, explained: [] }, { errors: false })
    console.log(`${name}: ${steps} steps recorded`)
    for (const line of complaints) console.log(`  not the same the next time: ${line}`)
    if (complaints.length > 0) process.exitCode = 1
  } catch (error) {
    console.log(`${name}: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}
