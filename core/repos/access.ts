import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import {
  type AccessMode,
  type AccountRow,
  type Actor,
  accessModes,
  type Guarded,
  isPublicOnly,
} from '../identity/index.ts'
import type { RepositoryRow, ReposTables } from './tables.ts'
import type { UnitName, Units } from './units.ts'

/** What somebody may do with a repository or a unit of it, from least to most. */
export type Mode = AccessMode

/** Whether `have` is at least `need`. */
export const reaches = (have: Mode, need: Mode) => accessModes.indexOf(have) >= accessModes.indexOf(need)
const higher = (a: Mode, b: Mode) => (reaches(a, b) ? a : b)

/** A repository together with what one actor may do with it; `authorize` judges it. */
export type RepoAccess = Guarded & {
  readonly kind: 'repo'
  readonly repo: RepositoryRow
  readonly owner: AccountRow
  readonly mode: Mode
  /** Whether a unit is on, here and on the host. */
  isOn(unit: UnitName): boolean
  /** The mode within one unit. A unit that is off is closed to all but owners. */
  modeFor(unit?: string): Mode
}

const refusals = {
  read: 'user should have specific read permission or be a repo admin or a site admin',
  write: 'user should have a permission to write to a repo',
  admin: 'user should be an owner or a collaborator with admin write of a repository',
  owner: 'user should be the owner of the repo',
}

/** What everybody gets without a role of their own. */
function openTo(actor: Actor, repo: RepositoryRow, owner: AccountRow): Mode {
  if (repo.is_private || owner.visibility === 'private') return 'none'
  if (!actor.account) return owner.visibility === 'public' ? 'read' : 'none'
  // A restricted user sees only what was granted to him by name, and what is his.
  return actor.account.is_restricted ? 'none' : 'read'
}

/**
 * The one rule of repository access.
 *
 * @param role the actor's own role in this repository (collaborator), or `none`
 * @param disabled units that are off for the whole host
 */
export function accessTo(
  actor: Actor,
  repo: RepositoryRow,
  owner: AccountRow,
  role: Mode,
  disabled: ReadonlySet<UnitName>,
): RepoAccess {
  const isPublic = !repo.is_private && owner.visibility === 'public'
  const account = actor.account
  const mode: Mode =
    isPublicOnly(actor) && !isPublic
      ? 'none'
      : account && (account.is_admin || account.id === owner.id)
        ? 'owner'
        : higher(account ? role : 'none', openTo(actor, repo, owner))
  const units = repo.units as Units
  const isOn = (unit: string) => units[unit as UnitName] !== undefined && !disabled.has(unit as UnitName)
  return {
    kind: 'repo',
    repo,
    owner,
    mode,
    isPublic,
    hidden: mode === 'none',
    isOn,
    modeFor: (unit) => (unit === undefined || isOn(unit) || mode === 'owner' ? mode : 'none'),
    refusals,
  }
}

type Joined = ExpressionBuilder<ReposTables & { owner: ReposTables['account'] }, 'repository' | 'owner'>

/** The same rule as SQL: which rows of `repository` joined with `account as owner` an actor may see in lists. */
export function visibleTo(actor: Actor): (eb: Joined) => Expression<SqlBool> {
  return (eb) => {
    const open = (...visibility: string[]) =>
      eb.and([eb('repository.is_private', '=', false), eb('owner.visibility', 'in', visibility)])
    const account = actor.account
    if (isPublicOnly(actor)) return mayMeet(eb, account, open('public'))
    if (!account) return open('public')
    if (account.is_admin) return eb.lit(true)
    const mine = eb.or([eb('repository.owner_id', '=', account.id), hasRole(eb, account.id)])
    return account.is_restricted ? mine : eb.or([open('public', 'limited'), mine])
  }
}

const hasRole = (eb: Joined, accountId: number) =>
  eb.exists(
    eb
      .selectFrom('collaborator')
      .whereRef('collaborator.repository_id', '=', 'repository.id')
      .where('collaborator.account_id', '=', accountId)
      .select(eb.lit(1).as('one')),
  )

/** A restricted user's public-only token sees public repositories only where he has a role. */
function mayMeet(eb: Joined, account: AccountRow | undefined, open: Expression<SqlBool>): Expression<SqlBool> {
  if (!account?.is_restricted || account.is_admin) return open
  return eb.and([open, eb.or([eb('repository.owner_id', '=', account.id), hasRole(eb, account.id)])])
}
