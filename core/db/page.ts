import { type SelectQueryBuilder, sql } from 'kysely'

/** Which part of a list is wanted, in rows. */
export type Window = { readonly limit: number; readonly offset: number }

/**
 * Reads one page of a list and the length of the whole list, in one query. Only a page past the end, which has no
 * row to carry the length, takes a second one.
 */
export async function readPage<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { limit, offset }: Window,
): Promise<{ rows: O[]; total: number }> {
  const rows = await query.select(sql<number>`count(*) over ()`.as('whole_list')).limit(limit).offset(offset).execute()
  const first = rows[0] as { whole_list: number } | undefined
  if (first) return { rows: rows as O[], total: first.whole_list }
  if (offset === 0) return { rows: [], total: 0 }
  const counted = await query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`count(*)`.as('whole_list'))
    .executeTakeFirst()
  return { rows: [], total: (counted as { whole_list: number } | undefined)?.whole_list ?? 0 }
}
