import type { Selectable } from 'kysely'
import { type Database, readPage, type Tx, type Window } from '../db/index.ts'
import { Refusal } from '../plugin/index.ts'
import type { IdentityTables } from './actor.ts'
import { parsePublicKey } from './ssh-keys.ts'

/** Which keys a list shows. */
export type KeyFilter = { readonly accountId?: number; readonly fingerprint?: string }

export type SshKeyRow = Selectable<IdentityTables['ssh_key']>

/** SSH keys of users. A key belongs to one account of the whole host. */
export function createKeys(db: Database) {
  const rows = () => db.sql<IdentityTables>().selectFrom('ssh_key').selectAll()
  return {
    /** @throws Refusal invalid: malformed, or content or title used already */
    async add(tx: Tx, accountId: number, key: { title: string; content: string }): Promise<SshKeyRow> {
      const { content, comment, fingerprint } = parsePublicKey(key.content)
      const sql = tx.sql<IdentityTables>()
      const row = await sql
        .insertInto('ssh_key')
        .values({ account_id: accountId, title: key.title, content, comment, fingerprint })
        .onConflict((on) => on.doNothing())
        .returningAll()
        .executeTakeFirst()
      if (row) return row
      const same = await sql
        .selectFrom('ssh_key')
        .select('id')
        .where('fingerprint', '=', fingerprint)
        .executeTakeFirst()
      throw new Refusal('invalid', same ? 'Key content has been used as non-deploy key' : 'Key title has been used')
    },
    /** Keys in the order of their making: of an account, of a fingerprint, or both. */
    list(filter: KeyFilter, window: Window): Promise<{ rows: SshKeyRow[]; total: number }> {
      const { accountId, fingerprint } = filter
      const own = accountId === undefined ? rows() : rows().where('account_id', '=', accountId)
      const found = fingerprint === undefined ? own : own.where('fingerprint', '=', fingerprint)
      return readPage(found.orderBy('id'), window)
    },
    byId: async (id: number): Promise<SshKeyRow | undefined> =>
      Number.isSafeInteger(id) ? rows().where('id', '=', id).executeTakeFirst() : undefined,
    byFingerprint: (fingerprint: string): Promise<SshKeyRow | undefined> =>
      rows().where('fingerprint', '=', fingerprint).executeTakeFirst(),
    /** Deletes a key of an account; false when it has none with that id. */
    async remove(tx: Tx, accountId: number, id: number): Promise<boolean> {
      if (!Number.isSafeInteger(id)) return false
      const sql = tx.sql<IdentityTables>()
      const gone = await sql
        .deleteFrom('ssh_key')
        .where('account_id', '=', accountId)
        .where('id', '=', id)
        .executeTakeFirst()
      return gone.numDeletedRows > 0n
    },
  }
}
export type Keys = ReturnType<typeof createKeys>
