import { type Tx, violatedConstraint } from '../db/index.ts'
import { Refusal } from '../plugin/index.ts'
import { lastAdmin, lockAdmins } from './accounts.ts'
import { accountColumns, type IdentityTables } from './actor.ts'
import { AccessChanged, AccountDeleted, AccountDeleting } from './events.ts'

export type Deletion = {
  /** Who asks: nobody deletes himself this way. Undefined: the operator's command. */
  readonly by?: number
  /** Also removes what would veto: repositories, memberships, packages, comments; each by its owner. */
  readonly purge?: boolean
}

/**
 * Deletes a user or a bot. Plugins veto or clean up inside the transaction when they hear `AccountDeleting`; tokens,
 * keys, addresses, devices, blocks and redirects go with the row.
 *
 * @throws Refusal invalid, with the contract's text, or whatever a listener refuses with
 */
export async function deleteAccount(tx: Tx, id: number, { by, purge = false }: Deletion = {}): Promise<void> {
  const sql = tx.sql<IdentityTables>()
  const admins = await lockAdmins(tx)
  const account = await sql
    .selectFrom('account')
    .select(accountColumns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (!account) throw new Refusal('not-found', 'user does not exist')
  if (account.kind === 'organization') throw new Refusal('invalid', 'target is an organization but not user')
  if (by === id) throw new Refusal('invalid', 'you cannot delete yourself')
  if (admins.length === 1 && admins[0] === id) throw lastAdmin(id, 'invalid')
  const { kind, name } = account
  await tx.publish(AccountDeleting, { accountId: id, kind, name, purge, createdAt: account.created_at.toISOString() })
  try {
    await sql.deleteFrom('account').where('id', '=', id).execute()
  } catch (error) {
    // Whoever owns the rows that hold the account should have vetoed: the promise stands without him.
    const constraint = violatedConstraint(error)
    if (!constraint) throw error
    throw new Refusal('invalid', `user still has data that must be removed first [uid: ${id}, ${constraint}]`)
  }
  await tx.publish(AccountDeleted, { accountId: id, kind, name, avatar: account.avatar, purge })
  await tx.publish(AccessChanged, { accountId: id })
}
