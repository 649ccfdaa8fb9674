import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, opendir, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { Refusal } from '../plugin/index.ts'
import { checkKey, checkPrefix } from './keys.ts'
import type { Storage } from './storage.ts'

/** No key starts with a dot, so nothing in this folder is ever an object. */
const temporary = '.tmp'
const hourMs = 3_600_000

export type DiskStorage = { readonly storage: Storage; close(): void }

type DiskOptions = {
  /** Made when it is missing. Everything below it belongs to the store. */
  readonly root: string
  readonly log: { error(message: string, error: unknown): void }
}

/** Opens the store in a local folder. What a killed process left half written is removed when it is an hour old. */
export async function openDiskStorage({ root, log }: DiskOptions): Promise<DiskStorage> {
  const workshop = join(root, temporary)
  await mkdir(workshop, { recursive: true, mode: 0o700 })
  const sweep = () => sweepOld(workshop).catch((error) => log.error('sweeping half-written objects failed', error))
  await sweep()
  const timer = setInterval(sweep, hourMs)
  timer.unref()

  const pathOf = (key: string) => {
    checkKey(key)
    return join(root, key)
  }
  const factsOf = async (key: string) => {
    const found = await orNothing(stat(pathOf(key)))
    return found?.isFile() ? { size: found.size, modified: found.mtime } : undefined
  }

  const storage: Storage = {
    async put(key, content, { sha256 } = {}) {
      const path = pathOf(key)
      const draft = join(workshop, randomUUID())
      try {
        const written = await writeDraft(draft, content)
        if (sha256 !== undefined && sha256.toLowerCase() !== written.sha256) {
          throw new Refusal('invalid', `the content has the SHA-256 ${written.sha256}, not ${sha256}`)
        }
        await publish(root, draft, path)
        return written
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    },
    async get(key, range) {
      const handle = await orNothing(open(pathOf(key), 'r'))
      if (!handle) return undefined
      const found = await handle.stat()
      if (!found.isFile()) {
        await handle.close()
        return undefined
      }
      return { stream: handle.createReadStream(range ?? {}), size: found.size, modified: found.mtime }
    },
    stat: factsOf,
    async delete(key) {
      if (!(await factsOf(key))) return false
      return (await orNothing(unlink(pathOf(key)).then(() => true))) ?? false
    },
    async deletePrefix(prefix) {
      checkPrefix(prefix)
      const condemned = join(workshop, randomUUID())
      const moved = await orNothing(rename(join(root, prefix.slice(0, -1)), condemned).then(() => true))
      if (moved) await rm(condemned, { recursive: true, force: true })
    },
    async *list(prefix) {
      if (prefix !== '') checkPrefix(prefix)
      yield* walk(root, prefix)
    },
  }
  return { storage, close: () => clearInterval(timer) }
}

async function writeDraft(draft: string, content: Readable | Uint8Array) {
  const hash = createHash('sha256')
  let size = 0
  const metered = async function* () {
    for await (const chunk of content instanceof Readable ? content : [content]) {
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(metered())
    await file.sync()
  } finally {
    await file.close()
  }
  return { size, sha256: hash.digest('hex') }
}

/** Moves a complete file to its place, and makes the move durable. */
async function publish(root: string, draft: string, path: string): Promise<void> {
  const folder = dirname(path)
  // `deletePrefix` in another process may take the folder away between the two steps.
  for (let attempt = 1; ; attempt++) {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      await rename(draft, path)
    } catch (error) {
      if (codeOf(error) === 'ENOENT' && attempt < 5) continue
      throw error
    }
    const top = made ? dirname(made) : folder
    for (let at = folder; at.length >= Math.max(top.length, root.length); at = dirname(at)) await syncFolder(at)
    return
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder: FileHandle | undefined = await orNothing(open(path, 'r'))
  try {
    await folder?.sync()
  } finally {
    await folder?.close()
  }
}

async function* walk(root: string, prefix: string): AsyncIterableIterator<string> {
  const folder = await orNothing(opendir(join(root, prefix)))
  if (!folder) return
  for await (const entry of folder) {
    if (prefix === '' && entry.name === temporary) continue
    if (entry.isDirectory()) yield* walk(root, `${prefix}${entry.name}/`)
    else if (entry.isFile()) yield prefix + entry.name
  }
}

async function sweepOld(workshop: string): Promise<void> {
  for await (const entry of await opendir(workshop)) {
    const path = join(workshop, entry.name)
    const found = await orNothing(stat(path))
    if (found && Date.now() - found.mtimeMs > hourMs) await rm(path, { recursive: true, force: true })
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** Undefined where there is no such file. */
async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}
