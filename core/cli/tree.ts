import {
  Command as Commander,
  CommanderError,
  Option as CommanderOption,
  InvalidArgumentError,
  type OutputConfiguration,
} from 'commander'
import { type Command, CommandError, type Io, type Option } from './command.ts'

const program = 'switchyard'

/** Options that every command takes, before or after its name. */
export type Globals = {
  readonly config?: string
  readonly data?: string
  readonly http?: string
  readonly verbose?: boolean
}

/** Reads the global options wherever they stand; everything else is left for the commands. */
export function readGlobals(argv: readonly string[], io: Io): Globals {
  const root = withGlobals(new Commander(program)).exitOverride().configureOutput(writersFor(io))
  root.parseOptions([...argv])
  return root.opts()
}

const writersFor = (io: Io): OutputConfiguration => ({
  writeOut: (text) => io.out(text.trimEnd()),
  writeErr: (text) => io.err(text.trimEnd()),
  outputError: (text, write) => write(text.replace(/^error: /, 'Command error: ')),
})

function withGlobals(root: Commander): Commander {
  return root
    .option('--config <file>', 'settings to read (default: app.ini in the data folder)')
    .option('--data <dir>', 'folder of everything that the host keeps (default: ./data)')
    .option('--http <addr:port>', 'where to listen (default: 127.0.0.1:3000)')
    .option('--verbose', 'show where in the program an error arose')
}

/** Finds the command that the words name and runs it with its options. Throws what it throws, and CommanderError. */
export async function runCommand(
  argv: readonly string[],
  commands: readonly Command[],
  version: string,
  io: Io,
): Promise<void> {
  const root = withGlobals(new Commander(program))
    .version(`${program} ${version}`, '-v, --version', 'shows the version')
    .helpOption('-h, --help', 'shows this help')
    .helpCommand('help [command]', 'shows how a command is used')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(writersFor(io))
    .showHelpAfterError(`"${program} --help" shows how it is used.`)
    .addHelpText(
      'after',
      `\nExamples:\n  ${program} serve\n  ${program} serve --data /srv/switchyard --http 0.0.0.0:3000\n  ${program} switches set DISABLE_STARS true\n  ${program} admin user create --help`,
    )
  for (const command of commands) addCommand(root, command, io)
  nameGroups(root)
  await root.parseAsync([...argv], { from: 'user' })
}

/** Adds a command below the groups that its name passes through; missing groups are made. */
function addCommand(root: Commander, declared: Command, io: Io): void {
  const words = [...declared.name]
  const last = words.pop()
  if (!last) throw new Error('a command without a name')
  const group = words.reduce((parent, word) => child(parent, word) ?? parent.command(word), root)
  if (child(group, last)) throw new Error(`two commands are named ${declared.name.join(' ')}`)
  const leaf = group.command(last).description(declared.summary)
  const options = Object.entries(declared.options ?? {})
  for (const [key, option] of options) for (const spelled of spell(key, option)) leaf.addOption(spelled)
  const names = Object.entries(declared.arguments ?? {})
  for (const [name, { kind, summary }] of names) {
    leaf.argument(kind === 'needed' ? `<${name}>` : kind === 'rest' ? `[${name}...]` : `[${name}]`, summary)
  }
  if (declared.examples) {
    leaf.addHelpText('after', `\nExamples:\n${declared.examples.map((line) => `  ${program} ${line}`).join('\n')}`)
  }
  const parseOptions = leaf.parseOptions.bind(leaf)
  leaf.parseOptions = (args) => parseOptions(respell(args, options))
  leaf.action(async () => {
    const given = names.map(([name], index) => [name, leaf.processedArgs[index]])
    await declared.run({ ...leaf.opts<Record<string, unknown>>(), ...Object.fromEntries(given) } as never, io)
  })
}

const child = (parent: Commander, word: string) => parent.commands.find((known) => known.name() === word)

/** A group is described by what it holds. */
function nameGroups(parent: Commander): void {
  for (const group of parent.commands) {
    if (group.commands.length === 0) continue
    nameGroups(group)
    group.description(group.commands.map((known) => known.name()).join(', '))
  }
}

const hyphens = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function spell(key: string, option: Option): CommanderOption[] {
  const name = hyphens(key)
  const short = option.short ? `-${option.short}, ` : ''
  if (option.kind === 'flag') {
    const yes = new CommanderOption(`${short}--${name}`, option.summary)
    // Without a default of its own commander would read a lone --no-name as "true unless given".
    yes.default(option.default)
    return [yes, new CommanderOption(`--no-${name}`).hideHelp()]
  }
  const value = option.choices?.join('|') ?? option.kind
  const spelled = new CommanderOption(`${short}--${name} <${value}>`, option.summary)
  if (option.required) spelled.makeOptionMandatory()
  if (option.default !== undefined) spelled.default(option.default)
  if (option.choices) spelled.choices(option.choices)
  if (option.kind === 'number') spelled.argParser(wholeNumber)
  return [spelled]
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.')
  return Number(text)
}

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
}

/** Writes aliases and `--flag=false` in the one form that commander knows. */
function respell(args: readonly string[], options: readonly (readonly [string, Option])[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, index) => {
    if (!arg.startsWith('--') || (end >= 0 && index >= end)) return arg
    const equals = arg.indexOf('=')
    const given = arg.slice(2, equals < 0 ? undefined : equals)
    const found = options.find(([key, option]) => hyphens(key) === given || option.aliases?.includes(given))
    if (!found) return arg
    const [key, option] = found
    const name = hyphens(key)
    if (equals < 0) return `--${name}`
    if (option.kind !== 'flag') return `--${name}${arg.slice(equals)}`
    const value = truths[arg.slice(equals + 1).toLowerCase()]
    if (value === undefined) throw new CommandError(`--${name} takes true or false`)
    return value ? `--${name}` : `--no-${name}`
  })
}

/** Whether commander has told the operator already, for example by printing help. */
export function isReported(error: unknown): boolean {
  return error instanceof CommanderError
}
