import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from '../db/index.ts'
import { point } from '../plugin/index.ts'
import { type AccountRow, type Actor, type IdentityTables, isPublicOnly, isSiteAdmin } from './actor.ts'

/**
 * Accounts that somebody may see for a reason of his own, whatever their visibility: the owner of a repository that
 * he has a role in, an organisation that he belongs to. Rooms and plugins that know such reasons contribute them.
 */
export type AccountGrant = {
  readonly name: string
  /** A condition: does the account `accountId` open itself to the account `viewerId`? Both may be columns. */
  opens(viewerId: Expression<number>, accountId: Expression<number>): RawBuilder<SqlBool>
}
export const AccountGrants = point<AccountGrant>('identity.account-grants')

type Accounts = ExpressionBuilder<IdentityTables, 'account'>

/** Which accounts a viewer may know of: one rule, as SQL for lists and as a question about one account. */
export function createVisibility(db: Database, grants: () => readonly AccountGrant[]) {
  const granted = (viewerId: number, accountId: Expression<number>): Expression<SqlBool> => {
    const reasons = grants().map((grant) => grant.opens(sql.val(viewerId), accountId))
    return reasons.length === 0 ? sql.lit(false) : sql<SqlBool>`(${sql.join(reasons, sql` or `)})`
  }

  /** Rows of `account` that an actor may see. Use: `.where(visibility.condition(actor))`. */
  const condition =
    (actor: Actor) =>
    (eb: Accounts): Expression<SqlBool> => {
      const open = seenByAll(actor)
      const within = isPublicOnly(actor) ? eb('account.visibility', '=', 'public') : eb.lit(true)
      if (isSiteAdmin(actor)) return within
      const reasons: Expression<SqlBool>[] = open.length > 0 ? [eb('account.visibility', 'in', open)] : []
      if (actor.account) {
        reasons.push(eb('account.id', '=', actor.account.id), granted(actor.account.id, eb.ref('account.id')))
      }
      return eb.and([within, eb.or(reasons)])
    }

  return {
    condition,
    /** Whether an actor may know of an account. Asks the database only where a grant decides. */
    async canSee(actor: Actor, account: Pick<AccountRow, 'id' | 'visibility'>): Promise<boolean> {
      if (isPublicOnly(actor) && account.visibility !== 'public') return false
      if (isSiteAdmin(actor) || actor.account?.id === account.id) return true
      if (seenByAll(actor).includes(account.visibility)) return true
      if (!actor.account || grants().length === 0) return false
      const { rows } = await sql<{ seen: boolean }>`
        select ${granted(actor.account.id, sql<number>`${account.id}::bigint`)} as seen
      `.execute(db.sql<IdentityTables>())
      return rows[0]?.seen === true
    },
  }
}
export type Visibility = ReturnType<typeof createVisibility>

/** Visibilities that need no further reason. A restricted user is shown nothing but what was granted to him. */
function seenByAll(actor: Actor): string[] {
  if (!actor.account) return ['public']
  return actor.account.is_restricted ? [] : ['public', 'limited']
}
