import type { TablesOf, Tx } from '#core/db'
import { AccountBlocked } from '#core/identity'
import { RepositoryAccessChanged, RepositoryVisibilityChanged, type ReposTables } from '#core/repos'
import { inside, type Listener } from '#core/work'
import type { Star } from './entities.ts'

type Tables = ReposTables & TablesOf<typeof Star>

/** Stars go with what made them possible. They do so while stars are switched off, too. */
export function starListeners(): Listener[] {
  return [
    inside(
      RepositoryVisibilityChanged,
      'stars.repository-made-private',
      async (tx, { repositoryId, isPrivate }) => {
        if (isPrivate) await tx.sql<Tables>().deleteFrom('star').where('repository_id', '=', repositoryId).execute()
      },
      { whileOff: true },
    ),
    inside(
      RepositoryAccessChanged,
      'stars.role-lost',
      async (tx, { repositoryId, accountId }) => {
        if (accountId !== null) await dropOfOutsider(tx, repositoryId, accountId)
      },
      { whileOff: true },
    ),
    inside(
      AccountBlocked,
      'stars.account-blocked',
      async (tx, { accountId, blockedId }) => {
        await dropBetween(tx, accountId, blockedId)
        await dropBetween(tx, blockedId, accountId)
      },
      { whileOff: true },
    ),
  ]
}

/** Drops a star on a private repository whose starrer has no role there any more. */
async function dropOfOutsider(tx: Tx, repositoryId: number, accountId: number): Promise<void> {
  await tx
    .sql<Tables>()
    .deleteFrom('star')
    .where('repository_id', '=', repositoryId)
    .where('account_id', '=', accountId)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('repository')
          .whereRef('repository.id', '=', 'star.repository_id')
          .whereRef('repository.owner_id', '!=', 'star.account_id')
          .where('repository.is_private', '=', true)
          .select('repository.id'),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('collaborator')
            .whereRef('collaborator.repository_id', '=', 'star.repository_id')
            .whereRef('collaborator.account_id', '=', 'star.account_id')
            .select('collaborator.mode'),
        ),
      ),
    )
    .execute()
}

/** Drops the stars of one account on the repositories of another. */
async function dropBetween(tx: Tx, starrerId: number, ownerId: number): Promise<void> {
  await tx
    .sql<Tables>()
    .deleteFrom('star')
    .where('account_id', '=', starrerId)
    .where('repository_id', 'in', (eb) => eb.selectFrom('repository').select('id').where('owner_id', '=', ownerId))
    .execute()
}
