import { Database } from '#core/db'
import { SearchTerms } from '#plugins/repositories'

/** What this plugin asks of the host. */
export const topicNeeds = { db: Database, searchTerms: SearchTerms }
