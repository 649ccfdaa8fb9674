/**
 * The door of git-data: commits as the API shows them, for every plugin that shows some.
 */
import { point, service } from '#core/plugin'
import type { Commits } from './service/commits.ts'

export { commitMeta, commitUser, unknownTime } from './commit-parts.ts'
export { inPath, type RepoLinks, repoLinks } from './links.ts'
export {
  Commit,
  CommitAffectedFiles,
  CommitMeta,
  type CommitRecord,
  CommitStats,
  CommitUser,
  Identity,
  PayloadCommit,
  PayloadCommitVerification,
  PayloadUser,
  type Verification,
} from './schemas.ts'
export type { CommitOptions, Commits, Signed } from './service/commits.ts'

/**
 * Commits as records. Each call takes a whole batch and costs at most two queries, however many commits there are.
 *
 * A route that shows commits: `needs: { commits: CommitPresenter }`, then
 * `use.commits.present(repoLinks(use.repos.viewer(call.actor, call.base), call.repo), facts)`,
 * or for single parts `use.commits.verify([facts])`, `commitUser(facts.author)`, `commitMeta(…)`.
 */
export const CommitPresenter = service<Commits>('git-data.commits')

/** Something that needs its tag, for example a release. */
export type TagHolder = {
  /** Why the tag must not be deleted through the API, or undefined when it may; the answer is then 409. */
  holds(repositoryId: number, tag: string): Promise<string | undefined>
}
export const TagHolders = point<TagHolder>('git-data.tag-holders')
