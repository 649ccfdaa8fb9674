import type { Selectable } from 'kysely'
import type { Database, Tx } from '../db/index.ts'
import { Refusal } from '../plugin/index.ts'
import type { AccountRow, IdentityTables } from './actor.ts'
import type { IdentitySettings } from './config.ts'
import { checkEmail, domainConflict, emailFault, emailTaken, isDomainAllowed } from './emails.ts'
import { AccountChanged } from './events.ts'

export type EmailRow = Selectable<IdentityTables['email_address']>

/** E-mail addresses of accounts. An address belongs to one account of the whole host, in any case of its letters. */
export function createAddresses(db: Database, settings: IdentitySettings) {
  /** Stores an address; false when somebody has it. */
  const insert = async (
    tx: Tx,
    accountId: number,
    address: string,
    facts: { primary: boolean; activated: boolean },
  ) => {
    const row = await tx
      .sql<IdentityTables>()
      .insertInto('email_address')
      .values({
        account_id: accountId,
        address,
        lower_address: address.toLowerCase(),
        is_primary: facts.primary,
        is_activated: facts.activated,
      })
      .onConflict((on) => on.column('lower_address').doNothing())
      .returning('id')
      .executeTakeFirst()
    return row !== undefined
  }

  const ofAccount = (tx: Tx, accountId: number) =>
    tx
      .sql<IdentityTables>()
      .selectFrom('email_address')
      .selectAll()
      .where('account_id', '=', accountId)
      .orderBy('id')
      .execute()

  const isAllowed = (address: string): boolean => {
    const { EMAIL_DOMAIN_ALLOWLIST: allow, EMAIL_DOMAIN_BLOCKLIST: block } = settings.get('service')
    return isDomainAllowed(address, allow, block)
  }

  const setPrimary = async (tx: Tx, account: Pick<AccountRow, 'id'>, address: string) => {
    const sql = tx.sql<IdentityTables>()
    await sql
      .updateTable('account')
      .set({ email: address, updated_at: new Date() })
      .where('id', '=', account.id)
      .execute()
    await tx.publish(AccountChanged, { accountId: account.id, fields: ['email'] })
  }

  return {
    /** All addresses of an account in the order in which they were added. */
    list: (accountId: number): Promise<EmailRow[]> =>
      db
        .sql<IdentityTables>()
        .selectFrom('email_address')
        .selectAll()
        .where('account_id', '=', accountId)
        .orderBy('id')
        .execute(),

    /** Whether the operator's domain lists let an address in. */
    isAllowed,

    /** The first address of a new account. @throws Refusal invalid: taken */
    async first(tx: Tx, accountId: number, address: string): Promise<void> {
      if (!(await insert(tx, accountId, address, { primary: true, activated: true }))) throw emailTaken(address)
    },

    /**
     * Adds addresses to an account, by its own wish.
     *
     * @throws Refusal invalid: list empty, malformed, unwanted domain, taken
     */
    async add(tx: Tx, accountId: number, addresses: readonly string[]): Promise<void> {
      if (addresses.length === 0) throw new Refusal('invalid', 'Email list empty')
      const activated = !settings.get('service').REGISTER_EMAIL_CONFIRM
      for (const address of addresses) {
        if (emailFault(address) || !isAllowed(address))
          throw new Refusal('invalid', `Email address "${address}" invalid`)
        if (await insert(tx, accountId, address, { primary: false, activated })) continue
        throw new Refusal('invalid', `Email address has been used: ${address}`)
      }
    },

    /**
     * Takes addresses from an account.
     *
     * @throws Refusal not-found: not one of the account's; invalid: the primary one
     */
    async remove(tx: Tx, accountId: number, addresses: readonly string[]): Promise<void> {
      const sql = tx.sql<IdentityTables>()
      // Against somebody who makes one of them the primary address at this moment.
      await sql.selectFrom('account').select('id').where('id', '=', accountId).forUpdate().execute()
      const own = await ofAccount(tx, accountId)
      for (const address of addresses) {
        const row = own.find((known) => known.lower_address === address.toLowerCase())
        if (!row) throw new Refusal('not-found', `Email address does not exist [email: ${address}]`)
        if (row.is_primary) throw new Refusal('invalid', `Email address is the primary one [email: ${address}]`)
        await sql.deleteFrom('email_address').where('id', '=', row.id).execute()
      }
    },

    /** Makes an activated address of the account its primary one. @throws Refusal not-found */
    async makePrimary(tx: Tx, accountId: number, address: string): Promise<void> {
      const sql = tx.sql<IdentityTables>()
      await sql.selectFrom('account').select('id').where('id', '=', accountId).forUpdate().execute()
      const row = (await ofAccount(tx, accountId)).find(
        (known) => known.lower_address === address.toLowerCase() && known.is_activated,
      )
      if (!row) throw new Refusal('not-found', `Email address does not exist [email: ${address}]`)
      const own = sql.updateTable('email_address').where('account_id', '=', accountId)
      await own.set({ is_primary: false }).where('id', '!=', row.id).execute()
      await own.set({ is_primary: true }).where('id', '=', row.id).execute()
      await setPrimary(tx, { id: accountId }, row.address)
    },

    /**
     * What an administrator's edit does: the old primary address goes, the new one is activated.
     *
     * @throws Refusal bad-request: malformed, unwanted domain, taken
     */
    async replacePrimary(tx: Tx, account: AccountRow, address: string): Promise<void> {
      checkEmail(address, 'bad-request')
      const lower = address.toLowerCase()
      if (lower === account.email.toLowerCase() && address === account.email) return
      if (!isAllowed(address)) throw new Refusal('bad-request', domainConflict(address))
      const sql = tx.sql<IdentityTables>()
      await sql.selectFrom('account').select('id').where('id', '=', account.id).forUpdate().execute()
      await sql
        .deleteFrom('email_address')
        .where('account_id', '=', account.id)
        .where((eb) => eb.or([eb('is_primary', '=', true), eb('lower_address', '=', lower)]))
        .execute()
      if (!(await insert(tx, account.id, address, { primary: true, activated: true }))) {
        throw emailTaken(address, 'bad-request')
      }
      await setPrimary(tx, account, address)
    },
  }
}
export type Addresses = ReturnType<typeof createAddresses>
