import { Identity } from '#core/identity'
import { Config, maybe, type Use } from '#core/plugin'
import { RefRules, Repos } from '#core/repos'
import { CommitPresenter } from '#plugins/git-data'

/** What this plugin asks of the host and of others. */
export const contentsNeeds = {
  config: Config,
  identity: Identity,
  repos: Repos,
  rules: RefRules,
  commits: maybe(CommitPresenter),
}
export type ContentsUse = Use<typeof contentsNeeds>
