import { randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { imageSize } from 'image-size'
import type { Config } from '../config/index.ts'
import { Refusal } from '../plugin/index.ts'
import type { Storage } from './storage.ts'

/** Keys of app.ini that this room reads. */
export const storageConfig = {
  picture: Type.Object({
    AVATAR_MAX_WIDTH: Type.Integer({ default: 4096, minimum: 1, description: 'Most pixels across of a picture.' }),
    AVATAR_MAX_HEIGHT: Type.Integer({ default: 4096, minimum: 1, description: 'Most pixels down of a picture.' }),
  }),
}

/** What a picture may be, and what it is served as. */
const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
}

const alphabet = /[^A-Za-z0-9+/]/

/** First bytes by kind: only these are looked into any further. */
const signatures: readonly RegExp[] = [/^\x89PNG\r\n/, /^\xff\xd8/, /^GIF8[79]a/, /^RIFF.{4}WEBP/s]
/** Where the size of a picture must stand: a broken one is searched byte by byte. */
const lookedInto = 128 * 1024

/**
 * Reads a picture that was sent as base64.
 *
 * @param config asked for the largest sides
 * @throws Refusal bad-request (not base64), invalid (no picture of a known kind, or too large)
 */
export function readPicture(base64: string, config: Pick<Config, 'get'>): Buffer {
  const text = base64.replace(/\s+/g, '')
  let end = text.length
  while (text[end - 1] === '=') end--
  const wrong = alphabet.exec(text.slice(0, end))
  if (wrong) throw new Refusal('bad-request', `illegal base64 data at input byte ${wrong.index}`)
  const bytes = Buffer.from(text, 'base64')
  const { type, width, height } = measured(bytes)
  if (!types[type]) throw new Refusal('invalid', 'the image is none of png, jpeg, gif and webp')
  const { AVATAR_MAX_WIDTH: widest, AVATAR_MAX_HEIGHT: highest } = config.get('picture', storageConfig.picture)
  if (width > widest || height > highest) {
    throw new Refusal('invalid', `the image is larger than ${widest} × ${highest} pixels`)
  }
  return bytes
}

function measured(bytes: Buffer): { type: string; width: number; height: number } {
  const start = bytes.toString('latin1', 0, 16)
  if (!signatures.some((signature) => signature.test(start))) return { type: '', width: 0, height: 0 }
  try {
    const { type = '', width, height } = imageSize(bytes.subarray(0, lookedInto))
    return { type, width, height }
  } catch {
    throw new Refusal('invalid', 'the image cannot be read; send png, jpeg, gif or webp')
  }
}

/**
 * Where pictures of one kind are kept. Each upload has a random name of its own: it is never shared, so a picture can
 * be deleted as soon as it is replaced.
 */
export function createPictures(storage: Storage, folder: 'avatars' | 'repo-avatars') {
  const keyOf = (name: string) => `${folder}/${name.slice(0, 2)}/${name}`
  return {
    /**
     * Replaces a picture.
     *
     * @param bytes the new one; undefined for none
     * @param note records the new name, or null, and answers the name before it
     */
    async replace(bytes: Buffer | undefined, note: (name: string | null) => Promise<string | null>): Promise<void> {
      const name = bytes ? randomBytes(32).toString('hex') : null
      if (bytes && name) await storage.put(keyOf(name), bytes)
      try {
        const before = await note(name)
        if (before) await storage.delete(keyOf(before))
      } catch (error) {
        // Nobody knows of the new picture: what it belongs to went away, or the database did.
        if (name) await storage.delete(keyOf(name))
        throw error
      }
    },
    delete: (name: string) => storage.delete(keyOf(name)),
    /** The picture and its media type; undefined when there is none of that name. */
    async get(name: string) {
      if (!/^[0-9a-f]{64}$/.test(name)) return undefined
      const found = await storage.get(keyOf(name))
      if (!found) return undefined
      const parts: Buffer[] = []
      for await (const part of found.stream) parts.push(part as Buffer)
      const bytes = Buffer.concat(parts)
      return { bytes, type: types[measured(bytes).type] ?? 'application/octet-stream', modified: found.modified }
    },
  }
}
