import { defineEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '#core/db'
import { Repository } from '#core/repos'

/** How many bytes of a language the default branch of a repository has. */
export const RepositoryLanguage = defineEntity({
  name: 'RepositoryLanguage',
  tableName: 'repository_language',
  properties: {
    repository: () => p.manyToOne(Repository).primary().updateRule('cascade').deleteRule('cascade'),
    name: p.string().primary(),
    bytes: p.bigint('number'),
  },
})

/** Which commit the languages and licences of a repository were last read from. */
export const RepositoryMeasure = defineEntity({
  name: 'RepositoryMeasure',
  tableName: 'repository_measure',
  properties: {
    repository: () => p.manyToOne(Repository).primary().deleteRule('cascade'),
    commit_id: p.string(),
  },
})

export const gitDataEntities = [RepositoryLanguage, RepositoryMeasure] as const
export type GitDataTables = TablesOf<typeof RepositoryLanguage | typeof RepositoryMeasure>
