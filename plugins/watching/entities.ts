import { defineEntity, p } from '@mikro-orm/core'
import { Account } from '#core/identity'
import { Repository } from '#core/repos'

/** One person's wish to hear of one repository. */
export const Watch = defineEntity({
  name: 'Watch',
  tableName: 'watch',
  properties: {
    repository: () => p.manyToOne(Repository).primary().deleteRule('cascade'),
    account: () => p.manyToOne(Account).primary().deleteRule('cascade').index(),
    created_at: p.datetime().defaultRaw('now()'),
  },
})

export const watchEntities = [Watch]
