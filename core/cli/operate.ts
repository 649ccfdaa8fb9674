import { Type } from '@sinclair/typebox'
import { type Config, coerce, suggestion } from '../config/index.ts'
import type { PluginStatus } from '../plugin/index.ts'
import { type Command, CommandError, command, flag, type Io, needed } from './command.ts'
import { askAll, type ProcessStatus } from './control.ts'
import { examine, localChecks } from './doctor.ts'
import { explain } from './errors.ts'
import type { Check, Connected, Host, SwitchState } from './host.ts'
import { table } from './table.ts'

export type OperateOptions = { readonly host: Host; readConfig(): Config }

/** Commands for the operator of a host, whether it runs or not. */
export function operateCommands({ host, readConfig }: OperateOptions): Command[] {
  const connected = <T>(use: (host: Connected) => Promise<T>) => host.withHost(readConfig(), use)
  const change = (key: string, make: (host: Connected, sw: SwitchState) => Promise<string>, io: Io) =>
    connected(async (live) => io.out(await make(live, findSwitch(key, await live.switches.list()))))
  return [
    command({
      name: ['switches', 'list'],
      summary: 'shows every switch, its value and where it comes from',
      run: (_, io) => connected(async (live) => printSwitches(await live.switches.list(), io)),
    }),
    command({
      name: ['switches', 'set'],
      summary: 'turns a switch; a running host follows within 2 seconds',
      arguments: { key: needed('name of the switch'), value: needed('true or false; true turns the feature off') },
      examples: ['switches set DISABLE_STARS true'],
      run({ key, value }, io) {
        const wanted = coerce(Type.Boolean(), value)?.value
        if (typeof wanted !== 'boolean')
          throw new CommandError(`"${value}" is not a value of a switch; allowed: true or false`)
        return change(
          key,
          async (live, sw) => {
            await live.switches.set(sw.key, wanted)
            return `${sw.key} is ${wanted}.`
          },
          io,
        )
      },
    }),
    command({
      name: ['switches', 'clear'],
      summary: 'forgets what "switches set" stored, so that the default holds again',
      arguments: { key: needed('name of the switch') },
      examples: ['switches clear DISABLE_STARS'],
      run: ({ key }, io) =>
        change(
          key,
          async (live, sw) => {
            await live.switches.clear(sw.key)
            return `${sw.key} has its default again.`
          },
          io,
        ),
    }),
    command({
      name: ['plugins'],
      summary: 'shows what is on and off, why, and what each plugin holds',
      options: { brief: flag('without what they hold', { short: 'b' }) },
      run: ({ brief }, io) => printPlugins(readConfig(), connected, brief ?? false, io),
    }),
    command({
      name: ['reload'],
      summary: 'makes running processes read their configuration again, as SIGHUP does',
      run: (_, io) => reload(readConfig(), io),
    }),
    command({
      name: ['migrate'],
      summary: 'brings the database to the state that this version needs; "serve" does so by itself',
      run: (_, io) =>
        connected(async (live) => {
          const applied = await live.migrate()
          for (const name of applied) io.out(`applied ${name}`)
          io.out(applied.length === 0 ? 'Nothing to do.' : `${applied.length} migrations were applied.`)
        }),
    }),
    command({
      name: ['doctor'],
      summary: 'looks for what is wrong; exit status 1 when something is',
      run: (_, io) => doctor(readConfig(), connected, io),
    }),
  ]
}

function findSwitch(name: string, switches: readonly SwitchState[]): SwitchState {
  const wanted = name.toUpperCase()
  const sw = switches.find(({ key, aliases }) => key === wanted || aliases.includes(wanted))
  if (!sw)
    throw new CommandError(
      `no switch is named ${name}${suggestion(
        name,
        switches.map(({ key }) => key),
      )}`,
    )
  if (sw.locked) throw new CommandError(`${sw.key} is declared in ${sw.source}, and only there can it be changed`)
  return sw
}

function printSwitches(switches: readonly SwitchState[], io: Io): void {
  const rows = switches.map((sw) => [
    sw.key,
    String(sw.value),
    sw.locked ? `${sw.source} (locked)` : sw.source,
    `[${sw.section}]`,
    sw.plugin,
  ])
  for (const line of table([['SWITCH', 'VALUE', 'FROM', 'SECTION', 'PLUGIN'], ...rows])) io.out(line)
}

type Connect = <T>(use: (host: Connected) => Promise<T>) => Promise<T>

/** Running processes say what they hold; without any, the database says what would be on. */
async function printPlugins(config: Config, connected: Connect, brief: boolean, io: Io): Promise<void> {
  const told = await askAll<ProcessStatus>(config.paths, 'status')
  if (told.length === 0) {
    const plugins = await connected((live) => live.plugins())
    io.out(`No host runs on ${config.paths.data}. One that starts now would have:`)
    return printStatus(plugins, brief, io)
  }
  for (const { socket, value, error } of told) {
    if (!value) {
      io.err(`A process does not answer at ${socket}: ${error}`)
      continue
    }
    const place = value.url ?? (value.ready ? 'background work' : 'starting')
    io.out(`process ${value.pid} (${value.role}), Switchyard ${value.version}, ${place}`)
    printStatus(value.plugins, brief, io)
  }
}

function printStatus(plugins: readonly PluginStatus[], brief: boolean, io: Io): void {
  const lines = table(plugins.map(({ name, state, why, summary }) => [`  ${name}`, state, why, summary]))
  for (const [index, { effects, running }] of plugins.entries()) {
    io.out(lines[index] as string)
    if (brief) continue
    if (running > 0) io.out(`      ${running} requests or jobs inside`)
    for (const effect of effects) io.out(`      ${effect}`)
  }
}

async function reload(config: Config, io: Io): Promise<void> {
  const told = await askAll<null>(config.paths, 'reload', 30_000)
  if (told.length === 0) throw new CommandError(`no host runs on ${config.paths.data}`)
  const refused = told.flatMap(({ error }) => error ?? [])
  if (refused.length > 0) throw new CommandError(`nothing was changed: ${refused.join('\n')}`)
  io.out(
    told.length === 1
      ? 'The host has read its configuration again.'
      : `${told.length} processes have read their configuration again.`,
  )
}

async function doctor(config: Config, connected: Connect, io: Io): Promise<void> {
  let failed = 0
  const report = async (check: Check) => {
    const { ok, detail, hint } = await examine(check)
    if (!ok) failed++
    io.out(`${ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${detail}${!ok && hint ? ` (${hint})` : ''}`)
  }
  for (const check of localChecks(config)) await report(check)
  try {
    await connected(async (live) => {
      for (const check of live.checks) await report(check)
    })
  } catch (error) {
    failed++
    io.out(`FAIL  host: ${explain(error)}`)
  }
  if (failed > 0) throw new CommandError(failed === 1 ? 'one check failed' : `${failed} checks failed`)
}
