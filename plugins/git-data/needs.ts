import { Database } from '#core/db'
import { Identity } from '#core/identity'
import { Config, maybe, type Use } from '#core/plugin'
import { RefRules, Repos } from '#core/repos'
import { Jobs } from '#core/work'
import { Templates } from '#plugins/templates'
import { TagHolders } from './api.ts'

/** What this plugin asks of the host and of others. */
export const gitDataNeeds = {
  db: Database,
  config: Config,
  identity: Identity,
  repos: Repos,
  rules: RefRules,
  jobs: Jobs,
  templates: maybe(Templates),
  holders: TagHolders,
}
export type GitDataUse = Use<typeof gitDataNeeds>
