import { compileOnce, type Database, prefixed, unprefixed } from '../db/index.ts'
import { type AccountRow, type Actor, accountColumns } from '../identity/index.ts'
import { accessTo, type Mode, type RepoAccess } from './access.ts'
import { type RepositoryRow, type ReposTables, repositoryColumns } from './tables.ts'
import type { UnitName } from './units.ts'

/** What a name leads to. `moved` says where; `hidden` covers missing and invisible alike. */
export type Lookup =
  | { readonly kind: 'found'; readonly access: RepoAccess }
  | { readonly kind: 'moved'; readonly owner: string; readonly name: string }
  | { readonly kind: 'hidden' }

/** Finds repositories for an actor. Names match in any case. */
export function createLookup(db: Database, disabled: () => ReadonlySet<UnitName>) {
  const select = (accountId: number) =>
    db
      .sql<ReposTables & { owner: ReposTables['account'] }>()
      .selectFrom('repository')
      .innerJoin('account as owner', 'owner.id', 'repository.owner_id')
      .leftJoin('collaborator', (join) =>
        join.onRef('collaborator.repository_id', '=', 'repository.id').on('collaborator.account_id', '=', accountId),
      )
      .select(prefixed('repository', repositoryColumns))
      .select(prefixed('owner', accountColumns))
      .select('collaborator.mode as role')

  const byName = compileOnce(
    ['accountId', 'owner', 'name'],
    ({ accountId, owner, name }: { accountId: number; owner: string; name: string }) =>
      select(accountId).where('owner.lower_name', '=', owner).where('repository.lower_name', '=', name),
  )
  const byId = compileOnce(['accountId', 'id'], ({ accountId, id }: { accountId: number; id: number }) =>
    select(accountId).where('repository.id', '=', id),
  )

  const accessOf = (actor: Actor, row: { role: string | null } & object): RepoAccess => {
    const repo = unprefixed<RepositoryRow>(row, 'repository') as RepositoryRow
    const owner = unprefixed<AccountRow>(row, 'owner') as AccountRow
    return accessTo(actor, repo, owner, (row.role ?? 'none') as Mode, disabled())
  }

  const findById = async (actor: Actor, id: number): Promise<RepoAccess | undefined> => {
    const [row] = await byId(db.sql(), { accountId: actor.account?.id ?? 0, id })
    const access = row && accessOf(actor, row)
    return access && access.mode !== 'none' ? access : undefined
  }

  /** Where a repository of that name went. For those who may not see it there, it went nowhere. */
  const movedTo = async (actor: Actor, ownerName: string, name: string): Promise<Lookup> => {
    const moved = await db
      .sql<ReposTables>()
      .selectFrom('repository_redirect')
      .innerJoin('account', 'account.id', 'repository_redirect.owner_id')
      .select('repository_redirect.repository_id as id')
      .where('account.lower_name', '=', ownerName.toLowerCase())
      .where('repository_redirect.lower_name', '=', name.toLowerCase())
      .executeTakeFirst()
    const access = moved && (await findById(actor, moved.id))
    return access ? { kind: 'moved', owner: access.owner.name, name: access.repo.name } : { kind: 'hidden' }
  }

  return {
    /** The repository `ownerName/name` as `actor` may use it. */
    async find(actor: Actor, ownerName: string, name: string): Promise<Lookup> {
      const [row] = await byName(db.sql(), {
        accountId: actor.account?.id ?? 0,
        owner: ownerName.toLowerCase(),
        name: name.toLowerCase(),
      })
      const access = row && accessOf(actor, row)
      // What is hidden takes as long as what is missing.
      return access && access.mode !== 'none' ? { kind: 'found', access } : movedTo(actor, ownerName, name)
    },

    /** The repository with an id, or undefined when it is missing or hidden from `actor`. */
    findById,
  }
}
