import { type Config, coreSections, openSecrets, type Secrets } from './config/index.ts'
import type { Plugin } from './contract/index.ts'
import {
  createPresenters,
  Database,
  type OpenDatabase,
  openDatabase,
  openSettings,
  Presenters,
  type Settings,
} from './db/index.ts'
import { AccountGrants, createIdentity, Identity } from './identity/index.ts'
import { createLog, type Log } from './log.ts'
import {
  Config as ConfigToken,
  createPluginHost,
  createRegistry,
  createSwitches,
  type PluginHost,
  type Registry,
  Switches,
  type SwitchSettings,
  service,
} from './plugin/index.ts'
import {
  createRepos,
  git,
  ownerGrant,
  Repos,
  type ReposConfig,
  reposConfig,
  reposListeners,
  type UpkeepParts,
  upkeepJobs,
  upkeepListeners,
  upkeepSchedules,
} from './repos/index.ts'
import { entitiesOf, ownersOf } from './rooms.ts'
import { openDiskStorage, Storage } from './storage/index.ts'
import { createWork, Jobs, type Work } from './work/index.ts'

/** Secrets of the host: sealing what is stored, signing what leaves. */
export const SecretsToken = service<Secrets>('config.secrets')

/** All rooms, open and connected, without plugins turned on and without listening. */
export type Booted = {
  readonly config: Config
  readonly log: Log
  readonly registry: Registry
  readonly opened: OpenDatabase
  readonly settings: Settings
  readonly identity: Identity
  readonly repos: Repos
  readonly work: Work
  readonly plugins: PluginHost<Plugin>
  /** Another configuration for all that reads it at use. */
  reconfigure(next: Config): Promise<void>
  close(): Promise<void>
}

