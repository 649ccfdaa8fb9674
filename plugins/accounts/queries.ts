import { sql } from 'kysely'
import { type Database, readPage, type Window } from '#core/db'
import { unprocessable } from '#core/http'
import { type Actor, type Identity, type IdentityTables, isSiteAdmin, isVisibility } from '#core/identity'
import type { UserFilters } from './schemas.ts'

const users = (identity: Identity) => identity.records.rows<IdentityTables>().where('account.kind', '=', 'individual')

/** Whether a column, in lower case, contains a text. */
const contains = (column: 'lower_name' | 'full_name' | 'email', part: string) =>
  sql<boolean>`position(${part.toLowerCase()} in lower(${sql.ref(`account.${column}`)})) > 0`

/** Names by their characters, capitals first, whatever the collation of the database. */
const byName = sql<string>`account.name collate "C"`

/**
 * A page of the users that somebody may know of, by name.
 *
 * @param wanted `q`: part of name or full name, or of an address that is not hidden from him; `uid`: this one only
 */
export function searchUsers(identity: Identity, viewer: Actor, wanted: { q?: string; uid?: number }, window: Window) {
  const { q = '', uid = 0 } = wanted
  let query = users(identity).where(identity.visibility.condition(viewer))
  if (uid > 0) query = query.where('account.id', '=', uid)
  if (q !== '') {
    query = query.where((eb) => {
      const address = contains('email', q)
      const shown = isSiteAdmin(viewer)
        ? address
        : eb.and([address, eb.or([eb('hide_email', '=', false), eb('account.id', '=', viewer.account?.id ?? 0)])])
      return eb.or([contains('lower_name', q), contains('full_name', q), shown])
    })
  }
  return readPage(query.orderBy(byName), window)
}

const column = (name: string) => sql<unknown>`${sql.ref(`account.${name}`)}`
const sorts = { name: byName, created: column('created_at'), updated: column('updated_at'), id: column('id') }

/** A page of all users, for administrators. Throws a Problem for an unknown sort, order or visibility. */
export function listUsers(identity: Identity, wanted: UserFilters, window: Window) {
  const { q = '', sort, order = 'asc', visibility = '', login_name = '', source_id } = wanted
  if (visibility !== '' && !isVisibility(visibility)) throw unprocessable('invalid visibility')
  if (sort && !Object.hasOwn(sorts, sort)) throw unprocessable(`Invalid sort mode: "${sort}"`)
  if (sort && order !== 'asc' && order !== 'desc') throw unprocessable(`Invalid sort order: "${order}"`)

  let query = users(identity)
  if (visibility !== '') query = query.where('visibility', '=', visibility)
  if (login_name !== '') query = query.where('login_name', '=', login_name)
  if (source_id) query = query.where('source_id', '=', source_id)
  for (const [wish, flag] of [
    [wanted.is_active, 'is_active'],
    [wanted.is_admin, 'is_admin'],
    [wanted.is_restricted, 'is_restricted'],
    [wanted.is_prohibit_login, 'prohibit_login'],
  ] as const) {
    if (wish !== undefined) query = query.where(flag, '=', wish)
  }
  if (wanted.is_2fa_enabled !== undefined) query = query.where(hasSecondFactor, '=', wanted.is_2fa_enabled)
  if (q !== '') {
    query = query.where((eb) => eb.or([contains('lower_name', q), contains('full_name', q), contains('email', q)]))
  }
  const by = sorts[(sort || 'name') as keyof typeof sorts]
  return readPage(query.orderBy(by, sort && order === 'desc' ? 'desc' : 'asc').orderBy('account.id'), window)
}

export const hasSecondFactor = sql<boolean>`exists (select 1 from totp_device where totp_device.account_id = account.id)`

/** A page of the addresses of all users, by address; `q`: part of address, name or full name. */
export function listEmails(db: Database, q: string, window: Window) {
  let query = db
    .sql<IdentityTables>()
    .selectFrom('email_address')
    .innerJoin('account', 'account.id', 'email_address.account_id')
    .where('account.kind', '=', 'individual')
    .select(['address', 'is_activated', 'is_primary', 'account.id as user_id', 'account.name as username'])
  if (q !== '') {
    const part = q.toLowerCase()
    query = query.where((eb) =>
      eb.or([
        sql<boolean>`position(${part} in email_address.lower_address) > 0`,
        contains('lower_name', q),
        contains('full_name', q),
      ]),
    )
  }
  return readPage(query.orderBy('email_address.lower_address'), window)
}
