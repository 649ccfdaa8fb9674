import { Database } from '#core/db'

/** What this plugin asks of the host. */
export const topicNeeds = { db: Database }
