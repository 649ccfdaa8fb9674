import { httpConfig } from '#core/http'
import type { Actor } from '#core/identity'
import { git, type RepoAccess } from '#core/repos'
import { createLinks } from './links.ts'
import type { ContentsUse } from './needs.ts'
import { presentEntries, type View, type Wants } from './presenters.ts'
import { cleanPath, type FoundRef, noObject, requireRef } from './refs.ts'

/** Who looks at which repository. */
export type Looking = { readonly repo: RepoAccess; readonly actor: Actor; readonly base: string }

/** Settings of the API, as they are now. */
export const apiSettings = (use: ContentsUse) => use.config.get('api', httpConfig.api)

/** A repository as it is at a ref that was found. */
export function viewAt(use: ContentsUse, { repo, actor, base }: Looking, ref: FoundRef): View {
  const links = createLinks(repo, use.repos.viewer(actor, base).links)
  return { repo: use.repos.open(repo.repo), ref, links, maxBlob: apiSettings(use).DEFAULT_MAX_BLOB_SIZE }
}

/** The same, at the ref that a request names. 404 when there is none. */
export async function viewOf(use: ContentsUse, looking: Looking, ref: string | undefined): Promise<View> {
  const row = looking.repo.repo
  return viewAt(use, looking, await requireRef(use.repos.open(row), row, ref ?? ''))
}

/** What lies at a path: one file, or what a folder holds, each with the details that are wanted of it. 404. */
export async function readPath(view: View, path: string, wants: { readonly file: Wants; readonly folder: Wants }) {
  const { repo, ref } = view
  const clean = cleanPath(path)
  const entry = clean === '' ? undefined : await git.readEntry(repo, ref.commitId, clean)
  if (entry && entry.type !== 'dir') {
    const [file] = await presentEntries(view, [entry], wants.file)
    if (file) return { file }
  }
  const entries = entry || clean === '' ? await git.listDirectory(repo, ref.commitId, clean) : undefined
  if (!entries) throw noObject('', path)
  return { files: await presentEntries(view, entries, wants.folder) }
}
