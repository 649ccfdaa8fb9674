/** What the rooms themselves declare: tables, migrations and keys of app.ini. Plugins add theirs. */
import type { EntitySchema } from '@mikro-orm/core'
import type { SectionSchemas, SwitchKey } from './config/index.ts'
import type { Plugin } from './contract/index.ts'
import { dbEntities, dbMigrations, type Owner } from './db/index.ts'
import { httpConfig } from './http/index.ts'
import { identityConfig, identityEntities, identityMigrations } from './identity/index.ts'
import { switchOf } from './plugin/index.ts'
import { pluginsConfig } from './plugins.ts'
import { reposConfig, reposEntities, reposMigrations } from './repos/index.ts'
import { storageConfig } from './storage/index.ts'
import { workEntities, workMigrations } from './work/index.ts'

/** All entities of the host. */
export function entitiesOf(plugins: readonly Plugin[]): EntitySchema[] {
  const rooms = [...dbEntities, ...identityEntities, ...reposEntities, ...workEntities]
  return [...rooms, ...plugins.flatMap((plugin) => plugin.entities ?? [])] as unknown as EntitySchema[]
}

/** All migrations, in the order in which they are applied: rooms first, plugins after what they need. */
export function ownersOf(plugins: readonly Plugin[]): Owner[] {
  return [
    dbMigrations,
    { owner: 'identity', migrations: identityMigrations },
    { owner: 'repos', migrations: reposMigrations },
    workMigrations,
    ...plugins.map(({ name, migrations = [] }) => ({ owner: name, migrations })),
  ]
}

/** Sections of app.ini by owner. */
export function schemasOf(plugins: readonly Plugin[]): SectionSchemas[] {
  const ours: SectionSchemas[] = [identityConfig, reposConfig, storageConfig, httpConfig, pluginsConfig]
  return [...ours, ...plugins.map((plugin) => (plugin.config ?? {}) as SectionSchemas)]
}

/** The switches of all plugins. */
export function switchKeysOf(plugins: readonly Plugin[]): SwitchKey[] {
  return plugins.map((plugin) => {
    const { section, key, aliases = [] } = switchOf(plugin)
    return { section, key, aliases, description: `True turns the plugin ${plugin.name} off: ${plugin.summary}` }
  })
}
