import { sql } from 'kysely'
import { type Database, readPage, type Tx, type Window } from '#core/db'
import type { git, ReposTables } from '#core/repos'
import type { GitDataTables } from './entities.ts'

/** What PostgreSQL keeps of a branch or tag. */
export type RefRow = {
  /** Full name. */
  readonly name: string
  readonly object_id: string
  readonly object_type: string
  readonly commit_id: string
  readonly facts: RefFacts
}
export type RefFacts = { readonly commit?: git.CommitFacts; readonly tag?: git.TagFacts }

const columns = ['name', 'object_id', 'object_type', 'commit_id', 'facts'] as const

/** Refs of a repository below a prefix such as `refs/heads/`, newest first. */
export async function listRefs(
  db: Database,
  repositoryId: number,
  { prefix, part = '' }: { readonly prefix: string; readonly part?: string },
  window: Window,
): Promise<{ rows: RefRow[]; total: number }> {
  let query = db
    .sql<ReposTables>()
    .selectFrom('git_ref')
    .select(columns)
    .where('repository_id', '=', repositoryId)
    .where((eb) => eb.fn<boolean>('starts_with', ['name', eb.val(prefix)]))
  if (part !== '') {
    query = query.where(sql<boolean>`strpos(lower(substr(name, ${prefix.length + 1})), lower(${part})) > 0`)
  }
  const page = await readPage(query.orderBy('committed_at', 'desc').orderBy(sql`name collate "C"`), window)
  return page as { rows: RefRow[]; total: number }
}

/** Branches and tags by full name; those that do not exist are left out. */
export async function findRefs(db: Database, repositoryId: number, names: readonly string[]): Promise<RefRow[]> {
  const wanted = names.filter((name) => !name.includes('\0'))
  if (wanted.length === 0) return []
  const query = db.sql<ReposTables>().selectFrom('git_ref').select(columns).where('repository_id', '=', repositoryId)
  return (await query.where('name', 'in', wanted).execute()) as RefRow[]
}

/** A ref that stands in the way of a new one: `a` and `a/b` cannot both exist. */
export async function clashingRef(db: Database, repositoryId: number, name: string): Promise<string | undefined> {
  const parts = name.split('/')
  const above = parts.map((_, at) => parts.slice(0, at).join('/')).filter((part) => part !== '')
  const row = await db
    .sql<ReposTables>()
    .selectFrom('git_ref')
    .select('name')
    .where('repository_id', '=', repositoryId)
    .where((eb) =>
      eb.or([
        eb.fn<boolean>('starts_with', ['name', eb.val(`${name}/`)]),
        ...(above.length ? [eb('name', 'in', above)] : []),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return row?.name
}

/** The repositories of `owner` that share a history with one, itself first, then what forked from what. */
export async function relatives(
  db: Database,
  repo: { readonly id: number; readonly parent_id: number | null },
  ownerId: number,
): Promise<number[]> {
  const rows = await db
    .sql<ReposTables>()
    .selectFrom('repository')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where((eb) =>
      eb.or([
        eb('id', '=', repo.id),
        eb('parent_id', '=', repo.id),
        ...(repo.parent_id === null ? [] : [eb('id', '=', repo.parent_id), eb('parent_id', '=', repo.parent_id)]),
      ]),
    )
    .orderBy((eb) => eb('id', '!=', repo.id))
    .orderBy('id')
    .limit(10)
    .execute()
  return rows.map(({ id }) => id)
}

/** Bytes by language, most first. */
export function languagesOf(db: Database, repositoryId: number): Promise<{ name: string; bytes: number }[]> {
  return db
    .sql<GitDataTables>()
    .selectFrom('repository_language')
    .select(['name', 'bytes'])
    .where('repository_id', '=', repositoryId)
    .orderBy('bytes', 'desc')
    .orderBy('name')
    .execute()
}

/** The commit whose files were counted last. */
export async function measuredCommit(db: Database, repositoryId: number): Promise<string | undefined> {
  const rows = db.sql<GitDataTables>().selectFrom('repository_measure').select('commit_id')
  return (await rows.where('repository_id', '=', repositoryId).executeTakeFirst())?.commit_id
}

export type Measured = {
  /** '' for a repository without commits. */
  readonly commitId: string
  readonly languages: ReadonlyMap<string, number>
  readonly licenses: readonly string[]
}

/** Replaces what was counted before. Of two that count at once, one waits for the other. */
export async function keepMeasured(tx: Tx, repositoryId: number, measured: Measured): Promise<void> {
  const { commitId, languages, licenses } = measured
  const tables = tx.sql<GitDataTables & ReposTables>()
  const [language = ''] = languages.keys()
  const { numUpdatedRows } = await tables
    .updateTable('repository')
    .set({ language, licenses: [...licenses] })
    .where('id', '=', repositoryId)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await tables.deleteFrom('repository_language').where('repository_id', '=', repositoryId).execute()
  const rows = [...languages].map(([name, bytes]) => ({ repository_id: repositoryId, name, bytes }))
  if (rows.length > 0) await tables.insertInto('repository_language').values(rows).execute()
  await tables
    .insertInto('repository_measure')
    .values({ repository_id: repositoryId, commit_id: commitId })
    .onConflict((on) => on.column('repository_id').doUpdateSet({ commit_id: commitId }))
    .execute()
}
