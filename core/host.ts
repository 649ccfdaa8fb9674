import { type Booted, boot, switchSettings } from './boot.ts'
import { checksOf } from './checks.ts'
import type { Connected, Host, Role, Running, SwitchState } from './cli/index.ts'
import { type Config, type ConfigInput, coreSections, peek, readSources } from './config/index.ts'
import type { Plugin } from './contract/index.ts'
import { holdServe, migrate, Presenters } from './db/index.ts'
import { type App, createApp, httpConfig, httpFacts } from './http/index.ts'
import { userSchema } from './identity/index.ts'
import { orderPlugins, Refusal, readSwitch, switchOf } from './plugin/index.ts'
import { checkCompat, loadExtraPlugins } from './plugins.ts'
import { Permission, repositorySchema, sweepFolders } from './repos/index.ts'
import { ownersOf, schemasOf, switchKeysOf } from './rooms.ts'
import { apiVersion, version } from './version.ts'

/** A process lets requests and jobs end for so long when it stops, in ms. */
const grace = 2_500

/** The program behind the command line, with the plugins that ship with it. */
export function createHost(shipped: readonly Plugin[]): Host {
  let plugins = shipped

  const start = async (config: Config, role: Role, progress: (line: string) => void): Promise<Running> => {
    const rooms = await boot(config, plugins, progress)
    const undo: (() => unknown)[] = [rooms.close]
    const stop = async () => {
      for (let end = undo.pop(); end; end = undo.pop()) await end()
    }
    try {
      undo.push(await holdFolder(rooms, role))
      const running = await serveRooms(rooms, role, undo)
      return { ...running, plugins: rooms.plugins.status, reload: rooms.reconfigure, stop }
    } catch (error) {
      await stop()
      throw error
    }
  }

  return {
    version,
    async load(input) {
      plugins = orderPlugins([...shipped, ...(await extraPlugins(input, shipped))])
      for (const plugin of plugins) checkCompat(plugin)
      const commands = plugins.flatMap((plugin) => plugin.commands?.({} as never) ?? [])
      return { schemas: schemasOf(plugins), switches: switchKeysOf(plugins), commands }
    },
    serve: start,
    async withHost(config, use) {
      const rooms = await boot(config, plugins, () => {})
      try {
        return await use(connectedTo(rooms))
      } finally {
        await rooms.close()
      }
    },
  }
}

async function extraPlugins(input: ConfigInput, shipped: readonly Plugin[]): Promise<Plugin[]> {
  const listed = peek(readSources(input), 'plugins', 'EXTRA')
  const names = shipped.map(({ name }) => name)
  return listed ? loadExtraPlugins(listed, names) : []
}

/**
 * Makes sure that no other process does everything on the same data folder. Processes of one half may be many: they
 * were started so on purpose.
 */
async function holdFolder({ config, opened }: Booted, role: Role): Promise<() => Promise<void>> {
  if (role !== 'all') return async () => {}
  const { data } = config.paths
  const lock = await holdServe({ url: opened.url, role, dataDir: data })
  if (lock.held) return () => lock.release()
  const who = lock.pid === undefined ? 'another process' : `process ${lock.pid}`
  throw new Refusal(
    'conflict',
    `the data folder ${data} is in use by ${who}; stop it, or choose another with --data DIR`,
  )
}

/** Turns everything on, bottom up; each step leaves behind how to take it back. */
export async function serveRooms(rooms: Booted, role: Role, undo: (() => unknown)[]) {
  const { identity, plugins, settings, work, repos, log } = rooms
  identity.start()
  undo.push(() => identity.stop())
  await plugins.reconcile()
  undo.push(() => plugins.stop())
  undo.push(settings.onChange(() => void plugins.reconcile()))
  const firstRun = await createFirstAdministrator(rooms)
  const recovered = await repos.writes.recover(new Date(Date.now() - 86_400_000), (id, error) =>
    log.error(`repository ${id}: an interrupted write could not be settled; "switchyard doctor" tells more`, error),
  )
  if (recovered > 0) log.info(`settled ${recovered} repositories whose writes were interrupted`)
  const strays = await sweepFolders({ db: rooms.opened.database, folder: rooms.config.paths.repositories })
  if (strays.length > 0) log.info(`removed ${strays.length} folders that no repository has`)
  const url = role === 'work' ? undefined : await listen(rooms, undo)
  await work.start(role)
  undo.push(() => work.stop(grace))
  return { url, firstRun }
}

