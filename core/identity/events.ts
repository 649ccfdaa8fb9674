import { event } from '../plugin/index.ts'

/** Facts about accounts that other parts of the host hear. Ids, and what a listener cannot read any more. */
export const AccountCreated = event<{ accountId: number; kind: string; name: string }>('account.created')
export const AccountRenamed = event<{ accountId: number; kind: string; oldName: string; newName: string }>(
  'account.renamed',
)
/** `fields`: names of the columns that changed; `password` when the password did. */
export const AccountChanged = event<{ accountId: number; fields: string[] }>('account.changed')
/**
 * What the account may see, or who may see it, may have become less: whoever keeps things for viewers drops what is
 * hidden now.
 */
export const AccessChanged = event<{ accountId: number }>('account.access-changed')
/**
 * Inside the transaction that deletes: a listener vetoes with a Refusal (`user still has ownership of repositories`)
 * or, with `purge`, removes what it owns of the account.
 */
export const AccountDeleting = event<{
  accountId: number
  kind: string
  name: string
  purge: boolean
  createdAt: string
}>('account.deleting')
export const AccountDeleted = event<{
  accountId: number
  kind: string
  name: string
  avatar: string | null
  purge: boolean
}>('account.deleted')
/** `blocked` shall have nothing to do with `accountId` any more: follows, stars, watches, roles between them end. */
export const AccountBlocked = event<{ accountId: number; blockedId: number }>('account.blocked')
