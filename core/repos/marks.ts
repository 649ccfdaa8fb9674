import type { DeleteQueryBuilder, DeleteResult, Kysely } from 'kysely'
import { type Database, readPage, type Tx, type Window } from '../db/index.ts'
import { AccountBlocked, type Actor, type Identity } from '../identity/index.ts'
import { inside, type Listener } from '../work/index.ts'
import { RepositoryAccessChanged, RepositoryVisibilityChanged } from './events.ts'
import type { Repos } from './repos.ts'
import type { ReposTables } from './tables.ts'

/** The columns of a table of marks. */
type Mark = { repository_id: number; account_id: number; created_at: Date }
type Tables = ReposTables & { mark: Mark }

/**
 * Marks that people set on repositories: stars, watches. A plugin owns the table (repository_id, account_id as its key,
 * created_at); what is alike for all of them is here.
 *
 * @param owner name of the plugin, for the names of its listeners
 * @param table its table
 */
export function createMarks(owner: string, table: string) {
  const from = (sql: Kysely<Tables>) => sql.selectFrom(`${table} as mark` as 'mark')
  const drop = (tx: Tx) => tx.sql<Tables>().deleteFrom(`${table} as mark` as 'mark')

  return {
    /** When an account marked a repository; undefined when it did not. */
    async find(db: Database, accountId: number, repositoryId: number): Promise<Date | undefined> {
      const row = await from(db.sql<Tables>())
        .select('mark.created_at')
        .where('mark.account_id', '=', accountId)
        .where('mark.repository_id', '=', repositoryId)
        .executeTakeFirst()
      return row?.created_at
    },

    /** Sets a mark; a second one changes nothing. */
    async set(tx: Tx, accountId: number, repositoryId: number): Promise<void> {
      await tx
        .sql<Record<string, Mark>>()
        .insertInto(table)
        .values({ account_id: accountId, repository_id: repositoryId } as Mark)
        .onConflict((on) => on.doNothing())
        .execute()
    },

    /** Takes a mark away; none there changes nothing. */
    async remove(tx: Tx, accountId: number, repositoryId: number): Promise<void> {
      await drop(tx).where('mark.account_id', '=', accountId).where('mark.repository_id', '=', repositoryId).execute()
    },

    /**
     * A page of the repositories that somebody marked, by id.
     *
     * @param marker the account as an actor: the records show his permissions
     * @param viewers only what all of these may see is listed
     */
    repositoriesOf(repos: Repos, marker: Actor, viewers: readonly Actor[], window: Window) {
      const query = repos.listing
        .rows<{ mark: Mark }>(marker)
        .innerJoin(`${table} as mark` as 'mark', 'mark.repository_id', 'repository.id')
        .where('mark.account_id', '=', marker.account?.id ?? 0)
        .orderBy('repository.id')
      return readPage(
        viewers.reduce((rows, viewer) => rows.where(repos.listing.visible(viewer)), query),
        window,
      )
    },

    /** A page of those who marked a repository, by id, as far as `viewer` may know of them. */
    peopleOf(identity: Identity, repositoryId: number, viewer: Actor, window: Window) {
      const query = identity.records
        .rows<{ mark: Mark }>()
        .innerJoin(`${table} as mark` as 'mark', 'mark.account_id', 'account.id')
        .where('mark.repository_id', '=', repositoryId)
        .where(identity.visibility.condition(viewer))
        .orderBy('account.id')
      return readPage(query, window)
    },

    /** Marks go with what made them possible, also while their plugin is off. */
    listeners: (): Listener[] => [
      inside(
        RepositoryVisibilityChanged,
        `${owner}.repository-made-private`,
        async (tx, { repositoryId, isPrivate }) => {
          if (isPrivate) await drop(tx).where('mark.repository_id', '=', repositoryId).execute()
        },
        { whileOff: true },
      ),
      inside(
        RepositoryAccessChanged,
        `${owner}.role-lost`,
        async (tx, { repositoryId, accountId }) => {
          if (accountId !== null) await withoutRole(drop(tx), repositoryId, accountId).execute()
        },
        { whileOff: true },
      ),
      inside(
        AccountBlocked,
        `${owner}.account-blocked`,
        async (tx, { accountId, blockedId }) => {
          for (const [marker, repositoryOwner] of [
            [accountId, blockedId],
            [blockedId, accountId],
          ] as const) {
            await drop(tx)
              .where('mark.account_id', '=', marker)
              .where('mark.repository_id', 'in', (eb) =>
                eb.selectFrom('repository').select('repository.id').where('repository.owner_id', '=', repositoryOwner),
              )
              .execute()
          }
        },
        { whileOff: true },
      ),
    ],
  }
}

/** The mark of somebody who may not see the repository any more: it is private, and he has no role in it. */
function withoutRole(marks: DeleteQueryBuilder<Tables, 'mark', DeleteResult>, repositoryId: number, accountId: number) {
  return marks
    .where('mark.repository_id', '=', repositoryId)
    .where('mark.account_id', '=', accountId)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('repository')
          .select('repository.id')
          .where('repository.id', '=', repositoryId)
          .where('repository.is_private', '=', true)
          .where('repository.owner_id', '!=', accountId),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('collaborator')
            .select('collaborator.mode')
            .where('collaborator.repository_id', '=', repositoryId)
            .where('collaborator.account_id', '=', accountId),
        ),
      ),
    )
}
