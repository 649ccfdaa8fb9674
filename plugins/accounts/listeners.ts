import { AccountBlocked, AccountDeleted } from '#core/identity'
import { createPictures } from '#core/storage'
import { after, inside, type Listener } from '#core/work'
import type { AccountsUse } from './needs.ts'
import { unfollow } from './service/follows.ts'

/** What ends with a block or a deletion. It does so while the plugin is off, too. */
export function accountsListeners(use: AccountsUse): Listener[] {
  return [
    inside(
      AccountBlocked,
      'accounts.blocked',
      async (tx, { accountId, blockedId }) => {
        await unfollow(tx, accountId, blockedId)
        await unfollow(tx, blockedId, accountId)
      },
      { whileOff: true },
    ),
    after(
      AccountDeleted,
      'accounts.remove-picture',
      async ({ avatar }) => {
        if (avatar) await createPictures(use.storage, 'avatars').delete(avatar)
      },
      { whileOff: true },
    ),
  ]
}
