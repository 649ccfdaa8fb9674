import { Readable } from 'node:stream'
import type { ObjectInfo } from './cat-file.ts'
import type { GitRepo } from './git.ts'

/** Up to here a blob comes from the pool in one piece, above it from a process of its own as a stream. */
const pooled = 1024 * 1024

/** Size of a blob; undefined when the id names none. Only object ids, no expressions. */
export async function blobInfo(repo: GitRepo, id: string): Promise<ObjectInfo | undefined> {
  if (!/^[0-9a-f]{40,64}$/.test(id)) return undefined
  const info = await repo.objects.info(id)
  return info?.type === 'blob' ? info : undefined
}

/**
 * A blob's bytes; undefined when the id names none. Refusal('too-large') above `limit` bytes (default 8 MiB):
 * ask blobInfo first where large is a normal answer.
 */
export async function readBlob(repo: GitRepo, id: string, limit?: number): Promise<Buffer | undefined> {
  if (!/^[0-9a-f]{40,64}$/.test(id)) return undefined
  const object = await repo.objects.read(id, limit)
  return object?.type === 'blob' ? object.data : undefined
}

export type BlobStream = ObjectInfo & { readonly stream: Readable }

/** A blob of any size as a stream; memory stays small. undefined when the id names none. */
export async function streamBlob(repo: GitRepo, id: string): Promise<BlobStream | undefined> {
  const info = await blobInfo(repo, id)
  if (!info) return undefined
  if (info.size <= pooled) {
    const object = await repo.objects.read(info.id, pooled)
    return object && { ...info, stream: Readable.from([object.data], { objectMode: false }) }
  }
  return { ...info, stream: await repo.stream(['cat-file', 'blob', info.id]) }
}

/** Text, as git and every viewer decide it: no NUL among the first 8000 bytes. */
export function isText(head: Buffer): boolean {
  return !head.subarray(0, 8000).includes(0)
}
