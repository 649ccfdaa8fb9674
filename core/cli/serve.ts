import type { Config } from '../config/index.ts'
import type { Io } from './command.ts'
import { openControl } from './control.ts'
import { explain } from './errors.ts'
import type { Host, Role, Running } from './host.ts'

/** Longest time that stopping may take before the process ends anyway, in ms. */
const patience = 4_500
/** npm passes on the Ctrl-C that the terminal has already sent to every process of the group, in ms. */
const sameKeyPress = 500

export type ServeOptions = {
  readonly host: Host
  readonly role: Role
  readonly io: Io
  /** Reads the configuration again; throws ConfigErrors. */
  readConfig(): Config
}

/** Runs the host until a signal ends it. Throws when it cannot start. */
export async function serve(options: ServeOptions): Promise<void> {
  const signals = hearSignals(options.io)
  try {
    await serveUntilEnd(options, signals)
  } finally {
    signals.close()
  }
}

async function serveUntilEnd({ host, role, io, readConfig }: ServeOptions, signals: Signals): Promise<void> {
  const config = readConfig()
  let running: Running | undefined
  const reload = async () => {
    if (!running) throw new Error('the host is still starting')
    await running.reload(readConfig())
    io.out('The configuration was read again.')
  }
  const control = await openControl(config.paths, role, {
    reload,
    status: () => ({
      pid: process.pid,
      role,
      version: host.version,
      url: running?.url,
      ready: running !== undefined,
      plugins: running?.plugins() ?? [],
    }),
  })
  try {
    running = await host.serve(config, role, (line) => io.out(line))
    signals.onKill(() => running?.kill?.())
    signals.onHangup(() => void reload().catch((error) => io.err(`Nothing was changed: ${explain(error)}`)))
    announce(running, host.version, config, io)
    await signals.ended
    await running.stop()
    io.out('Stopped.')
  } finally {
    await control.close()
  }
}

type Signals = ReturnType<typeof hearSignals>

function announce({ url, firstRun }: Running, version: string, config: Config, io: Io): void {
  if (firstRun) {
    io.out('')
    io.out(`  This host is new: ${url ?? config.get('server').ROOT_URL}`)
    io.out(`  Its administrator is ${firstRun.name} with the password ${firstRun.password} (not shown again)`)
    io.out('')
  }
  io.out(url ? `Switchyard ${version} listening on ${url}` : `Switchyard ${version} working in the background`)
}

/**
 * SIGINT and SIGTERM ask for the end, a second one ends the process at once; so does a stop that takes too long.
 * Heard from the very start, so that Ctrl-C while the database is made also ends in order.
 */
function hearSignals(io: Io) {
  let first: number | undefined
  let hangup = () => {}
  let kill: () => void = () => {}
  let timer: NodeJS.Timeout | undefined
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const now = (text: string) => {
    io.err(text)
    kill()
    process.exit(1)
  }
  const onEnd = () => {
    if (first !== undefined) {
      if (performance.now() - first > sameKeyPress) now('Stopped at once.')
      return
    }
    first = performance.now()
    io.out('Stopping …')
    timer = setTimeout(() => now(`It did not stop within ${patience / 1000} s and is ended.`), patience)
    resolve()
  }
  const onHangup = () => hangup()
  process.on('SIGINT', onEnd).on('SIGTERM', onEnd).on('SIGHUP', onHangup)
  return {
    ended,
    onHangup: (act: () => void) => {
      hangup = act
    },
    onKill: (act: () => void) => {
      kill = act
    },
    close() {
      clearTimeout(timer)
      process.off('SIGINT', onEnd).off('SIGTERM', onEnd).off('SIGHUP', onHangup)
    },
  }
}
