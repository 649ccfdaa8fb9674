import { join } from 'node:path'
import { badRequest, notFound } from '#core/http'
import type { Actor } from '#core/identity'
import { git, type RepoAccess } from '#core/repos'
import type { GitDataUse } from '../needs.ts'
import { relatives } from '../queries.ts'

/** Two commits that shall be compared, and a view of the repository that has both. */
export type Comparison = {
  readonly repo: git.GitRepo
  readonly base: string
  readonly head: string
  /** Whether the base's own changes since their histories parted are left out: `base...head`. */
  readonly fromMergeBase: boolean
  /** Ends what was started for the comparison. */
  release(): void
}

/**
 * Reads `base...head`, `base..head` or `head` alone, which is compared with the default branch. `head` may be
 * `user:branch` in that user's copy of the repository.
 *
 * @throws Problem 404 for unknown refs and users, 400 for users without a copy
 */
export async function openComparison(
  use: GitDataUse,
  access: RepoAccess,
  actor: Actor,
  text: string,
): Promise<Comparison> {
  const [, before = '', dots = '', after = ''] = /^(.*?)(\.\.\.?)(.*)$/s.exec(text) ?? []
  const baseText = dots ? before : access.repo.default_branch
  const headText = dots ? after : text
  const own = use.repos.open(access.repo)
  const base = await commitOf(own, baseText || access.repo.default_branch)
  const colon = headText.indexOf(':')
  const other = colon < 0 ? access.repo : await copyOf(use, access, actor, headText.slice(0, colon))
  const head = await commitOf(use.repos.open(other), headText.slice(colon + 1) || other.default_branch)
  const isForeign = other.id !== access.repo.id
  // The other repository's objects are read where they lie: nothing is copied.
  const repo = isForeign
    ? own.quarantined({ GIT_ALTERNATE_OBJECT_DIRECTORIES: join(use.repos.gitDir(other), 'objects') })
    : own
  const related = dots !== '..' && (await git.mergeBase(repo, base, head)) !== undefined
  return { repo, base, head, fromMergeBase: related, release: () => isForeign && repo.release() }
}

async function commitOf(repo: git.GitRepo, text: string): Promise<string> {
  const found = await git.resolveRevision(repo, text)
  if (!found) throw notFound(`ref "${text}" does not exist`)
  return found.commitId
}

/** The repository of a user (`user` or `user/name`) that shares its history with this one. */
async function copyOf(use: GitDataUse, access: RepoAccess, actor: Actor, text: string) {
  const [userName = '', name] = text.split('/', 2)
  const user = await use.identity.findVisible(actor, userName)
  if (user.kind !== 'found') throw notFound()
  const ids = await relatives(use.db, access.repo, user.account.id)
  for (const id of ids) {
    const found = await use.repos.findById(actor, id)
    const isNamed = name === undefined || found?.repo.lower_name === name.toLowerCase()
    if (found && isNamed && found.modeFor('code') !== 'none') return found.repo
  }
  throw badRequest(`${userName} has no copy of this repository that you may read`)
}
