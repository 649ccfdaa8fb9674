import { type Database, readPage, type TablesOf, type Tx, type Window } from '#core/db'
import type { Actor, Identity } from '#core/identity'
import type { Repos } from '#core/repos'
import type { Star } from './entities.ts'

type Tables = TablesOf<typeof Star>

/** Whether an account has starred a repository. */
export async function hasStarred(db: Database, accountId: number, repositoryId: number): Promise<boolean> {
  const star = await db
    .sql<Tables>()
    .selectFrom('star')
    .select('account_id')
    .where('account_id', '=', accountId)
    .where('repository_id', '=', repositoryId)
    .executeTakeFirst()
  return star !== undefined
}

/** Stores a star; a second one changes nothing. */
export async function addStar(tx: Tx, accountId: number, repositoryId: number): Promise<void> {
  await tx
    .sql<Tables>()
    .insertInto('star')
    .values({ account_id: accountId, repository_id: repositoryId })
    .onConflict((on) => on.doNothing())
    .execute()
}

/** Takes a star away; none there changes nothing. */
export async function removeStar(tx: Tx, accountId: number, repositoryId: number): Promise<void> {
  await tx
    .sql<Tables>()
    .deleteFrom('star')
    .where('account_id', '=', accountId)
    .where('repository_id', '=', repositoryId)
    .execute()
}

/**
 * A page of the repositories that an account starred, oldest first.
 *
 * @param starrer the account as an actor: the records show his permissions
 * @param viewer only what this actor may see is listed
 */
export function starredBy(repos: Repos, starrer: Actor, viewer: Actor, window: Window) {
  const query = repos.listing
    .rows<Tables>(starrer)
    .innerJoin('star', 'star.repository_id', 'repository.id')
    .where('star.account_id', '=', starrer.account?.id ?? 0)
    .where(repos.listing.visible(viewer))
    .orderBy('repository.id')
  return readPage(query, window)
}

/** A page of those who starred a repository, by id, as far as the viewer may know of them. */
export function stargazers(identity: Identity, repositoryId: number, viewer: Actor, window: Window) {
  const query = identity.records
    .rows<Tables>()
    .innerJoin('star', 'star.account_id', 'account.id')
    .where('star.repository_id', '=', repositoryId)
    .where(identity.visibility.condition(viewer))
    .orderBy('account.id')
  return readPage(query, window)
}
