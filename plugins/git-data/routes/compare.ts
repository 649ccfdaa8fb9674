import { answer, type Route, route, Type } from '#core/http'
import { git } from '#core/repos'
import type { GitDataUse } from '../needs.ts'
import { Compare } from '../schemas.ts'
import { createCommits } from '../service/commits.ts'
import { type Comparison, openComparison } from '../service/comparison.ts'
import { about, commitParts, inRepo, linksOf, reading } from './in-repository.ts'

/** Commits that one answer shows; `total_commits` counts all. */
const most = 1000

/** What one ref has that another has not. */
export function compareRoutes(use: GitDataUse): Route[] {
  const commits = createCommits(use)

  const asText = async (comparison: Comparison, format: git.DiffFormat) => {
    const { repo, base, head, fromMergeBase, release } = comparison
    const stream = await git.streamRangeDiff(repo, base, head, format, { fromMergeBase })
    stream.once('close', release)
    return answer(200, stream, { 'content-type': 'text/plain; charset=utf-8' })
  }

  return [
    route({
      ...about,
      method: 'GET',
      path: '/repos/{owner}/{repo}/compare/{basehead+}',
      operationId: 'repoCompareDiff',
      summary: 'Shows the commits that one ref has and another has not, or the difference as plain text.',
      access: reading,
      params: Type.Object({
        ...inRepo,
        basehead: Type.String({
          description: 'Two refs as base...head or base..head; head may be user:branch. One ref alone is the head.',
        }),
      }),
      query: Type.Object({
        output: Type.Optional(
          Type.Unsafe<string>({ type: 'string', enum: ['diff', 'patch'], description: 'Plain text instead of JSON.' }),
        ),
        verification: commitParts.verification,
        files: commitParts.files,
      }),
      answers: { 200: Compare },
      refusals: [400, 404],
      async handle(call) {
        const { output, files, verification } = call.query
        const comparison = await openComparison(use, call.repo, call.actor, call.params.basehead)
        if (output === 'diff' || output === 'patch') return asText(comparison, output)
        const { repo, base, head, release } = comparison
        try {
          const found = await git.compareCommits(repo, base, head, { limit: most })
          const changes = await git.readChanges(
            repo,
            found.commits.map(({ id }) => id),
          )
          const shown = await commits.present(linksOf(use, call), found.commits, { changes, files, verification })
          return { total_commits: found.total, commits: shown }
        } finally {
          release()
        }
      },
    }),
  ]
}
