import { Refusal } from '../../plugin/index.ts'
import type { GitRepo } from './git.ts'
import { readTreePath } from './names.ts'

export type EntryType = 'file' | 'dir' | 'symlink' | 'submodule'

export type TreeEntry = {
  /** Name in its folder. */
  readonly name: string
  /** From the top. */
  readonly path: string
  readonly type: EntryType
  /** Six octal digits: 100644, 100755, 120000, 160000, 040000. */
  readonly mode: string
  readonly id: string
  /** Bytes of a file or symlink; 0 for folders and submodules. */
  readonly size: number
}

/** An entry as its folder's object holds it, without the size. */
export type RawEntry = { readonly name: string; readonly mode: string; readonly id: string }

/** Trees above this are refused: about half a million entries in one folder. */
const treeLimit = 32 * 2 ** 20

export function entryType(mode: string): EntryType {
  if (mode === '040000') return 'dir'
  if (mode === '120000') return 'symlink'
  return mode === '160000' ? 'submodule' : 'file'
}

/** The entries of a tree object; undefined when the name leads to no tree. `name`: tree or commit id. */
export async function readTree(repo: GitRepo, name: string): Promise<RawEntry[] | undefined> {
  const object = await repo.objects.read(`${name}^{tree}`, treeLimit)
  return object && parseTree(object.data, object.id.length / 2)
}

function parseTree(data: Buffer, idLength: number): RawEntry[] {
  const entries: RawEntry[] = []
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(0x20, at)
    const end = data.indexOf(0, space)
    if (space < 0 || end < 0 || end + idLength >= data.length + 1) throw new Refusal('invalid', 'tree is damaged')
    entries.push({
      mode: data.toString('latin1', at, space).padStart(6, '0'),
      name: data.toString('utf8', space + 1, end),
      id: data.toString('hex', end + 1, end + 1 + idLength),
    })
    at = end + 1 + idLength
  }
  return entries
}

/** One entry by path, without its size; the top is `{ mode: '040000' }`. Never follows links. */
export async function findEntry(repo: GitRepo, commit: string, path: string): Promise<RawEntry | undefined> {
  const clean = readTreePath(path)
  if (clean === undefined) return undefined
  const top = await repo.objects.info(`${commit}^{tree}`)
  if (!top) return undefined
  let entry: RawEntry = { name: '', mode: '040000', id: top.id }
  for (const name of clean === '' ? [] : clean.split('/')) {
    if (entry.mode !== '040000') return undefined
    const next = (await readTree(repo, entry.id))?.find((candidate) => candidate.name === name)
    if (!next) return undefined
    entry = next
  }
  return entry
}

/** One entry with its size; undefined when nothing is there. `path` '' is the top. */
export async function readEntry(repo: GitRepo, commit: string, path: string): Promise<TreeEntry | undefined> {
  const entry = await findEntry(repo, commit, path)
  return entry && withSize(repo, entry, (readTreePath(path) as string).split('/').slice(0, -1).join('/'))
}

async function withSize(repo: GitRepo, entry: RawEntry, folder: string): Promise<TreeEntry> {
  const type = entryType(entry.mode)
  const info = type === 'file' || type === 'symlink' ? await repo.objects.info(entry.id) : undefined
  return { ...entry, path: folder === '' ? entry.name : `${folder}/${entry.name}`, type, size: info?.size ?? 0 }
}

/** A folder's entries with sizes, in git's order; undefined when there is no such folder. No process. */
export async function listDirectory(repo: GitRepo, commit: string, path = ''): Promise<TreeEntry[] | undefined> {
  const entry = await findEntry(repo, commit, path)
  if (entry?.mode !== '040000') return undefined
  const entries = (await readTree(repo, entry.id)) ?? []
  const folder = readTreePath(path) as string
  return Promise.all(entries.map((each) => withSize(repo, each, folder)))
}

export type TreePage = {
  readonly entries: readonly TreeEntry[]
  /** Of all pages. */
  readonly total: number
}

export type ListTreeOptions = {
  readonly recursive?: boolean | undefined
  readonly skip?: number | undefined
  readonly limit?: number | undefined
}

/** A page of a tree, recursive ones with their folders before their content (ls-tree -r -t). One process. */
export async function listTree(repo: GitRepo, treeish: string, options: ListTreeOptions = {}): Promise<TreePage> {
  const top = await repo.objects.info(`${treeish}^{tree}`)
  if (!top) throw new Refusal('not-found', `object does not exist [id: ${treeish}]`)
  const process = await repo.start([
    'ls-tree',
    '-z',
    '-l',
    '--full-tree',
    ...(options.recursive ? ['-r', '-t'] : []),
    '--end-of-options',
    top.id,
  ])
  process.stdin.end()
  const first = options.skip ?? 0
  const last = first + (options.limit ?? Number.POSITIVE_INFINITY)
  const entries: TreeEntry[] = []
  let total = 0
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let at = 0
    for (let end = data.indexOf(0); end >= 0; end = data.indexOf(0, at)) {
      if (total >= first && total < last) entries.push(parseLine(data.toString('utf8', at, end)))
      total += 1
      at = end + 1
    }
    rest = data.subarray(at)
  }
  await process.done
  return { entries, total }
}

/** `100644 blob <id>      12\tpath` */
function parseLine(line: string): TreeEntry {
  const tab = line.indexOf('\t')
  const [mode = '', , id = '', size = '-'] = line.slice(0, tab).split(/ +/)
  const path = line.slice(tab + 1)
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    type: entryType(mode),
    mode,
    id,
    size: size === '-' ? 0 : Number(size),
  }
}

/** Where a symlink points to, as written. */
export async function readLinkTarget(repo: GitRepo, id: string): Promise<string | undefined> {
  return (await repo.objects.read(id, 65_536))?.data.toString('utf8')
}

/** Path → URL of every submodule that .gitmodules names; empty without such a file or with a broken one. */
export async function readSubmodules(repo: GitRepo, commit: string): Promise<Map<string, string>> {
  const entry = await findEntry(repo, commit, '.gitmodules')
  if (!entry || entryType(entry.mode) !== 'file') return new Map()
  const { code, stdout } = await repo.run(
    ['config', '--null', '--blob', entry.id, '--get-regexp', '^submodule\\..*\\.(path|url)$'],
    {
      accept: [0, 1, 128],
      limit: 2 ** 20,
    },
  )
  if (code !== 0) return new Map()
  const modules = new Map<string, { path?: string; url?: string }>()
  for (const record of stdout.toString('utf8').split('\0')) {
    const match = /^submodule\.([\s\S]*)\.(path|url)\n([\s\S]*)$/.exec(record)
    if (match) modules.set(match[1] as string, { ...modules.get(match[1] as string), [match[2] as string]: match[3] })
  }
  return new Map([...modules.values()].flatMap(({ path, url }) => (path && url ? [[path, url] as const] : [])))
}
