import { exampleConfig, readConfig } from '../config/index.ts'
import { type Command, CommandError, command, type Io, text } from './command.ts'
import { exitCodeOf, explain } from './errors.ts'
import type { Host, Loaded } from './host.ts'
import { operateCommands } from './operate.ts'
import { serve } from './serve.ts'
import { isReported, readGlobals, runCommand } from './tree.ts'

/** Runs one command line (without program and file name) and answers the exit status. Nothing is thrown. */
export async function run(
  argv: readonly string[],
  host: Host,
  io: Io,
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  let verbose = argv.includes('--verbose')
  try {
    const globals = readGlobals(argv, io)
    verbose = globals.verbose ?? false
    const input = { file: globals.config, data: globals.data, http: globals.http, env }
    const loaded = await host.load(input)
    const read = () => readConfig({ ...input, schemas: loaded.schemas, switches: loaded.switches })
    await runCommand(argv.length === 0 ? ['--help'] : argv, commandsOf(host, loaded, read, io), host.version, io)
    return 0
  } catch (error) {
    if (!isReported(error)) {
      io.err(`Command error: ${explain(error)}`)
      if (verbose && error instanceof Error && error.stack) io.err(error.stack)
    }
    return exitCodeOf(error)
  }
}

function commandsOf(host: Host, loaded: Loaded, read: () => ReturnType<typeof readConfig>, io: Io): Command[] {
  return [
    command({
      name: ['serve'],
      summary: 'runs the host until it is stopped',
      options: { only: text('runs only one half: requests, or background work', { choices: ['web', 'work'] }) },
      examples: ['serve', 'serve --data /srv/switchyard --http 0.0.0.0:3000', 'serve --only work'],
      run: ({ only }) => serve({ host, role: (only as 'web' | 'work' | undefined) ?? 'all', io, readConfig: read }),
    }),
    ...operateCommands({ host, readConfig: read }),
    command({
      name: ['config'],
      summary: 'prints every setting with its default and meaning, as a file to start from',
      examples: ['config > app.ini'],
      run: (_, io) => io.out(exampleConfig(loaded.schemas, loaded.switches).trimEnd()),
    }),
    ...loaded.commands.map((declared) => ({
      ...declared,
      run: (input: never, io: Io) => runLive(host, declared, input, io, read),
    })),
  ]
}

/** Runs a command of a plugin with a connected host behind it. */
function runLive(
  host: Host,
  declared: Command,
  input: never,
  io: Io,
  read: () => ReturnType<typeof readConfig>,
): Promise<void> {
  const name = declared.name.join(' ')
  return host.withHost(read(), async ({ commands }) => {
    const live = commands.find((one) => one.name.join(' ') === name)
    if (!live) throw new CommandError(`"${name}" belongs to a plugin that is off; "switchyard plugins" says why`)
    await live.run(input, io)
  })
}
