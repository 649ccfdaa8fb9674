import type { Readable } from 'node:stream'
import { Refusal } from '../../plugin/index.ts'
import type { GitRepo } from './git.ts'
import { cleanTreePath, isGitControlFile } from './names.ts'
import { entryType, type RawEntry, readTree } from './tree.ts'

/** Bytes in memory, or a stream whose length is known. A stream can be read once: such a write is not repeated. */
export type Content = Uint8Array | { readonly size: number; readonly stream: Readable }

export type Change =
  | {
      /** create: nothing may be there; update: a file must be there; upload: either. */
      readonly operation: 'create' | 'update' | 'upload'
      readonly path: string
      readonly content: Content
      /** Blob id that the file must have now (update, upload). */
      readonly sha?: string | undefined
      /** update: the file's path until now. */
      readonly fromPath?: string | undefined
      /** Default: as the file was, else not executable. */
      readonly executable?: boolean | undefined
    }
  | {
      readonly operation: 'rename'
      readonly path: string
      readonly fromPath: string
      readonly sha?: string | undefined
      /** Default: as it was. */
      readonly content?: Content | undefined
    }
  | { readonly operation: 'delete'; readonly path: string; readonly sha?: string | undefined }

/** A checked change, in the words of git's index: content by bytes or by the id of a blob that exists. */
export type Step =
  | { readonly path: string; readonly mode: string; readonly content: Content | string }
  | { readonly path: string; readonly mode: null }

export type Plan = {
  readonly steps: readonly Step[]
  /** Paths as cleaned, one per change in their order; what a protection of files looks at. */
  readonly paths: readonly {
    readonly path: string
    readonly fromPath: string | undefined
    readonly operation: Change['operation']
  }[]
}

/** Checks changes against the tree of a commit (null: empty), each one seeing those before it. Throws Refusal. */
export async function planChanges(repo: GitRepo, base: string | null, changes: readonly Change[]): Promise<Plan> {
  const tree = createOverlay(repo, base)
  const steps: Step[] = []
  const paths: Plan['paths'][number][] = []
  for (const change of changes) {
    const path = cleanTreePath(change.path)
    const fromPath = 'fromPath' in change && change.fromPath !== undefined ? cleanTreePath(change.fromPath) : undefined
    paths.push({ path, fromPath, operation: change.operation })
    for (const step of await planChange(tree, change, path, fromPath)) {
      steps.push(step)
      tree.write(step)
    }
  }
  return { steps, paths }
}

async function planChange(tree: Overlay, change: Change, path: string, fromPath: string | undefined): Promise<Step[]> {
  const source = fromPath ?? path
  const before = await tree.find(source)
  if (change.operation === 'delete') {
    const entry = requireFile(before, path)
    matchSha(change.sha, entry)
    return [{ path, mode: null }]
  }
  const mustExist = change.operation === 'update' || change.operation === 'rename' || fromPath !== undefined
  const entry = mustExist ? requireFile(before, source) : before
  if (entry && mustExist) matchSha(change.sha, entry)
  const inPlace = source === path && change.operation !== 'create'
  const target = inPlace ? before : await tree.find(path)
  await tree.requireFolder(path)
  refuseTarget(target, path, change.operation === 'upload' || inPlace)
  if (target && !mustExist && change.operation === 'upload' && 'sha' in change) matchSha(change.sha, target)
  const executable = 'executable' in change ? change.executable : undefined
  const mode = executable === undefined ? (entry?.mode ?? '100644') : executable ? '100755' : '100644'
  const content = change.content ?? tree.contentOf(entry as RawEntry)
  if (mode === '120000' && isGitControlFile(path)) throw new Refusal('invalid', `path must be a file [path: ${path}]`)
  return [...(source === path ? [] : [{ path: source, mode: null } as const]), { path, mode, content }]
}

