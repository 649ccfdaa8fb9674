import { defineEntity, p } from '@mikro-orm/core'
import { Account } from '#core/identity'

/** One account follows another. */
export const Follow = defineEntity({
  name: 'Follow',
  tableName: 'follow',
  properties: {
    follower: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    followed: () => p.manyToOne(Account).primary().deleteRule('cascade').index(),
    created_at: p.datetime().defaultRaw('now()'),
  },
})

export const accountsEntities = [Follow]
