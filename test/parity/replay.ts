/**
 * Compares a running host with the recorded answers: node test/parity/replay.ts --url http://127.0.0.1:3000 [scenario…]
 * Option: --admin login:password (admin:admin-pw)
 */
import { parseArgs } from 'node:util'
import { loadScenario, replay, scenarioNames } from './scenarios.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { url: { type: 'string' }, admin: { type: 'string', default: 'admin:admin-pw' } },
})
if (!values.url) throw new Error('say which host: --url http://…')
const [login = '', password = ''] = values.admin.split(':')

for (const name of positionals.length > 0 ? positionals : scenarioNames()) {
  const { steps, complaints } = await replay({ base: values.url, admin: { login, password } }, await loadScenario(name))
  console.log(`${name}: ${steps} steps, ${complaints.length} differences`)
  for (const line of complaints) console.log(`  ${line}`)
  if (complaints.length > 0) process.exitCode = 1
}
