import { LRUCache } from 'lru-cache'
import { notFound } from '#core/http'
import { git, type RepoAccess } from '#core/repos'
import type { ContentsUse } from './needs.ts'
import { cleanPath, type FoundRef, findRef, noObject, splitRef } from './refs.ts'

/** A file of a repository at a commit. */
export type FoundFile = { readonly repo: git.GitRepo; readonly commitId: string; readonly entry: git.TreeEntry }

/** Finding files for those who want their bytes. */
export function createFiles(use: ContentsUse) {
  /** When a path last changed as of a commit: that never changes, and costs a walk through history. */
  const moments = new LRUCache<string, Date>({ max: 10_000 })

  return {
    /**
     * The file that `<path>` and `?ref=`, or else `<ref>/<path>`, mean; a path without a ref is looked for in the
     * default branch. 404 for a ref that does not exist, folders, submodules and repositories without a commit.
     */
    async find(access: RepoAccess, filepath: string, ref: string | undefined): Promise<FoundFile> {
      const row = access.repo
      if (row.is_empty) throw notFound('repository is empty')
      const repo = use.repos.open(row)
      const place = await placeOf(repo, row, filepath, ref)
      const path = cleanPath(place.path)
      const entry = path === '' ? undefined : await git.readEntry(repo, place.ref.commitId, path)
      if (!entry || entry.type === 'dir' || entry.type === 'submodule') throw notFound()
      return { repo, commitId: place.ref.commitId, entry }
    },

    /** When the file last changed; undefined when history is too long to tell in time. */
    async modified({ repo, commitId, entry }: FoundFile): Promise<Date | undefined> {
      const key = `${repo.path}\0${commitId}\0${entry.path}`
      const known = moments.get(key)
      if (known) return known
      const folder = entry.path.slice(0, Math.max(0, entry.path.length - entry.name.length - 1))
      const id = (await git.lastCommits(repo, commitId, folder, [entry.name], 3000)).get(entry.name)
      const commit = id === undefined ? undefined : await git.readCommit(repo, id)
      if (!commit) return undefined
      const moment = new Date(commit.committer.date)
      moments.set(key, moment)
      return moment
    },
  }
}
export type Files = ReturnType<typeof createFiles>

type Place = { readonly ref: FoundRef; readonly path: string }

async function placeOf(
  repo: git.GitRepo,
  row: RepoAccess['repo'],
  filepath: string,
  text: string | undefined,
): Promise<Place> {
  const named = text ? undefined : await splitRef(repo, filepath.replace(/^\/+/, ''))
  if (named) return named
  const ref = await findRef(repo, row, text ?? '')
  if (!ref) throw noObject(text || row.default_branch, '')
  return { ref, path: filepath }
}
