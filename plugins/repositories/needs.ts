import { Database } from '#core/db'
import { Identity } from '#core/identity'
import { Config, maybe, type Use } from '#core/plugin'
import { Repos } from '#core/repos'
import { Storage } from '#core/storage'
import { Templates } from '#plugins/templates'
import { SearchTerms } from './api.ts'

/** What this plugin asks of the host and of others. */
export const repositoriesNeeds = {
  db: Database,
  config: Config,
  identity: Identity,
  repos: Repos,
  storage: Storage,
  templates: maybe(Templates),
  searchTerms: SearchTerms,
}
export type RepositoriesUse = Use<typeof repositoriesNeeds>
