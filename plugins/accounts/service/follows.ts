import { type Database, readPage, type TablesOf, type Tx, type Window } from '#core/db'
import { type AccountRow, type Actor, type Identity, type IdentityTables, isPublicOnly } from '#core/identity'
import { Refusal } from '#core/plugin'
import type { Follow } from '../entities.ts'

type Tables = TablesOf<typeof Follow>
type Party = Pick<AccountRow, 'id' | 'is_admin'>

/** Whether one account follows another. */
export async function isFollowing(db: Database, followerId: number, followedId: number): Promise<boolean> {
  const found = await db
    .sql<Tables>()
    .selectFrom('follow')
    .select('created_at')
    .where('follower_id', '=', followerId)
    .where('followed_id', '=', followedId)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Makes one account follow another; again, or oneself, changes nothing.
 *
 * @throws Refusal forbidden: one of the two blocks the other
 */
export async function follow(db: Database, identity: Identity, follower: Party, followed: Party): Promise<void> {
  if (follower.id === followed.id) return
  // Before the transaction: inside, it would wait for a second connection that others hold who wait as well.
  if (await identity.blocks.isBlocked(follower, followed)) throw new Refusal('forbidden', 'user is blocked')
  await db.tx((tx) =>
    tx
      .sql<Tables>()
      .insertInto('follow')
      .values({ follower_id: follower.id, followed_id: followed.id })
      .onConflict((on) => on.doNothing())
      .execute(),
  )
}

/** Ends that one account follows another; not following changes nothing. */
export async function unfollow(tx: Tx, followerId: number, followedId: number): Promise<void> {
  await tx
    .sql<Tables>()
    .deleteFrom('follow')
    .where('follower_id', '=', followerId)
    .where('followed_id', '=', followedId)
    .execute()
}

/** A page of the users who follow an account, by id, as far as the viewer may know of them. */
export function followersOf(identity: Identity, followedId: number, viewer: Actor, window: Window) {
  const query = identity.records
    .rows<Tables>()
    .innerJoin('follow', 'follow.follower_id', 'account.id')
    .where('follow.followed_id', '=', followedId)
    .where('account.kind', '=', 'individual')
    .where(identity.visibility.condition(viewer))
    .orderBy('account.id')
  return readPage(query, window)
}

/** A page of the users and organisations that an account follows, by id, as far as the viewer may know of them. */
export function followedBy(identity: Identity, followerId: number, viewer: Actor, window: Window) {
  const query = identity.records
    .rows<Tables>()
    .innerJoin('follow', 'follow.followed_id', 'account.id')
    .where('follow.follower_id', '=', followerId)
    .where('account.kind', '!=', 'bot')
    .where(identity.visibility.condition(viewer))
    .orderBy('account.id')
  return readPage(query, window)
}

/** A page of the accounts that one blocks, in the order in which it did. */
export function blockedBy(identity: Identity, accountId: number, window: Window) {
  const query = identity.records
    .rows<IdentityTables>()
    .innerJoin('account_block', 'account_block.blocked_id', 'account.id')
    .where('account_block.account_id', '=', accountId)
    .orderBy('account_block.id')
  return readPage(query, window)
}

/** Whether a public-only token may hear of an account. */
export const isOpenTo = (actor: Actor, account: AccountRow) =>
  !isPublicOnly(actor) || account.visibility === 'public' || account.id === actor.account?.id
