import type { Database, Tx } from '../db/index.ts'
import { Refusal } from '../plugin/index.ts'
import type { AccountRow, IdentityTables } from './actor.ts'
import { AccountBlocked } from './events.ts'

type Party = Pick<AccountRow, 'id' | 'is_admin'>

/** Who does not want to have to do with whom. */
export function createBlocks(db: Database) {
  return {
    /** Whether one of two accounts blocks the other. Site administrators are never treated as blocked. */
    async isBlocked(a: Party, b: Party): Promise<boolean> {
      if (a.is_admin || b.is_admin || a.id === b.id) return false
      const found = await db
        .sql<IdentityTables>()
        .selectFrom('account_block')
        .select('id')
        .where((eb) =>
          eb.or([
            eb.and([eb('account_id', '=', a.id), eb('blocked_id', '=', b.id)]),
            eb.and([eb('account_id', '=', b.id), eb('blocked_id', '=', a.id)]),
          ]),
        )
        .executeTakeFirst()
      return found !== undefined
    },

    /** Whether `account` blocks `blockedId`; what `GET /user/blocks/{u}` asks. */
    async has(accountId: number, blockedId: number): Promise<boolean> {
      const found = await db
        .sql<IdentityTables>()
        .selectFrom('account_block')
        .select('id')
        .where('account_id', '=', accountId)
        .where('blocked_id', '=', blockedId)
        .executeTakeFirst()
      return found !== undefined
    },

    /**
     * Blocks an account. Plugins end what is between the two when they hear `AccountBlocked`.
     *
     * @throws Refusal bad-request: oneself, an organisation, blocked already
     */
    async add(tx: Tx, accountId: number, blocked: Pick<AccountRow, 'id' | 'kind'>, note = ''): Promise<void> {
      if (blocked.kind === 'organization') throw new Refusal('bad-request', 'cannot block an organization')
      if (blocked.id === accountId) throw new Refusal('bad-request', 'cannot block the user')
      const row = await tx
        .sql<IdentityTables>()
        .insertInto('account_block')
        .values({ account_id: accountId, blocked_id: blocked.id, note })
        .onConflict((on) => on.columns(['account_id', 'blocked_id']).doNothing())
        .returning('id')
        .executeTakeFirst()
      if (!row) throw new Refusal('bad-request', 'cannot block the user')
      await tx.publish(AccountBlocked, { accountId, blockedId: blocked.id })
    },

    /** @throws Refusal bad-request: was not blocked */
    async remove(tx: Tx, accountId: number, blockedId: number): Promise<void> {
      const gone = await tx
        .sql<IdentityTables>()
        .deleteFrom('account_block')
        .where('account_id', '=', accountId)
        .where('blocked_id', '=', blockedId)
        .executeTakeFirst()
      if (gone.numDeletedRows === 0n) throw new Refusal('bad-request', 'cannot unblock the user')
    },
  }
}
export type Blocks = ReturnType<typeof createBlocks>
