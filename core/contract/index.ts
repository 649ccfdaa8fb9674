/**
 * The plugin contract: everything that a plugin may declare, on one screen.
 *
 * A plugin has two halves. The still half is this object, read once at boot: routes, tables, listeners, jobs and
 * commands are data. The live half is `start`, run at each turn-on; the host undoes its effects at turn-off.
 */
import type { EntitySchema } from '@mikro-orm/core'
import type { Command } from '../cli/index.ts'
import type { Migration, Presenter } from '../db/index.ts'
import type { RawRoutes, Route } from '../http/index.ts'
import type { ConfigSections, Manifest, Needs, Use } from '../plugin/index.ts'
import type { Job, Listener, Schedule } from '../work/index.ts'

export { apiVersion } from '../version.ts'

export type Plugin<N extends Needs = Needs, C extends ConfigSections = ConfigSections> = Manifest<N, C> & {
  /** Tables that the plugin owns. They stay while it is off. */
  readonly entities?: readonly EntitySchema[]
  /** Append-only; applied in order, on or off. */
  readonly migrations?: readonly Migration[]
  /** REST operations below /api/v1. `use` is alive: read services from it when a request is handled. */
  readonly routes?: (use: Use<N>) => readonly Route[]
  /** Routes outside the REST API, for example git's. */
  readonly raw?: (use: Use<N>) => RawRoutes
  /** Fields that the plugin adds to the records of others, as SQL expressions: no query per row. */
  readonly presents?: readonly Presenter[]
  /** What the plugin does when something happened elsewhere. */
  readonly listeners?: (use: Use<N>) => readonly Listener[]
  /** Work in the background, at least once. */
  readonly jobs?: (use: Use<N>) => readonly Job[]
  readonly schedules?: (use: Use<N>) => readonly Schedule[]
  /** Subcommands of `switchyard`. */
  readonly commands?: (use: Use<N>) => readonly Command[]
}

/** Infers the types of a plugin; does nothing else. */
export function definePlugin<
  const N extends Needs = Record<never, never>,
  const C extends ConfigSections = Record<never, never>,
>(plugin: Plugin<N, C>): Plugin<N, C> {
  return plugin
}
