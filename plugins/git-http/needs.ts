import { Identity } from '#core/identity'
import { Config, type Use } from '#core/plugin'
import { RefRules, Repos } from '#core/repos'

/** What this plugin asks of the host. */
export const gitHttpNeeds = { identity: Identity, repos: Repos, config: Config, rules: RefRules }
export type GitHttpUse = Use<typeof gitHttpNeeds>
