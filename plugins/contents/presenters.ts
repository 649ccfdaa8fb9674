import { git } from '#core/repos'
import { largestPointer, readPointer } from './lfs.ts'
import type { Links } from './links.ts'
import type { FoundRef } from './refs.ts'
import type { ContentsResponse } from './schemas.ts'

/** Where entries are looked at: a repository at a ref. */
export type View = {
  readonly repo: git.GitRepo
  readonly ref: FoundRef
  readonly links: Links
  /** Largest file in bytes whose content is shown. */
  readonly maxBlob: number
}

/** Which costly parts of a record are wanted. */
export type Wants = {
  readonly content?: boolean
  readonly lfs?: boolean
  /** Who touched it last, and when; `message`: with what words. */
  readonly commit?: boolean
  readonly message?: boolean
}

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/**
 * Entries as the API shows them, in their order. One walk through history per folder, however many entries it has;
 * all other reads are answered by the running git of the pool.
 *
 * @param known last commits that need no walk, by path
 */
export async function presentEntries(
  view: View,
  entries: readonly git.TreeEntry[],
  wants: Wants,
  known: ReadonlyMap<string, git.CommitFacts> = new Map(),
) {
  const [commits, modules] = await Promise.all([
    wants.commit || wants.message ? lastCommitsOf(view, entries, known) : known,
    entries.some((entry) => entry.type === 'submodule') ? git.readSubmodules(view.repo, view.ref.commitId) : undefined,
  ])
  return Promise.all(
    entries.map(async (entry): Promise<ContentsResponse> => {
      const commit = commits.get(entry.path)
      const [data, target] = await Promise.all([
        entry.type === 'file' ? contentOf(view, entry, wants) : undefined,
        entry.type === 'symlink' ? git.readLinkTarget(view.repo, entry.id) : undefined,
      ])
      const pointer = data && wants.lfs ? readPointer(data) : undefined
      const shown = wants.content && entry.size <= view.maxBlob ? data : undefined
      return {
        name: entry.name,
        path: entry.path,
        sha: entry.id,
        ...(commit && wants.commit && touched(commit)),
        ...(commit && wants.message && { last_commit_message: commit.message }),
        type: entry.type,
        size: entry.size,
        encoding: shown ? 'base64' : null,
        content: shown?.toString('base64') ?? null,
        target: target ?? null,
        ...addresses(view, entry, modules?.get(entry.path)),
        ...(pointer && { lfs_oid: pointer.oid, lfs_size: pointer.size }),
      }
    }),
  )
}

const touched = (commit: git.CommitFacts) => ({
  last_commit_sha: commit.id,
  last_committer_date: commit.committer.date,
  last_author_date: commit.author.date,
})

function contentOf({ repo, maxBlob }: View, entry: git.TreeEntry, wants: Wants) {
  const wanted = (wants.content && entry.size <= maxBlob) || (wants.lfs && entry.size <= largestPointer)
  return wanted ? git.readBlob(repo, entry.id, entry.size) : undefined
}

function addresses({ links, ref }: View, { path, id, type }: git.TreeEntry, submodule: string | undefined) {
  const isModule = type === 'submodule'
  const self = links.contents(path, ref.name)
  const html = isModule ? null : links.view(path, ref)
  const blob = isModule ? null : links.blob(id)
  return {
    url: self,
    html_url: html,
    git_url: blob,
    download_url: isModule || type === 'dir' ? null : links.download(path, ref),
    submodule_git_url: submodule ?? null,
    _links: { self, git: blob, html },
  }
}

/** Walks through history at once, for one answer. */
const walkers = 4

/** Path → the commit that last touched it. What a history of extraordinary length does not tell in time is missing. */
async function lastCommitsOf(
  { repo, ref }: View,
  entries: readonly git.TreeEntry[],
  known: ReadonlyMap<string, git.CommitFacts>,
) {
  const unknown = entries.filter((entry) => !known.has(entry.path))
  const folders = Map.groupBy(unknown, (entry) => folderOf(entry.path)).entries()
  const byPath = new Map<string, string>()
  const walk = async () => {
    for (const [folder, inside] of folders) {
      const names = inside.map((entry) => entry.name)
      const ids = await git.lastCommits(repo, ref.commitId, folder, names)
      for (const { path, name } of inside) {
        const id = ids.get(name)
        if (id !== undefined) byPath.set(path, id)
      }
    }
  }
  await Promise.all(Array.from({ length: walkers }, walk))
  const found = await git.readCommits(repo, [...new Set(byPath.values())])
  const commits = new Map(found.map((commit) => [commit.id, commit]))
  return new Map([...known, ...[...byPath].map(([path, id]) => [path, commits.get(id) as git.CommitFacts] as const)])
}