/** Opens the rooms from the bottom up. What was opened is closed again when a later one fails. */
export async function boot(
  config: Config,
  shipped: readonly Plugin[],
  progress: (line: string) => void,
): Promise<Booted> {
  const closing: (() => unknown)[] = []
  const close = async () => {
    for (let end = closing.pop(); end; end = closing.pop()) await end()
  }
  try {
    return { ...(await openRooms(config, shipped, progress, closing)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function openRooms(
  first: Config,
  shipped: readonly Plugin[],
  progress: (line: string) => void,
  closing: (() => unknown)[],
) {
  const { config, reconfigure } = followReloads(first)
  const log = createLog(config)
  const secrets = openSecrets(config)
  const opened = await openRecord(config, shipped, log, progress)
  closing.push(opened.close)
  const db = opened.database
  const settings = await openSettings(db)
  closing.push(settings.stop)
  const disk = await openDiskStorage({ root: config.paths.storage, log })
  closing.push(disk.close)
  const processes = git.createGit()
  closing.push(processes.close)

  const registry = createRegistry()
  const work = createWork({
    db,
    databaseUrl: opened.url,
    redisUrl: config.get('queue', coreSections.queue).REDIS_URL || undefined,
    log,
  })
  opened.outbox.onPublish(work.heard)
  const plugins = pluginHost({ shipped, registry, config, settings, work, log })
  const presenters = presentersOf(plugins)
  const identity = createIdentity({ db, config, secrets, log, presenters, registry })
  const repos = createRepos({
    db,
    presenters,
    config: reposSections(config),
    folder: config.paths.repositories,
    git: processes,
    noReplyDomain: identity.noReplyDomain,
  })

  registry.provide(ConfigToken, config)
  registry.provide(SecretsToken, secrets)
  registry.provide(Switches, createSwitches(plugins))
  registry.provide(Database, db)
  registry.provide(Presenters, presenters)
  registry.provide(Identity, identity)
  registry.provide(Storage, disk.storage)
  registry.provide(Repos, repos)
  registry.provide(Jobs, work.jobs)
  registry.contribute(AccountGrants, ownerGrant)
  addStandingListeners(registry, plugins, work, repos)
  addUpkeep(work, { db, repos, jobs: work.jobs, folder: config.paths.repositories })
  return {
    config,
    log,
    registry,
    opened,
    settings,
    identity,
    repos,
    work,
    plugins,
    reconfigure: async (next: Config) => {
      reconfigure(next)
      await plugins.reconcile()
    },
  }
}

/** One object for all that reads the configuration; a reload changes what it answers. */
function followReloads(first: Config) {
  let current = first
  const config: Config = {
    get: ((section: string, schema?: never) => current.get(section, schema as never)) as Config['get'],
    sourceOf: (section, key) => current.sourceOf(section, key),
    declared: (sw) => current.declared(sw),
    paths: first.paths,
    file: first.file,
  }
  const reconfigure = (next: Config) => {
    current = next
  }
  return { config, reconfigure }
}

function openRecord(config: Config, shipped: readonly Plugin[], log: Log, progress: (line: string) => void) {
  const { URL: url, POOL: size } = config.get('database', coreSections.database)
  return openDatabase({
    ...(url ? { url } : {}),
    dataDir: config.paths.data,
    size,
    progress,
    log: (message: string) => log.info(message),
    entities: entitiesOf(shipped),
    owners: ownersOf(shipped),
  })
}

type HostParts = {
  readonly shipped: readonly Plugin[]
  readonly registry: Registry
  readonly config: Config
  readonly settings: Settings
  readonly work: Work
  readonly log: Log
}

/** The plugin engine, with what the rooms do for a plugin that is turned on. */
function pluginHost({ shipped, registry, config, settings, work, log }: HostParts): PluginHost<Plugin> {
  return createPluginHost<Plugin>({
    plugins: shipped,
    registry,
    settings: switchSettings(config, settings),
    configOf: ({ config: sections = {} }) =>
      Object.fromEntries(Object.entries(sections).map(([name, schema]) => [name, config.get(name, schema)])),
    activate: (plugin, scope) => {
      const use = scope.use as never
      for (const listener of plugin.listeners?.(use) ?? []) {
        if (!listener.whileOff) scope.effect(`listener ${listener.name}`, work.addListener(listener))
      }
      for (const job of plugin.jobs?.(use) ?? []) scope.effect(`job ${job.name}`, work.addJob(job))
      for (const schedule of plugin.schedules?.(use) ?? []) {
        scope.effect(`schedule ${schedule.name}`, work.addSchedule(schedule))
      }
    },
    log,
  })
}

/** What operators say of switches: by file and environment, and while the host runs. */
export function switchSettings(config: Config, settings: Settings): SwitchSettings {
  return {
    declared: (sw) => config.declared(sw),
    stored({ section, key }) {
      const value = settings.get(section, key)
      return value === undefined ? undefined : value === 'true'
    },
  }
}

function presentersOf({ plugins, gate }: PluginHost<Plugin>): Presenters {
  return createPresenters(
    plugins.flatMap(({ name, presents = [] }) => {
      const door = gate(name)
      return presents.map((presenter) => ({ presenter, isOn: () => door.face() === undefined }))
    }),
  )
}

/** Listeners that keep data right whatever is switched off are there for as long as the host is. */
function addStandingListeners(registry: Registry, { plugins }: PluginHost<Plugin>, work: Work, repos: Repos): void {
  for (const listener of reposListeners(repos)) work.addListener(listener)
  for (const plugin of plugins) {
    const use = registry.use(plugin.needs ?? {}, plugin.name) as never
    for (const listener of plugin.listeners?.(use) ?? []) if (listener.whileOff) work.addListener(listener)
  }
}

/** What keeps repositories on disk in shape. */
function addUpkeep(work: Work, parts: UpkeepParts): void {
  for (const listener of upkeepListeners(parts)) work.addListener(listener)
  for (const job of upkeepJobs(parts)) work.addJob(job)
  for (const schedule of upkeepSchedules(parts)) work.addSchedule(schedule)
}

/** The sections that core/repos reads, as one object. */
function reposSections(config: Config): ReposConfig & { server: { DOMAIN: string; ROOT_URL: string } } {
  const { DOMAIN, ROOT_URL } = config.get('server', coreSections.server)
  return {
    repository: config.get('repository', reposConfig.repository),
    'repository.pull-request': config.get('repository.pull-request', reposConfig['repository.pull-request']),
    service: config.get('service', reposConfig.service),
    server: { ...config.get('server', reposConfig.server), DOMAIN, ROOT_URL },
  }
}
