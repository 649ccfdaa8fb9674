import { toPng } from 'jdenticon'
import { LRUCache } from 'lru-cache'
import type { Tx } from '#core/db'
import type { AccountRow, IdentityTables } from '#core/identity'
import { createPictures, readPicture } from '#core/storage'
import type { AccountsUse } from '../needs.ts'

/**
 * Gives an account the picture that was sent as base64, or with undefined the generated one again.
 *
 * @throws Refusal bad-request (not base64), invalid (no picture, or too large)
 */
export function changePicture(use: AccountsUse, account: AccountRow, base64: string | undefined): Promise<void> {
  const bytes = base64 === undefined ? undefined : readPicture(base64, use.config)
  return createPictures(use.storage, 'avatars').replace(bytes, (name) =>
    use.db.tx((tx) => replaceName(use, tx, account.id, name)),
  )
}

/** Notes the picture of an account; answers the name of the one before it. */
async function replaceName(use: AccountsUse, tx: Tx, accountId: number, name: string | null): Promise<string | null> {
  const accounts = tx.sql<IdentityTables>().selectFrom('account').select('avatar').where('id', '=', accountId)
  const before = await accounts.forUpdate().executeTakeFirst()
  await use.identity.accounts.edit(tx, accountId, { avatar: name })
  return before?.avatar ?? null
}

/** Sides of generated pictures in pixels. A picture of the largest takes a few milliseconds. */
const sides = { least: 16, standard: 256, most: 512 }

const drawn = new LRUCache<string, Buffer>({ maxSize: 16 * 1024 * 1024, sizeCalculation: ({ length }) => length })

/** The side that a query asks for, within bounds. */
export function sideOf(wanted: unknown): number {
  const side = typeof wanted === 'string' && /^\d{1,5}$/.test(wanted) ? Number(wanted) : sides.standard
  return Math.min(Math.max(side, sides.least), sides.most)
}

/** The picture of who has none: the same PNG for the same hash, always. */
export function identicon(hash: string, side: number): Buffer {
  const key = `${hash} ${side}`
  const known = drawn.get(key)
  if (known) return known
  const picture = toPng(hash, side)
  drawn.set(key, picture)
  return picture
}
