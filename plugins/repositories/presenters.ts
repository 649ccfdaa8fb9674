import { sql } from 'kysely'
import type { Presenter } from '#core/db'
import { Type } from '#core/http'

const counter = (description: string) => ({ schema: Type.Integer({ description }), off: 0 })

/**
 * Fields of the record that are counted here. Those without a value belong to features that do not ship yet; the
 * plugin that brings one takes its line over.
 */
export const repositoryPresenters: readonly Presenter[] = [
  {
    record: 'Repository',
    fields: {
      forks_count: {
        ...counter('How many forks it has.'),
        value: (id) => sql<number>`(select count(*) from repository as fork where fork.parent_id = ${id})`,
      },
      open_issues_count: counter('Open issues.'),
      open_pr_counter: counter('Open pull requests.'),
      release_counter: counter('Published releases.'),
    },
  },
]
