import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Refusal } from '../../plugin/index.ts'
import type { ObjectType } from './cat-file.ts'
import { type CommitFacts, readCommit, readTag, type TagFacts } from './commit.ts'
import type { GitRepo } from './git.ts'
import { isBranchName, isRefName, refNameFault } from './names.ts'
import { isObjectId } from './revision.ts'
import { GitFailure } from './run.ts'

export type Ref = {
  /** Full name. */
  readonly name: string
  readonly objectId: string
  readonly objectType: ObjectType
  /** The object behind all tags; equals objectId for everything that is no annotated tag. */
  readonly peeledId: string
  readonly peeledType: ObjectType
}

export type RefWithFacts = Ref & {
  /** undefined when the ref leads to no commit, or to one that is too large to be read. */
  readonly commit: CommitFacts | undefined
  /** Present for annotated tags that are not too large to be read. */
  readonly tag: TagFacts | undefined
}

export type ListRefsOptions = {
  /** Beginnings of full names, e.g. `refs/heads/`; `refs/heads/ma` finds main. Default: all refs. */
  readonly prefixes?: readonly string[] | undefined
  readonly limit?: number | undefined
}

const format = ['%(refname)', '%(objectname)', '%(objecttype)', '%(*objectname)', '%(*objecttype)'].join('%00')

/** Refs in order of their names, one git command. Our internal refs/switchyard is left out. */
export async function listRefs(repo: GitRepo, { prefixes = [], limit }: ListRefsOptions = {}): Promise<Ref[]> {
  if (!prefixes.every((prefix) => prefix.startsWith('refs/') && !refNameFault(prefix.replace(/\/$/, '')))) return []
  // for-each-ref matches whole components, so it gets the folders and we look at the rest.
  const folders = prefixes.map((prefix) => prefix.slice(0, prefix.lastIndexOf('/') + 1))
  const output = await repo.text(['for-each-ref', `--format=${format}`, ...folders])
  const refs: Ref[] = []
  for (const line of output === '' ? [] : output.split('\n')) {
    const [name = '', objectId = '', type, peeledId, peeledType] = line.split('\0')
    if (name.startsWith('refs/switchyard/')) continue
    if (prefixes.length > 0 && !prefixes.some((prefix) => name.startsWith(prefix))) continue
    const objectType = type as ObjectType
    refs.push({
      name,
      objectId,
      objectType,
      peeledId: peeledId || objectId,
      peeledType: (peeledType as ObjectType) || objectType,
    })
    if (limit !== undefined && refs.length >= limit) break
  }
  // git 2.39 peels one layer; a tag of a tag is rare enough for a second look.
  return Promise.all(refs.map((ref) => (ref.peeledType === 'tag' ? peel(repo, ref) : ref)))
}

async function peel(repo: GitRepo, ref: Ref): Promise<Ref> {
  const last = await repo.objects.info(`${ref.objectId}^{}`)
  return last ? { ...ref, peeledId: last.id, peeledType: last.type } : ref
}

/** Adds what the commits and tags say: pipelined reads of the pool, no further process. */
export function readRefFacts(repo: GitRepo, refs: readonly Ref[]): Promise<RefWithFacts[]> {
  return Promise.all(
    refs.map(async (ref) => {
      const [commit, tag] = await Promise.all([
        ref.peeledType === 'commit' ? readCommit(repo, ref.peeledId).catch(unlessTooLarge) : undefined,
        ref.objectType === 'tag' ? readTag(repo, ref.objectId).catch(unlessTooLarge) : undefined,
      ])
      return { ...ref, commit, tag }
    }),
  )
}

/** A message of megabytes is nothing to be shown; its ref is there all the same. */
function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof Refusal && error.kind === 'too-large')) throw error
}

/** Several refs by full name: name → ref, missing ones left out. No process. */
export async function readRefs(repo: GitRepo, names: readonly string[]): Promise<Map<string, Ref>> {
  const found = await Promise.all(names.map((name) => readRef(repo, name)))
  return new Map(found.filter((ref) => ref !== undefined).map((ref) => [ref.name, ref]))
}

/** One ref by full name. */
export async function readRef(repo: GitRepo, name: string): Promise<Ref | undefined> {
  if (!isRefName(name)) return undefined
  const [object, peeled] = await Promise.all([repo.objects.info(name), repo.objects.info(`${name}^{}`)])
  if (!object) return undefined
  return {
    name,
    objectId: object.id,
    objectType: object.type,
    peeledId: peeled?.id ?? object.id,
    peeledType: peeled?.type ?? object.type,
  }
}

