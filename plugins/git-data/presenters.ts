import { type RepoAccess, reaches } from '#core/repos'
import { commitMeta, unknownTime } from './commit-parts.ts'
import { inPath, type RepoLinks } from './links.ts'
import type { RefRow } from './queries.ts'
import type { Commits } from './service/commits.ts'

export const branchPrefix = 'refs/heads/'
export const tagPrefix = 'refs/tags/'

/** Branches as records, in their order: one query for the accounts behind all of them. */
export async function branchRecords(commits: Commits, links: RepoLinks, access: RepoAccess, rows: readonly RefRow[]) {
  const known = rows.flatMap(({ facts }) => (facts.commit ? [facts.commit] : []))
  const shown = new Map((await commits.payloads(links, known)).map((commit) => [commit.id, commit]))
  const mayWrite = reaches(access.modeFor('code'), 'write')
  return rows.map(({ name, commit_id }) => ({
    name: name.slice(branchPrefix.length),
    commit: shown.get(commit_id) ?? null,
    protected: false,
    required_approvals: 0,
    enable_status_check: false,
    status_check_contexts: [],
    user_can_push: mayWrite,
    user_can_merge: mayWrite,
    effective_branch_protection_name: '',
  }))
}

/** A tag as a record. `downloads`: with the addresses of its archives. */
export function tagRecord(links: RepoLinks, { name, object_id, commit_id, facts }: RefRow, downloads: boolean) {
  const short = name.slice(tagPrefix.length)
  const archive = `${links.page}/archive/${encodeURIComponent(short)}`
  const created = (facts.tag ? facts.tag.tagger?.date : facts.commit?.committer.date) ?? unknownTime
  return {
    name: short,
    message: facts.tag?.message ?? facts.commit?.message ?? '',
    id: object_id,
    // Clients know the address of the tag's own object beside the id of the commit.
    commit: { ...commitMeta(links, 'commits', object_id, created), sha: commit_id },
    ...(downloads ? { zipball_url: `${archive}.zip`, tarball_url: `${archive}.tar.gz` } : {}),
  }
}

/** A ref as a record. */
export function refRecord(links: RepoLinks, ref: { name: string; objectId: string; objectType: string }) {
  return {
    ref: ref.name,
    url: `${links.api}/git/${inPath(ref.name)}`,
    object: { type: ref.objectType, sha: ref.objectId, url: `${links.api}/git/${ref.objectType}s/${ref.objectId}` },
  }
}
