import type { ObjectType } from './cat-file.ts'
import type { GitRepo } from './git.ts'
import { isRefName, refNameFault } from './names.ts'

export type Revision = {
  /** What the text names; `full`: a full ref name outside branches and tags. */
  readonly kind: 'branch' | 'tag' | 'commit' | 'full'
  /** Full ref name; undefined for object ids. */
  readonly ref: string | undefined
  /** Short name of the branch or tag, or the text as given. */
  readonly name: string
  /** What it points to: a commit, or the tag object of an annotated tag, or whatever the id names. */
  readonly objectId: string
  readonly objectType: ObjectType
  /** The commit behind it. */
  readonly commitId: string
}

export type ResolveOptions = {
  /** Accept shortened object ids of at least 4 digits. Default true. */
  readonly short?: boolean | undefined
}

/** Could this text reach git as something else than a name: an option, a revision expression, a path? */
function isPlain(text: string) {
  return !text.startsWith('-') && refNameFault(text) === undefined
}

/**
 * What a ref text of a request means: a branch, else a tag, else a commit id (full or short), else HEAD or a full
 * ref name. undefined when it means no commit; never an error, whatever the text.
 */
export async function resolveRevision(
  repo: GitRepo,
  text: string,
  options: ResolveOptions = {},
): Promise<Revision | undefined> {
  if (!isPlain(text)) return undefined
  const isId = /^[0-9a-fA-F]{4,64}$/.test(text) && (options.short !== false || text.length === 40 || text.length === 64)
  // All questions leave in one write, so a miss costs no further round trip.
  const [branch, tag, commit, full] = await Promise.all([
    resolveRef(repo, `refs/heads/${text}`, 'branch', text),
    resolveRef(repo, `refs/tags/${text}`, 'tag', text),
    isId ? resolveId(repo, text) : undefined,
    text === 'HEAD' || isRefName(text) ? resolveRef(repo, text, 'full', text) : undefined,
  ])
  return branch ?? tag ?? commit ?? full
}

/** A branch by its short name. */
export function resolveBranch(repo: GitRepo, name: string): Promise<Revision | undefined> {
  return isPlain(name) ? resolveRef(repo, `refs/heads/${name}`, 'branch', name) : Promise.resolve(undefined)
}

/** A tag by its short name; `objectId` is the tag object of an annotated one. */
export function resolveTag(repo: GitRepo, name: string): Promise<Revision | undefined> {
  return isPlain(name) ? resolveRef(repo, `refs/tags/${name}`, 'tag', name) : Promise.resolve(undefined)
}

async function resolveRef(
  repo: GitRepo,
  ref: string,
  kind: Revision['kind'],
  name: string,
): Promise<Revision | undefined> {
  const [object, commit] = await Promise.all([repo.objects.info(ref), repo.objects.info(`${ref}^{commit}`)])
  if (!object || !commit) return undefined
  const known =
    ref === 'HEAD' ? kind : ref.startsWith('refs/heads/') ? 'branch' : ref.startsWith('refs/tags/') ? 'tag' : kind
  const short = known === 'branch' ? ref.slice(11) : known === 'tag' ? ref.slice(10) : name
  return { kind: known, ref, name: short, objectId: object.id, objectType: object.type, commitId: commit.id }
}

async function resolveId(repo: GitRepo, text: string): Promise<Revision | undefined> {
  const id = text.toLowerCase()
  const [object, commit] = await Promise.all([repo.objects.info(id), repo.objects.info(`${id}^{commit}`)])
  // A short id means the object that begins with it, and nothing that merely has such a name.
  if (!object?.id.startsWith(id) || !commit) return undefined
  return {
    kind: 'commit',
    ref: undefined,
    name: text,
    objectId: object.id,
    objectType: object.type,
    commitId: commit.id,
  }
}

/** Is it a complete object id, sha1 or sha256? */
export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}