async function createFirstAdministrator({ identity, opened, config }: Booted) {
  const password = identity.passwords.random()
  const hash = await identity.passwords.accept(password)
  const { DOMAIN: domain } = config.get('server', coreSections.server)
  const admin = await opened.database.tx((tx) => identity.accounts.createFirst(tx, { password: hash, domain }))
  return admin && { name: admin.name, password }
}

/** Builds the HTTP side of the host from what core and plugins declare. */
export async function buildApp(rooms: Booted, validateAnswers = false): Promise<App> {
  const { config, identity, plugins, registry } = rooms
  const server = config.get('server', coreSections.server)
  const facts = httpFacts(
    {
      server: config.get('server', httpConfig.server),
      api: config.get('api', httpConfig.api),
      security: config.get('security', httpConfig.security),
      cors: config.get('cors', httpConfig.cors),
      log: config.get('log', httpConfig.log),
    },
    server.ROOT_URL,
    apiVersion,
  )
  const presenters = registry.find(Presenters)
  const mounted = plugins.plugins.map((plugin) => ({
    plugin,
    door: plugins.gate(plugin.name),
    use: registry.use(plugin.needs ?? {}, plugin.name) as never,
  }))
  return createApp({
    routes: mounted.flatMap(({ plugin, door, use }) =>
      (plugin.routes?.(use) ?? []).map((route) => ({ plugin: plugin.name, route, door, off: switchOf(plugin).off })),
    ),
    raw: mounted.flatMap(({ plugin, door, use }) =>
      (plugin.raw?.(use) ?? []).map((route) => ({ plugin: plugin.name, route, door })),
    ),
    records: [
      userSchema(presenters?.schemas('User')),
      Permission,
      repositorySchema(presenters?.schemas('Repository') ?? {}),
    ],
    keeper: identity,
    service: (token) => {
      const value = registry.find(token)
      if (value === undefined) throw new Refusal('unavailable', `${token.id} is not there right now`)
      return value
    },
    facts,
    log: { level: config.get('log', httpConfig.log).LEVEL, stream: process.stderr },
    requireSigninView: () => config.get('service').REQUIRE_SIGNIN_VIEW === true,
    validateAnswers,
  })
}

async function listen(rooms: Booted, undo: (() => unknown)[]): Promise<string> {
  const { HTTP_ADDR: host, HTTP_PORT: port } = rooms.config.get('server', coreSections.server)
  const app = await buildApp(rooms, process.env.SWITCHYARD_VALIDATE_ANSWERS === '1')
  undo.push(() => {
    const timer = setTimeout(() => app.server.closeAllConnections(), grace)
    return app.close().finally(() => clearTimeout(timer))
  })
  return app.listen({ host, port })
}

/** What commands may do with a host that does not listen. */
function connectedTo(rooms: Booted): Connected {
  const { plugins, settings, config, registry, opened } = rooms
  const stateOf = (plugin: Plugin): SwitchState => {
    const sw = switchOf(plugin)
    const now = readSwitch(sw, switchSettings(config, settings))
    return { section: sw.section, key: sw.key, aliases: sw.aliases ?? [], plugin: plugin.name, ...now }
  }
  const place = (key: string) => {
    const plugin = plugins.plugins.find((known) => switchOf(known).key === key)
    if (!plugin) throw new Refusal('not-found', `no switch is named ${key}`)
    return switchOf(plugin)
  }
  return {
    switches: {
      list: async () => plugins.plugins.map(stateOf),
      set: (key, value) => settings.set(place(key).section, key, String(value)),
      clear: (key) => settings.set(place(key).section, key, null),
    },
    async plugins() {
      await plugins.reconcile()
      const status = plugins.status()
      await plugins.stop()
      return status
    },
    commands: plugins.plugins.flatMap(
      (plugin) => plugin.commands?.(registry.use(plugin.needs ?? {}, plugin.name) as never) ?? [],
    ),
    migrate: () => migrate(opened.url, ownersOf(plugins.plugins)),
    checks: checksOf(rooms),
  }
}