export type RefUpdate = {
  /** Full name. */
  readonly ref: string
  /** null deletes. */
  readonly to: string | null
  /** What it must be now: an id, null = must not exist, undefined = whatever it is. */
  readonly from?: string | null | undefined
}

/** A ref was not what the update expected, or is in the way of another. */
export class RefConflict extends Refusal {
  readonly ref: string
  /** `moved`: another value; `exists`: already there; `prefix`: `a` stands in the way of `a/b`; `locked`: busy. */
  readonly why: 'moved' | 'exists' | 'prefix' | 'locked'
  constructor(ref: string, why: RefConflict['why'], message: string) {
    super('conflict', message)
    this.ref = ref
    this.why = why
  }
}

/**
 * Moves, creates and deletes refs in one transaction: all or none. Throws RefConflict, or Refusal('invalid') for a
 * name or an object that git does not take. On return the change is on disk.
 */
export async function updateRefs(repo: GitRepo, updates: readonly RefUpdate[]): Promise<void> {
  if (updates.length === 0) return
  const lines = ['start\0']
  for (const { ref, to, from } of updates) {
    if (!isRefName(ref)) throw new Refusal('invalid', `invalid ref name [name: ${ref}]`)
    for (const id of [to, from])
      if (typeof id === 'string' && !isObjectId(id)) throw new Refusal('invalid', `not an object id [id: ${id}]`)
    const zero = '0'.repeat((to ?? from ?? '').length || 40)
    const before = from === undefined ? '' : (from ?? zero)
    lines.push(to === null ? `delete ${ref}\0${before}\0` : `update ${ref}\0${to}\0${before}\0`)
  }
  lines.push('prepare\0commit\0')
  try {
    await repo.run(['update-ref', '--no-deref', '--stdin', '-z'], { input: lines.join('') })
  } catch (error) {
    throw error instanceof GitFailure ? explain(error, updates) : error
  }
  await syncRefFolders(
    repo,
    updates.map(({ ref }) => ref),
  )
}

function explain(error: GitFailure, updates: readonly RefUpdate[]) {
  const text = error.stderr
  const ref = /(?:cannot lock ref|cannot update ref|reference) '([^']+)'/.exec(text)?.[1] ?? updates[0]?.ref ?? ''
  if (/exists; cannot create|cannot process '.*' and '.*' at the same time/.test(text)) {
    return new RefConflict(ref, 'prefix', `a ref with the same beginning exists [name: ${ref}]`)
  }
  if (/reference already exists/.test(text)) return new RefConflict(ref, 'exists', `ref already exists [name: ${ref}]`)
  if (/is at .* but expected|unable to resolve reference|reference is missing/.test(text)) {
    return new RefConflict(ref, 'moved', `ref was changed by somebody else [name: ${ref}]`)
  }
  if (/Unable to create '.*\.lock'|\.lock': File exists/.test(text)) {
    return new RefConflict(ref, 'locked', `ref is being changed by somebody else [name: ${ref}]`)
  }
  if (/nonexistent object|non-commit object|bad object|trying to write/.test(text)) {
    return new Refusal('invalid', `object cannot be referred to [ref: ${ref}]`)
  }
  return error
}

/** Git syncs the files of refs, not the folders that name them. */
export async function syncRefFolders(repo: GitRepo, refs: readonly string[]): Promise<void> {
  const folders = new Set<string>([repo.path])
  for (const ref of refs) {
    for (let at = dirname(ref); at !== '.'; at = dirname(at)) folders.add(join(repo.path, at))
  }
  await Promise.all([...folders].map(syncFolder))
}

/** Writes a folder's entries to disk; a folder that is gone needs none. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** The branch that HEAD names, short; it need not exist. undefined when HEAD is detached. */
export async function readHead(repo: GitRepo): Promise<string | undefined> {
  const { code, stdout } = await repo.run(['symbolic-ref', '--quiet', 'HEAD'], { accept: [0, 1] })
  return code === 0
    ? stdout
        .toString('utf8')
        .trim()
        .replace(/^refs\/heads\//, '')
    : undefined
}

/** Points HEAD to a branch, which need not exist. */
export async function writeHead(repo: GitRepo, branch: string): Promise<void> {
  if (!isBranchName(branch)) throw new Refusal('invalid', `invalid branch name [name: ${branch}]`)
  await repo.run(['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  await syncFolder(repo.path)
}
