import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { AccountRow } from '#core/identity'
import { point, service } from '#core/plugin'
import type { RepositoryRow, ReposTables } from '#core/repos'

type Rows = ExpressionBuilder<ReposTables & { owner: ReposTables['account'] }, 'repository' | 'owner'>

/** What a plugin adds to the search of repositories from its own tables. */
export type SearchTerm = {
  /** Repositories that a word of `q` finds beside those whose name it is part of. */
  word?(eb: Rows, word: string): Expression<SqlBool>
  /** Repositories with exactly this topic. */
  topic?(eb: Rows, topic: string): Expression<SqlBool>
  /** A filter for a query parameter that names an id, such as `starredBy`. */
  filters?: Readonly<Record<string, (eb: Rows, id: number) => Expression<SqlBool>>>
  /** What a value of `sort` orders by. */
  sorts?: Readonly<Record<string, (eb: Rows) => Expression<number>>>
}

export const SearchTerms = point<SearchTerm>('repositories.search-terms')

/** Makes and removes repositories for others: organisations, forks, migrations. */
export type RepositoryMaker = {
  create(
    owner: AccountRow,
    doer: AccountRow,
    wanted: { name: string; description?: string; private?: boolean },
  ): Promise<RepositoryRow>
}
export const RepositoryMaker = service<RepositoryMaker>('repositories.maker')
