import type { Database } from '../db/index.ts'
import { type AccountRow, type Actor, accountColumns, type IdentityTables } from './actor.ts'
import { emailFault } from './emails.ts'
import { isNameShaped } from './names.ts'
import type { Visibility } from './visibility.ts'

/** What the name of an account leads to for one viewer. */
export type Found =
  | { readonly kind: 'found'; readonly account: AccountRow }
  /** The account has another name now: 307 to the same path with it. */
  | { readonly kind: 'moved'; readonly name: string }
  /** Missing or hidden: 404, alike for both. */
  | { readonly kind: 'hidden' }

const nobody = { id: 0, visibility: 'private' }

/** Finds accounts. Names and addresses match in any case; texts that can be no name find nothing. */
export function createLookup(db: Database, visibility: Visibility) {
  const rows = () => db.sql<IdentityTables>().selectFrom('account').select(accountColumns)

  const byName = async (name: string): Promise<AccountRow | undefined> =>
    isNameShaped(name) ? rows().where('lower_name', '=', name.toLowerCase()).executeTakeFirst() : undefined
  const byId = async (id: number): Promise<AccountRow | undefined> =>
    Number.isSafeInteger(id) ? rows().where('id', '=', id).executeTakeFirst() : undefined

  const redirectOf = async (name: string): Promise<AccountRow | undefined> => {
    if (!isNameShaped(name)) return undefined
    return db
      .sql<IdentityTables>()
      .selectFrom('account_redirect')
      .innerJoin('account', 'account.id', 'account_redirect.account_id')
      .select(accountColumns.map((column) => `account.${column}` as const))
      .where('account_redirect.lower_name', '=', name.toLowerCase())
      .executeTakeFirst()
  }

  /**
   * What `name` leads to for `actor`: what routes with an account in their path ask. A public-only token finds what
   * its owner may see: that it may go no further is the route's 403.
   */
  const findVisible = async (actor: Actor, name: string): Promise<Found> => {
    const viewer: Actor = { account: actor.account, credential: { method: 'password' } }
    const account = await byName(name)
    // The same questions for a hidden name and for one that nobody has: neither shall answer faster.
    const isSeen = await visibility.canSee(viewer, account ?? nobody)
    if (account && isSeen) return { kind: 'found', account }
    const now = await redirectOf(name)
    if (account || !now || !(await visibility.canSee(viewer, now))) return { kind: 'hidden' }
    return { kind: 'moved', name: now.name }
  }

  /** Accounts by activated address, in one query; the keys are lower-case addresses. */
  const byEmails = async (addresses: Iterable<string>): Promise<Map<string, AccountRow>> => {
    const wanted = [...new Set([...addresses].filter((text) => !emailFault(text)).map((text) => text.toLowerCase()))]
    if (wanted.length === 0) return new Map()
    const found = await db
      .sql<IdentityTables>()
      .selectFrom('email_address')
      .innerJoin('account', 'account.id', 'email_address.account_id')
      .select(accountColumns.map((column) => `account.${column}` as const))
      .select('lower_address')
      .where('lower_address', 'in', wanted)
      .where('is_activated', '=', true)
      .execute()
    return new Map(found.map(({ lower_address, ...account }) => [lower_address, account]))
  }

  return {
    byName,
    byId,
    /** Accounts by id, in one query. */
    async byIds(ids: Iterable<number>): Promise<Map<number, AccountRow>> {
      const wanted = [...new Set(ids)].filter(Number.isSafeInteger)
      if (wanted.length === 0) return new Map()
      const found = await rows().where('id', 'in', wanted).execute()
      return new Map(found.map((row) => [row.id, row]))
    },
    /** Accounts by name, in one query; the keys are lower-case names. */
    async byNames(names: Iterable<string>): Promise<Map<string, AccountRow>> {
      const wanted = [...new Set([...names].filter(isNameShaped).map((name) => name.toLowerCase()))]
      if (wanted.length === 0) return new Map()
      const found = await rows().where('lower_name', 'in', wanted).execute()
      return new Map(found.map((row) => [row.lower_name, row]))
    },
    byEmails,
    /** The account that has an activated address: authors of commits, logins by address. */
    byEmail: async (address: string) => (await byEmails([address])).get(address.toLowerCase()),
    findVisible,

    /** The same without regard to visibility, for routes that answer about private users, too. Redirects keep to it. */
    async findAny(actor: Actor, name: string): Promise<Found> {
      const account = await byName(name)
      return account ? { kind: 'found', account } : findVisible(actor, name)
    },

    /** The account that an old name leads to. */
    redirectOf,
  }
}
export type Lookup = ReturnType<typeof createLookup>

/** The text of the 404 for a name that leads nowhere. */
export const noSuchName = (name: string) => `user redirect does not exist [name: ${name.toLowerCase()}]`
