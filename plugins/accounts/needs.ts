import { Database } from '#core/db'
import { Identity } from '#core/identity'
import { Config, type Use } from '#core/plugin'
import { Storage } from '#core/storage'

/** What this plugin asks of the host. */
export const accountsNeeds = { db: Database, config: Config, identity: Identity, storage: Storage }
export type AccountsUse = Use<typeof accountsNeeds>
