import { type Tx, violatedConstraint } from '../db/index.ts'
import type { AccountRow } from '../identity/index.ts'
import { Refusal } from '../plugin/index.ts'
import {
  RepositoryAccessChanged,
  RepositoryCreated,
  RepositoryDeleted,
  RepositoryDeleting,
  RepositoryRenamed,
} from './events.ts'
import { checkRepositoryName } from './names.ts'
import type { RepositoryRow, ReposTables } from './tables.ts'

/** What a new repository starts with; everything else has the column's default. */
export type NewRepository = {
  readonly name: string
  readonly description?: string
  readonly isPrivate?: boolean
  readonly isTemplate?: boolean
  readonly defaultBranch: string
  readonly objectFormat?: 'sha1' | 'sha256'
  readonly trustModel?: string
  readonly units: object
  /** SPDX ids, when the first commit will hold a licence. */
  readonly licenses?: readonly string[]
}

const nameIsTaken = 'repository_owner_id_lower_name_unique'

/** Inserts the record and forgets redirects of that name. The caller makes the folder before it commits. */
export async function createRecord(
  tx: Tx,
  owner: AccountRow,
  actorId: number,
  wanted: NewRepository,
): Promise<RepositoryRow> {
  checkRepositoryName(wanted.name)
  const lowerName = wanted.name.toLowerCase()
  const sql = tx.sql<ReposTables>()
  await sql
    .deleteFrom('repository_redirect')
    .where('owner_id', '=', owner.id)
    .where('lower_name', '=', lowerName)
    .execute()
  const row = await sql
    .insertInto('repository')
    .values({
      owner_id: owner.id,
      name: wanted.name,
      lower_name: lowerName,
      description: wanted.description ?? '',
      is_private: wanted.isPrivate ?? false,
      is_template: wanted.isTemplate ?? false,
      default_branch: wanted.defaultBranch,
      object_format: wanted.objectFormat ?? 'sha1',
      trust_model: wanted.trustModel ?? 'default',
      units: JSON.stringify(wanted.units),
      licenses: [...(wanted.licenses ?? [])],
    })
    .onConflict((on) => on.columns(['owner_id', 'lower_name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new Refusal('conflict', 'The repository with the same name already exists.')
  await tx.publish(RepositoryCreated, { repositoryId: row.id, ownerId: owner.id, actorId })
  return row
}

/** The record as it is now, held until the transaction ends. Throws a Refusal (not-found) when it has gone. */
export async function lockRecord(tx: Tx, id: number): Promise<RepositoryRow> {
  const rows = tx.sql<ReposTables>().selectFrom('repository').selectAll().where('id', '=', id)
  const row = await rows.forUpdate().executeTakeFirst()
  if (!row) throw new Refusal('not-found', 'not found')
  return row
}

/** Gives a repository another name; the old one redirects. A change of case only leaves no redirect. */
export async function renameRecord(
  tx: Tx,
  repo: RepositoryRow,
  owner: AccountRow,
  actorId: number,
  name: string,
): Promise<void> {
  checkRepositoryName(name)
  const lowerName = name.toLowerCase()
  const sql = tx.sql<ReposTables>()
  try {
    await sql
      .updateTable('repository')
      .set({ name, lower_name: lowerName, updated_at: new Date() })
      .where('id', '=', repo.id)
      .execute()
  } catch (error) {
    if (violatedConstraint(error) !== nameIsTaken) throw error
    throw new Refusal('invalid', `repository already exists [uname: ${owner.name}, name: ${name}]`)
  }
  if (lowerName === repo.lower_name) return
  await sql
    .deleteFrom('repository_redirect')
    .where('owner_id', '=', owner.id)
    .where('lower_name', '=', lowerName)
    .execute()
  await sql
    .insertInto('repository_redirect')
    .values({ owner_id: owner.id, lower_name: repo.lower_name, repository_id: repo.id })
    .onConflict((on) => on.columns(['owner_id', 'lower_name']).doUpdateSet({ repository_id: repo.id }))
    .execute()
  await tx.publish(RepositoryRenamed, { repositoryId: repo.id, oldName: repo.name, actorId })
}

/**
 * Deletes the record with all that hangs on it; its folder and files go after commit, by the event. Throws a Refusal
 * (not-found) when somebody else was faster.
 */
export async function deleteRecord(tx: Tx, { id }: RepositoryRow, actorId: number | null): Promise<void> {
  const repo = await lockRecord(tx, id)
  await tx.publish(RepositoryDeleting, { repositoryId: repo.id, actorId })
  const sql = tx.sql<ReposTables>()
  await sql.updateTable('repository').set({ parent_id: null }).where('parent_id', '=', repo.id).execute()
  await sql.deleteFrom('repository').where('id', '=', repo.id).execute()
  await tx.publish(RepositoryDeleted, {
    repositoryId: repo.id,
    ownerId: repo.owner_id,
    name: repo.name,
    avatar: repo.avatar,
    actorId,
  })
}

/** Sets a person's role, or takes it away with `none`. */
export async function setRole(
  tx: Tx,
  repositoryId: number,
  accountId: number,
  mode: 'none' | 'read' | 'write' | 'admin',
): Promise<void> {
  const sql = tx.sql<ReposTables>()
  if (mode === 'none') {
    const gone = await sql
      .deleteFrom('collaborator')
      .where('repository_id', '=', repositoryId)
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (gone.numDeletedRows === 0n) return
  } else {
    await sql
      .insertInto('collaborator')
      .values({ repository_id: repositoryId, account_id: accountId, mode })
      .onConflict((on) => on.columns(['repository_id', 'account_id']).doUpdateSet({ mode }))
      .execute()
  }
  await tx.publish(RepositoryAccessChanged, { repositoryId, accountId })
}
