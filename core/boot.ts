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
  service,
} from './plugin/index.ts'
import { createRepos, git, ownerGrant, Repos, type ReposConfig, reposConfig, reposListeners } from './repos/index.ts'
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
  let current = first
  // What the rooms hold is this one object; a reload changes what it answers.
  const config: Config = {
    get: ((section: string, schema?: never) => current.get(section, schema as never)) as Config['get'],
    sourceOf: (section, key) => current.sourceOf(section, key),
    declared: (sw) => current.declared(sw),
    paths: first.paths,
    file: first.file,
  }
  const log = createLog(config)
  const secrets = openSecrets(config)
  const { URL: url, POOL: max } = config.get('database', coreSections.database)
  const opened = await openDatabase({
    ...(url ? { url } : {}),
    dataDir: config.paths.data,
    size: max,
    progress,
    log: (message: string) => log.info(message),
    entities: entitiesOf(shipped),
    owners: ownersOf(shipped),
  })
  closing.push(opened.close)
  const db = opened.database
  const settings = await openSettings(db)
  closing.push(settings.stop)

  const registry = createRegistry()
  const plugins = createPluginHost<Plugin>({
    plugins: shipped,
    registry,
    settings: {
      declared: (sw) => config.declared(sw),
      stored: (sw) => {
        const value = settings.get(sw.section, sw.key)
        return value === undefined ? undefined : value === 'true'
      },
    },
    configOf: (plugin) =>
      Object.fromEntries(
        Object.entries(plugin.config ?? {}).map(([section, schema]) => [section, config.get(section, schema)]),
      ),
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
  const presenters = createPresenters(
    plugins.plugins.flatMap(({ name, presents = [] }) => {
      const gate = plugins.gate(name)
      return presents.map((presenter) => ({ presenter, isOn: () => gate.face() === undefined }))
    }),
  )
  const identity = createIdentity({ db, config, secrets, log, presenters, registry })
  const disk = await openDiskStorage({ root: config.paths.storage, log })
  closing.push(disk.close)
  const processes = git.createGit()
  closing.push(processes.close)
  const repos = createRepos({
    db,
    presenters,
    config: reposSections(config),
    folder: config.paths.repositories,
    git: processes,
    noReplyDomain: identity.noReplyDomain,
  })
  const work = createWork({
    db,
    databaseUrl: opened.url,
    redisUrl: config.get('queue', coreSections.queue).REDIS_URL || undefined,
    log,
  })
  opened.outbox.onPublish(work.heard)

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
  // Listeners that keep data right whatever is switched off are there for as long as the host is.
  for (const listener of reposListeners(repos)) work.addListener(listener)
  for (const plugin of plugins.plugins) {
    const use = registry.use(plugin.needs ?? {}, plugin.name) as never
    for (const listener of plugin.listeners?.(use) ?? []) if (listener.whileOff) work.addListener(listener)
  }

  const reconfigure = async (next: Config) => {
    current = next
    await plugins.reconcile()
  }
  return { config, log, registry, opened, settings, identity, repos, work, plugins, reconfigure }
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
