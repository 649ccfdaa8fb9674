import { defineEntity, p } from '@mikro-orm/core'
import { Account } from '#core/identity'
import { Repository } from '#core/repos'

/** One person's star on one repository. */
export const Star = defineEntity({
  name: 'Star',
  tableName: 'star',
  properties: {
    repository: () => p.manyToOne(Repository).primary().deleteRule('cascade'),
    account: () => p.manyToOne(Account).primary().deleteRule('cascade').index(),
    created_at: p.datetime().defaultRaw('now()'),
  },
})

export const starEntities = [Star]