function requireFile(entry: RawEntry | undefined, path: string): RawEntry {
  if (!entry) throw new Refusal('not-found', `object does not exist [id: , rel_path: ${path}]`)
  const type = entryType(entry.mode)
  if (type === 'dir')
    throw new Refusal('invalid', `a directory exists where you’re trying to create a file [path: ${path}]`)
  if (type === 'submodule') throw new Refusal('invalid', `a submodule cannot be changed as a file [path: ${path}]`)
  return entry
}

function matchSha(given: string | undefined, { id }: RawEntry) {
  if (given && given !== id) throw new Refusal('invalid', `sha does not match [given: ${given}, expected: ${id}]`)
}

function refuseTarget(target: RawEntry | undefined, path: string, mayExist: boolean) {
  if (!target) return
  const type = entryType(target.mode)
  if (type === 'dir')
    throw new Refusal('invalid', `a directory exists where you’re trying to create a file [path: ${path}]`)
  if (type === 'symlink')
    throw new Refusal('invalid', `a symbolic link exists where you’re trying to create a file [path: ${path}]`)
  if (type === 'submodule')
    throw new Refusal('invalid', `a submodule exists where you’re trying to create a file [path: ${path}]`)
  if (!mayExist) throw new Refusal('invalid', `repository file already exists [path: ${path}]`)
}

type Overlay = ReturnType<typeof createOverlay>

/** The base tree with the steps so far laid over it. Every folder is read once. */
function createOverlay(repo: GitRepo, base: string | null) {
  const folders = new Map<string, Promise<ReadonlyMap<string, RawEntry>>>()
  const written = new Map<string, RawEntry | null>()
  const fresh = new Map<RawEntry, Content>()

  function folder(name: string) {
    const known = folders.get(name)
    if (known) return known
    const read = readTree(repo, name).then((entries) => new Map((entries ?? []).map((entry) => [entry.name, entry])))
    folders.set(name, read)
    return read
  }

  async function find(path: string): Promise<RawEntry | undefined> {
    const over = written.get(path)
    if (over !== undefined) return over ?? undefined
    let name = base
    let entry: RawEntry | undefined
    for (const part of path.split('/')) {
      if (name === null) return undefined
      entry = (await folder(name)).get(part)
      if (!entry) return undefined
      name = entry.mode === '040000' ? entry.id : null
    }
    return entry
  }

  async function requireFolder(path: string) {
    const parts = path.split('/').slice(0, -1)
    for (const index of parts.keys()) {
      const above = parts.slice(0, index + 1).join('/')
      const entry = await find(above)
      if (!entry || entry.mode === '040000') continue
      const what = { file: 'file', symlink: 'symbolic link', submodule: 'submodule', dir: 'directory' }[
        entryType(entry.mode)
      ]
      throw new Refusal('invalid', `a ${what} exists where you’re trying to create a subdirectory [path: ${above}]`)
    }
  }

  /** Bytes that this very write brought have no id yet. A stream cannot be read a second time. */
  function contentOf(entry: RawEntry): Content | string {
    const content = fresh.get(entry) ?? entry.id
    if (typeof content === 'string' || content instanceof Uint8Array) return content
    throw new Refusal('invalid', `a file cannot be created and renamed at once [path: ${entry.name}]`)
  }

  function write(step: Step) {
    if (step.mode === null) return void written.set(step.path, null)
    const name = step.path.slice(step.path.lastIndexOf('/') + 1)
    const entry = { name, mode: step.mode, id: typeof step.content === 'string' ? step.content : '' }
    written.set(step.path, entry)
    if (typeof step.content !== 'string') fresh.set(entry, step.content)
    for (let at = step.path.lastIndexOf('/'); at > 0; at = step.path.lastIndexOf('/', at - 1)) {
      const above = step.path.slice(0, at)
      if (written.get(above) == null) written.set(above, { name: above, mode: '040000', id: '' })
    }
  }

  return { find, requireFolder, contentOf, write }
}
