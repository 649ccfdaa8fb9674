import { sql } from 'kysely'
import type { Tx } from '../db/index.ts'
import { AccountBlocked, AccountDeleting, type AccountGrant } from '../identity/index.ts'
import { Refusal } from '../plugin/index.ts'
import { after, inside, type Listener } from '../work/index.ts'
import { RepositoryDeleted } from './events.ts'
import * as git from './git/index.ts'
import { deleteRecord, setRole } from './lifecycle.ts'
import type { Repos } from './repos.ts'
import type { ReposTables } from './tables.ts'

/** What the room does when accounts or repositories go. */
export function reposListeners(repos: Repos): Listener[] {
  return [
    inside(
      AccountDeleting,
      'repos.account-deleting',
      async (tx, { accountId, purge }) => {
        const query = tx.sql<ReposTables>().selectFrom('repository').selectAll().where('owner_id', '=', accountId)
        const owned = await query.orderBy('id').forUpdate().execute()
        if (owned.length > 0 && !purge) {
          throw new Refusal('invalid', `user still has ownership of repositories [uid: ${accountId}]`)
        }
        for (const repo of owned) await deleteRecord(tx, repo, null)
      },
      { whileOff: true },
    ),
    inside(
      AccountBlocked,
      'repos.account-blocked',
      async (tx, { accountId, blockedId }) => {
        await endRoles(tx, accountId, blockedId)
        await endRoles(tx, blockedId, accountId)
      },
      { whileOff: true },
    ),
    after(
      RepositoryDeleted,
      'repos.remove-folder',
      ({ repositoryId }) => git.deleteRepository(repos.open({ id: repositoryId })),
      { whileOff: true },
    ),
  ]
}

/** Takes all roles in the repositories of one account from another. */
async function endRoles(tx: Tx, ownerId: number, accountId: number): Promise<void> {
  const roles = await tx
    .sql<ReposTables>()
    .selectFrom('collaborator')
    .innerJoin('repository', 'repository.id', 'collaborator.repository_id')
    .select('repository.id')
    .where('repository.owner_id', '=', ownerId)
    .where('collaborator.account_id', '=', accountId)
    .orderBy('repository.id')
    .execute()
  for (const { id } of roles) await setRole(tx, id, accountId, 'none')
}

/** A role in somebody's repository lets one know of its owner, however hidden he is otherwise. */
export const ownerGrant: AccountGrant = {
  name: 'role in a repository',
  opens: (viewerId, accountId) => sql`exists (
    select 1 from collaborator join repository on repository.id = collaborator.repository_id
    where collaborator.account_id = ${viewerId} and repository.owner_id = ${accountId}
  )`,
}
