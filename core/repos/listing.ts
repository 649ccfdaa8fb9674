import { type Expression, type SelectQueryBuilder, sql } from 'kysely'
import { compileOnce, type Database, type Presenters, prefixed, unprefixed } from '../db/index.ts'
import { type AccountRow, type Actor, accountColumns, userRecord } from '../identity/index.ts'
import { accessTo, type Mode, visibleTo } from './access.ts'
import { type Links, permissionsOf, type RecordParts, repositoryRecord } from './record.ts'
import { type RepositoryRow, type ReposTables, repositoryColumns } from './tables.ts'
import type { UnitName } from './units.ts'

type Tables = ReposTables & { owner: ReposTables['account'] }

/** Who looks, and where links in the answer lead. */
export type Viewer = { readonly actor: Actor; readonly links: Links }

/** One selected row: repository, owner, the actor's role and the added fields, by prefix. */
export type ListedRow = {
  readonly role: string | null
  readonly branch_count: number
  readonly repository__id: number
  readonly repository__parent_id: number | null
}

/** A query over such rows; `Extra` are the tables that a plugin joins or looks into. */
export type Rows<Extra = unknown> = SelectQueryBuilder<
  Tables & Extra,
  'repository' | 'owner' | 'collaborator',
  ListedRow
>

const countBranches = (id: Expression<number>) =>
  sql<number>`(select count(*) from git_ref where git_ref.repository_id = ${id} and git_ref.name like 'refs/heads/%')`

/** Selects and shows repositories: one query a page, and one more when forks are among them. */
export function createListing(db: Database, presenters: Presenters, disabled: () => ReadonlySet<UnitName>) {
  /**
   * `repository` joined with its `owner`, with all that a record needs. `actor` decides the permissions shown.
   * Nothing is filtered yet: add `visible(actor)` and the list's own conditions.
   */
  const rows = <Extra = unknown>(actor: Actor) => selectedFor(actor.account?.id ?? 0) as unknown as Rows<Extra>

  const selectedFor = (accountId: number): Rows =>
    db
      .sql<Tables>()
      .selectFrom('repository')
      .innerJoin('account as owner', 'owner.id', 'repository.owner_id')
      .leftJoin('collaborator', (join) =>
        join.onRef('collaborator.repository_id', '=', 'repository.id').on('collaborator.account_id', '=', accountId),
      )
      .select(prefixed('repository', repositoryColumns))
      .select(prefixed('owner', accountColumns))
      .select('collaborator.mode as role')
      .select((eb) => countBranches(eb.ref('repository.id')).as('branch_count'))
      .select((eb) => presenters.columns('Repository', eb.ref('repository.id'), 'facts'))
      .select((eb) => presenters.columns('User', eb.ref('owner.id'), 'owner_facts')) as unknown as Rows

  const accessOf = (row: ListedRow, actor: Actor) => {
    const repo = unprefixed<RepositoryRow>(row, 'repository') as RepositoryRow
    const owner = unprefixed<AccountRow>(row, 'owner') as AccountRow
    return accessTo(actor, repo, owner, (row.role ?? 'none') as Mode, disabled())
  }

  const partsOf = (row: ListedRow, actor: Actor, viewer: Viewer, parent: object | undefined): RecordParts => {
    const access = accessOf(row, actor)
    const { repo, owner } = access
    return {
      repo,
      // Owners are shown as to a stranger, but with their real address unless they hide it.
      owner: userRecord(owner, presenters.facts('User', row, 'owner_facts'), {
        as: 'owner',
        base: viewer.links.base,
        noReply: viewer.links.noReply,
      }),
      ownerIsPrivate: owner.visibility === 'private',
      permissions: permissionsOf(access),
      branchCount: row.branch_count,
      disabledUnits: disabled(),
      facts: presenters.facts('Repository', row, 'facts'),
      parent,
    }
  }

  /** Parents of forks that both may see, by id: `as` whose permissions are shown, and whoever looks. */
  const parentsOf = async (listed: readonly ListedRow[], as: Actor, viewer: Actor): Promise<Map<number, ListedRow>> => {
    const ids = new Set(listed.flatMap((row) => row.repository__parent_id ?? []))
    if (ids.size === 0) return new Map()
    const found = await rows(as)
      .where('repository.id', 'in', [...ids])
      .where(visibleTo(as))
      .where(visibleTo(viewer))
      .execute()
    return new Map(found.map((row) => [row.repository__id, row]))
  }

  /** Reads of one row, with the texts of the queries kept for as long as the same plugins are on. */
  const singles = new Map<string, ReturnType<typeof compileSingles>>()
  const compileSingles = () => ({
    byId: compileOnce(['accountId', 'id'], ({ accountId, id }: { accountId: number; id: number }) =>
      selectedFor(accountId).where('repository.id', '=', id),
    ),
    byName: compileOnce(
      ['accountId', 'owner', 'name'],
      ({ accountId, owner, name }: { accountId: number; owner: string; name: string }) =>
        selectedFor(accountId).where('owner.lower_name', '=', owner).where('repository.lower_name', '=', name),
    ),
  })
  const single = () => {
    const state = presenters.state()
    const known = singles.get(state) ?? compileSingles()
    singles.set(state, known)
    return known
  }

  return {
    rows,
    visible: visibleTo,
    /**
     * Shows selected rows.
     *
     * @param as whose permissions the records show; the viewer's unless told
     */
    async present(listed: readonly ListedRow[], viewer: Viewer, as: Actor = viewer.actor) {
      const parents = await parentsOf(listed, as, viewer.actor)
      return listed.map((row) => {
        const parentId = row.repository__parent_id
        const parentRow = parentId ? parents.get(parentId) : undefined
        const own = partsOf(row, as, viewer, undefined)
        const parent =
          parentRow &&
          repositoryRecord({ ...partsOf(parentRow, as, viewer, undefined), permissions: own.permissions }, viewer.links)
        return repositoryRecord({ ...own, parent }, viewer.links)
      })
    },
    /** A repository by name, ready to be shown, when `actor` may see it: what `find` and `record` do, in one query. */
    async find(actor: Actor, owner: string, name: string): Promise<ListedRow | undefined> {
      const names = { owner: owner.toLowerCase(), name: name.toLowerCase() }
      const [row] = await single().byName(db.sql(), { accountId: actor.account?.id ?? 0, ...names })
      return row && accessOf(row, actor).mode !== 'none' ? row : undefined
    },
    /** The record of one repository, as it is now; undefined when it has gone. */
    async record(id: number, viewer: Viewer, as: Actor = viewer.actor) {
      const [row] = await single().byId(db.sql(), { accountId: as.account?.id ?? 0, id })
      return row && (await this.present([row], viewer, as))[0]
    },
  }
}
export type Listing = ReturnType<typeof createListing>
