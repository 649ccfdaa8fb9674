import { Secret, TOTP } from 'otpauth'
import type { Database, Tx } from '../db/index.ts'
import type { IdentityTables } from './actor.ts'

/** Seals secrets for the database: core/config's, made from the host's secret key. */
export type SecretBox = { seal(plain: Buffer): Buffer; open(sealed: Buffer): Buffer }

const period = 30
/** Steps of 30 s that a client's clock may be off. */
const drift = 1

const device = (secret: Secret, label = '') =>
  new TOTP({ issuer: 'Switchyard', label, secret, period, digits: 6, algorithm: 'SHA1' })

/** The second factor: one-time codes. */
export function createTotp(db: Database, secrets: SecretBox) {
  return {
    /**
     * Gives an account a device, in place of the one it may have.
     *
     * @returns the secret in base32 and the address that authenticator apps read from a QR code; shown once
     */
    async enrol(tx: Tx, accountId: number, name: string): Promise<{ secret: string; uri: string }> {
      const secret = new Secret({ size: 20 })
      const sealed = secrets.seal(Buffer.from(secret.bytes))
      await tx
        .sql<IdentityTables>()
        .insertInto('totp_device')
        .values({ account_id: accountId, secret: sealed, last_step: 0 })
        .onConflict((on) => on.column('account_id').doUpdateSet({ secret: sealed, last_step: 0 }))
        .execute()
      return { secret: secret.base32, uri: device(secret, name).toString() }
    },

    /** Takes the device away; nothing happens when there is none. */
    async remove(tx: Tx, accountId: number): Promise<void> {
      await tx.sql<IdentityTables>().deleteFrom('totp_device').where('account_id', '=', accountId).execute()
    },

    /**
     * Accepts a code once. Of any number of parallel uses, in any number of processes, one is answered true:
     * the row's last step only grows.
     */
    async use(accountId: number, sealed: Uint8Array, code: string): Promise<boolean> {
      if (!/^\d{6}$/.test(code)) return false
      const delta = device(new Secret({ buffer: new Uint8Array(secrets.open(Buffer.from(sealed))).buffer })).validate({
        token: code,
        window: drift,
      })
      if (delta === null) return false
      const step = TOTP.counter({ period }) + delta
      const used = await db
        .sql<IdentityTables>()
        .updateTable('totp_device')
        .set({ last_step: step })
        .where('account_id', '=', accountId)
        .where('last_step', '<', step)
        .executeTakeFirst()
      return used.numUpdatedRows === 1n
    },
  }
}
export type Totp = ReturnType<typeof createTotp>
