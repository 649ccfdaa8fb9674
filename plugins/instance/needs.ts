import { Database } from '#core/db'
import { Config, Switches, type Use } from '#core/plugin'

/** What this plugin asks of the host. */
export const instanceNeeds = { db: Database, config: Config, switches: Switches }
export type InstanceUse = Use<typeof instanceNeeds>
