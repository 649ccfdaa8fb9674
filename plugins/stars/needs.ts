import { Database } from '#core/db'
import { Identity } from '#core/identity'
import { Repos } from '#core/repos'
import { SearchTerms } from '#plugins/repositories'

/** What this plugin asks of the host. */
export const starNeeds = { db: Database, repos: Repos, identity: Identity, searchTerms: SearchTerms }
