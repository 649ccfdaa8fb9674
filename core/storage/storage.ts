import type { Readable } from 'node:stream'
import { service } from '../plugin/index.ts'

export type StoredFacts = { readonly size: number; readonly modified: Date }
/** Read `stream` to its end or destroy it: it holds a file open. */
export type StoredObject = StoredFacts & { readonly stream: Readable }
export type Written = { readonly size: number; readonly sha256: string }

export type PutOptions = {
  /** Hexadecimal digest that the content must have; otherwise nothing is stored and a Refusal (invalid) is thrown. */
  readonly sha256?: string
}

/**
 * Bytes under keys: attachments, packages, artifacts. Keys are the host's own, never a user's text:
 * `^[a-z0-9][a-z0-9/._-]*$` without empty, `.` or `..` parts; any other key is a Refusal (invalid).
 */
export type Storage = {
  /** Stores the whole object or nothing; once it resolves, the object survives a power cut. Replaces an older one. */
  put(key: string, content: Readable | Uint8Array, options?: PutOptions): Promise<Written>
  /** `range` in bytes, both ends included. Undefined: there is no such object. */
  get(key: string, range?: { start: number; end: number }): Promise<StoredObject | undefined>
  stat(key: string): Promise<StoredFacts | undefined>
  /** @returns whether there was one */
  delete(key: string): Promise<boolean>
  /** Deletes everything below a prefix that ends with `/`; it is invisible at once. */
  deletePrefix(prefix: string): Promise<void>
  /** Keys below a prefix that ends with `/` (or all, for `''`), in no set order. */
  list(prefix: string): AsyncIterableIterator<string>
}

export const Storage = service<Storage>('storage.storage')
