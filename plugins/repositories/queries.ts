import type { Expression, SqlBool } from 'kysely'
import { type Database, readPage, type Tx, type Window } from '#core/db'
import { unprocessable } from '#core/http'
import { type Actor, anonymous, type Identity } from '#core/identity'
import type { ListedRow, Repos, ReposTables, Rows } from '#core/repos'
import type { SearchTerm } from './api.ts'
import type { SearchQuery } from './schemas.ts'

/** How many repositories an account owns. */
export async function countOwned(tx: Tx, ownerId: number): Promise<number> {
  const { count } = await tx
    .sql<ReposTables>()
    .selectFrom('repository')
    .where('owner_id', '=', ownerId)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** A page of the repositories that an actor owns or has a role in, by owner and name. */
export function listReachable(repos: Repos, actor: Actor, window: Window) {
  const id = actor.account?.id ?? 0
  const query = repos.listing
    .rows(actor)
    .where(repos.listing.visible(actor))
    .where((eb) => eb.or([eb('repository.owner_id', '=', id), eb('collaborator.mode', 'is not', null)]))
    .orderBy('owner.lower_name')
    .orderBy('repository.lower_name')
  return readPage(query, window)
}

/** A page of the repositories of an owner that `actor` may see, by id. */
export function listOwned(repos: Repos, ownerId: number, actor: Actor, window: Window) {
  const query = repos.listing
    .rows(actor)
    .where(repos.listing.visible(actor))
    .where('repository.owner_id', '=', ownerId)
    .orderBy('repository.id')
  return readPage(query, window)
}

const modes = {
  source: (query: Rows) => query.where('repository.parent_id', 'is', null).where('repository.is_mirror', '=', false),
  fork: (query: Rows) => query.where('repository.parent_id', 'is not', null),
  mirror: (query: Rows) => query.where('repository.is_mirror', '=', true),
  collaborative: (query: Rows, ownerId: number | undefined) =>
    ownerId === undefined ? query : query.where('repository.owner_id', '!=', ownerId),
}

const columns = {
  created: 'repository.created_at',
  updated: 'repository.updated_at',
  size: 'repository.git_size',
  git_size: 'repository.git_size',
  id: 'repository.id',
} as const

/** Sorts of the contract; those without a column are known to the plugins that count what they sort by. */
const sorts = ['alpha', 'lfs_size', 'stars', 'forks', ...Object.keys(columns)]

/** A page of the repositories that match a search, and how many match. Throws a Problem for an unknown mode or sort. */
export function searchRepositories(
  repos: Repos,
  terms: readonly SearchTerm[],
  actor: Actor,
  wanted: SearchQuery,
  window: Window,
): Promise<{ rows: ListedRow[]; total: number }> {
  let query: Rows = repos.listing.rows(actor).where(repos.listing.visible(actor))
  // Beside it: a restricted user does not see all that everybody sees.
  if (wanted.private === false) query = query.where(repos.listing.visible(anonymous))
  if (wanted.mode && !Object.hasOwn(modes, wanted.mode)) throw unprocessable('invalid search mode')
  query = withWords(query, terms, wanted)
  query = withOwner(query, wanted)
  query = withFlags(query, wanted)
  for (const term of terms) {
    for (const [name, filter] of Object.entries(term.filters ?? {})) {
      const id = wanted[name as keyof SearchQuery]
      if (typeof id === 'number' && id > 0) query = query.where((eb) => filter(eb as never, id))
    }
  }
  if (wanted.mode) query = modes[wanted.mode as keyof typeof modes](query, wanted.uid)
  return readPage(ordered(query, terms, wanted), window)
}

/** Words of one search that count: each is looked for in every repository. */
const mostWords = 50

function withWords(query: Rows, terms: readonly SearchTerm[], { q, topic, includeDesc }: SearchQuery): Rows {
  const given = (q ?? '').split(',').map((word) => word.trim().toLowerCase())
  const words = [...new Set(given.filter((word) => word !== ''))].slice(0, mostWords)
  if (words.length === 0) return query
  return query.where((eb) => {
    const found = words.flatMap((word): Expression<SqlBool>[] => {
      if (topic) return terms.flatMap((term) => term.topic?.(eb as never, word) ?? [])
      const some = [
        eb('repository.lower_name', 'like', part(word)),
        ...terms.flatMap((term) => term.word?.(eb as never, word) ?? []),
      ]
      const [owner, name] = word.split('/', 2)
      if (owner && name !== undefined) {
        some.push(
          eb.and([eb('owner.lower_name', 'like', part(owner)), eb('repository.lower_name', 'like', part(name))]),
        )
      }
      if (includeDesc) some.push(eb(eb.fn<string>('lower', ['repository.description']), 'like', part(word)))
      return some
    })
    return found.length === 0 ? eb.lit(false) : eb.or(found)
  })
}

/** A LIKE pattern for texts that hold `word`. */
const part = (word: string) => `%${word.replace(/[\\%_]/g, '\\$&')}%`

function withOwner(query: Rows, { uid, exclusive, team_id }: SearchQuery): Rows {
  // Nobody has teams yet, so nothing belongs to one.
  if (team_id !== undefined && team_id > 0) query = query.where((eb) => eb.lit(false))
  if (uid === undefined || uid <= 0) return query
  if (exclusive) return query.where('repository.owner_id', '=', uid)
  return query.where((eb) =>
    eb.or([
      eb('repository.owner_id', '=', uid),
      eb.exists(
        eb
          .selectFrom('collaborator as role')
          .whereRef('role.repository_id', '=', 'repository.id')
          .where('role.account_id', '=', uid)
          .select(eb.lit(1).as('one')),
      ),
    ]),
  )
}

function withFlags(query: Rows, wanted: SearchQuery): Rows {
  const flags = { is_private: wanted.is_private, is_template: wanted.template, is_archived: wanted.archived }
  for (const [column, value] of Object.entries(flags)) {
    if (value !== undefined) query = query.where(`repository.${column}` as 'repository.is_private', '=', value)
  }
  return query
}

function ordered(
  query: Rows,
  terms: readonly SearchTerm[],
  { sort, order, priority_owner_id: first }: SearchQuery,
): Rows {
  if (sort && !sorts.includes(sort)) throw unprocessable(`Invalid sort mode: "${sort}"`)
  if (sort && order && order !== 'asc' && order !== 'desc') throw unprocessable(`Invalid sort order: "${order}"`)
  const direction = sort && order === 'desc' ? 'desc' : 'asc'
  if (first !== undefined && first > 0) {
    query = query.orderBy((eb) => eb.case().when('repository.owner_id', '=', first).then(0).else(1).end())
  }
  if (!sort || sort === 'alpha') {
    return query.orderBy('owner.lower_name', direction).orderBy('repository.lower_name', direction)
  }
  const column = columns[sort as keyof typeof columns]
  const counted = terms.map((term) => term.sorts?.[sort]).find((by) => by !== undefined)
  if (column) query = query.orderBy(column, direction)
  else if (counted) query = query.orderBy((eb) => counted(eb as never), direction)
  return query.orderBy('repository.id', direction)
}

/**
 * A page of the direct collaborators of a repository, by id.
 *
 * @param viewer only those whom he may know of; undefined: all
 */
export function listCollaborators(identity: Identity, repositoryId: number, viewer: Actor | undefined, window: Window) {
  const query = identity.records
    .rows<ReposTables>()
    .innerJoin('collaborator', 'collaborator.account_id', 'account.id')
    .where('collaborator.repository_id', '=', repositoryId)
    .orderBy('account.id')
  return readPage(viewer ? query.where(identity.visibility.condition(viewer)) : query, window)
}

/** The role that an account was given in a repository, or undefined. */
export async function roleOf(db: Database, repositoryId: number, accountId: number): Promise<string | undefined> {
  const row = await db
    .sql<ReposTables>()
    .selectFrom('collaborator')
    .select('mode')
    .where('repository_id', '=', repositoryId)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row?.mode
}
