import { Database } from '#core/db'
import { Identity } from '#core/identity'
import { Config } from '#core/plugin'
import { Repos } from '#core/repos'

/** What this plugin asks of the host. */
export const watchNeeds = { db: Database, repos: Repos, identity: Identity, config: Config }
