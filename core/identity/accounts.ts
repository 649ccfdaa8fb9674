import { sql as raw, type Updateable } from 'kysely'
import { type Tx, violatedConstraint } from '../db/index.ts'
import { Refusal } from '../plugin/index.ts'
import { type AccountRow, accountColumns, type IdentityTables } from './actor.ts'
import type { Addresses } from './addresses.ts'
import { type IdentitySettings, isVisibility, type VisibilityMode } from './config.ts'
import { checkEmail, domainConflict } from './emails.ts'
import { AccessChanged, AccountChanged, AccountCreated, AccountRenamed } from './events.ts'
import { checkName, nameTaken } from './names.ts'
import type { PasswordHash } from './passwords.ts'

export type AccountKind = 'individual' | 'bot' | 'organization'

/** What a new account may be given; the rest follows from the configuration. */
export type NewAccount = {
  readonly kind?: AccountKind
  readonly name: string
  /** Required for users and bots. */
  readonly email?: string
  /** From `passwords.accept`. Individuals only, who need one unless they come from a login source. */
  readonly password?: PasswordHash
  readonly full_name?: string
  readonly is_admin?: boolean
  readonly is_restricted?: boolean
  readonly must_change_password?: boolean
  readonly visibility?: VisibilityMode
  readonly login_name?: string
  readonly source_id?: number
  readonly website?: string
  readonly location?: string
  readonly description?: string
  readonly created_at?: Date
  /** False: an address of an unwanted domain is let in, as administrators may (they are warned). */
  readonly checkDomain?: boolean
}

/** Columns that an edit may set. Name, address and password have doors of their own. */
export type AccountChanges = Partial<
  Pick<
    AccountRow,
    | 'full_name'
    | 'website'
    | 'location'
    | 'description'
    | 'language'
    | 'theme'
    | 'diff_view_style'
    | 'hide_email'
    | 'hide_activity'
    | 'is_active'
    | 'is_admin'
    | 'is_restricted'
    | 'prohibit_login'
    | 'must_change_password'
    | 'allow_git_hook'
    | 'allow_import_local'
    | 'allow_create_organization'
    | 'max_repo_creation'
    | 'visibility'
    | 'login_name'
    | 'source_id'
    | 'avatar'
    | 'last_login_at'
  >
> & { readonly password?: PasswordHash }

/** Changes after which somebody may see less than before. */
const narrowing = ['is_active', 'is_admin', 'is_restricted', 'prohibit_login', 'visibility']

export const lastAdmin = (id: number, kind: 'invalid' | 'bad-request') =>
  new Refusal(kind, `can not delete the last admin user [uid: ${id}]`)

/** Locks all administrators and answers their ids: two of them cannot go at the same time. */
export async function lockAdmins(tx: Tx): Promise<number[]> {
  const admins = tx.sql<IdentityTables>().selectFrom('account').select('id').where('is_admin', '=', true)
  return (await admins.where('kind', '=', 'individual').orderBy('id').forUpdate().execute()).map((row) => row.id)
}

/** Making and changing accounts. Every write here is one of the caller's transaction. */
export function createAccounts(settings: IdentitySettings, addresses: Addresses) {
  const checkVisibility = (mode: string, kind: string) => {
    const allowed =
      kind === 'organization' || settings.get('service').ALLOWED_USER_VISIBILITY_MODES.some((known) => known === mode)
    if (!isVisibility(mode) || !allowed) throw new Refusal('invalid', `visibility is not allowed: ${mode}`)
  }

  const checkNew = (account: NewAccount, kind: AccountKind) => {
    if (kind !== 'individual' && (account.password || account.must_change_password)) {
      throw new Refusal('bad-request', 'password can only be set for individual users')
    }
    if (kind === 'individual' && !account.password && !account.source_id) {
      throw new Refusal('bad-request', 'PasswordIsRequired')
    }
    checkName(account.name)
    if (account.visibility) checkVisibility(account.visibility, kind)
    if (kind === 'organization') return
    const email = account.email ?? ''
    checkEmail(email)
    if (account.checkDomain !== false && !addresses.isAllowed(email))
      throw new Refusal('invalid', domainConflict(email))
  }

  /** The newcomer takes the name: whatever redirected from it leads nowhere else any more. */
  const endRedirect = (tx: Tx, lowerName: string) =>
    tx.sql<IdentityTables>().deleteFrom('account_redirect').where('lower_name', '=', lowerName).execute()

  /**
   * Makes an account.
   *
   * @throws Refusal bad-request (password), invalid (name or address malformed, reserved, taken; visibility)
   */
  const create = async (tx: Tx, account: NewAccount): Promise<AccountRow> => {
    const kind = account.kind ?? 'individual'
    checkNew(account, kind)
    const service = settings.get('service')
    const { password, checkDomain: _, ...given } = account
    const row = await tx
      .sql<IdentityTables>()
      .insertInto('account')
      .values({
        is_restricted: service.DEFAULT_USER_IS_RESTRICTED,
        hide_email: service.DEFAULT_KEEP_EMAIL_PRIVATE,
        allow_create_organization: service.DEFAULT_ALLOW_CREATE_ORGANIZATION,
        visibility: kind === 'organization' ? 'public' : service.DEFAULT_USER_VISIBILITY,
        ...given,
        kind,
        lower_name: account.name.toLowerCase(),
        password_hash: password ?? null,
      })
      .onConflict((on) => on.column('lower_name').doNothing())
      .returning(accountColumns)
      .executeTakeFirst()
    if (!row) throw nameTaken(account.name)
    await endRedirect(tx, row.lower_name)
    if (account.email) await addresses.first(tx, row.id, account.email)
    await tx.publish(AccountCreated, { accountId: row.id, kind, name: row.name })
    return row
  }

  return {
    create,

    /**
     * Changes columns of an account.
     *
     * @throws Refusal bad-request (would leave no administrator; password of a bot), invalid (visibility), not-found
     */
    async edit(tx: Tx, id: number, changes: AccountChanges): Promise<AccountRow> {
      const sql = tx.sql<IdentityTables>()
      if (changes.is_admin === false) {
        const admins = await lockAdmins(tx)
        if (admins.length === 1 && admins[0] === id) throw lastAdmin(id, 'bad-request')
      }
      const before = await sql
        .selectFrom('account')
        .select(accountColumns)
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
      if (!before) throw new Refusal('not-found', 'user does not exist')
      const { password, ...columns } = changes
      if (password && before.kind !== 'individual') {
        throw new Refusal('bad-request', 'password can only be set for individual users')
      }
      if (columns.visibility !== undefined && columns.visibility !== before.visibility) {
        checkVisibility(columns.visibility, before.kind)
      }
      const changed = (Object.keys(columns) as (keyof typeof columns)[]).filter(
        (field) => columns[field] !== undefined && columns[field] !== before[field],
      )
      if (changed.length === 0 && !password) return before
      const values: Updateable<IdentityTables['account']> = {
        ...Object.fromEntries(changed.map((field) => [field, columns[field]])),
        ...(password ? { password_hash: password } : {}),
        updated_at: new Date(),
      }
      const after = await sql
        .updateTable('account')
        .set(values)
        .where('id', '=', id)
        .returning(accountColumns)
        .executeTakeFirstOrThrow()
      await tx.publish(AccountChanged, { accountId: id, fields: [...changed, ...(password ? ['password'] : [])] })
      if (changed.some((field) => narrowing.includes(field))) await tx.publish(AccessChanged, { accountId: id })
      return after
    },

    /**
     * Gives an account another name; the old one redirects to it until somebody takes it. Only a different case is
     * allowed, the same name changes nothing.
     *
     * @throws Refusal invalid (malformed, reserved, taken), not-found
     */
    async rename(tx: Tx, id: number, name: string): Promise<AccountRow> {
      const sql = tx.sql<IdentityTables>()
      const before = await sql
        .selectFrom('account')
        .select(accountColumns)
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
      if (!before) throw new Refusal('not-found', 'user does not exist')
      if (name === before.name) return before
      const lower_name = name.toLowerCase()
      if (lower_name !== before.lower_name) checkName(name)
      let after: AccountRow
      try {
        after = await sql
          .updateTable('account')
          .set({ name, lower_name, updated_at: new Date() })
          .where('id', '=', id)
          .returning(accountColumns)
          .executeTakeFirstOrThrow()
      } catch (error) {
        if (violatedConstraint(error)?.startsWith('account_lower_name')) throw nameTaken(name)
        throw error
      }
      if (lower_name !== before.lower_name) {
        await endRedirect(tx, lower_name)
        await sql
          .insertInto('account_redirect')
          .values({ lower_name: before.lower_name, account_id: id })
          .onConflict((on) => on.column('lower_name').doUpdateSet({ account_id: id }))
          .execute()
      }
      await tx.publish(AccountRenamed, { accountId: id, kind: before.kind, oldName: before.name, newName: name })
      return after
    },

    /**
     * Makes the administrator `admin` on a host without any account. Of several processes that start at once, one does.
     *
     * @returns the account, or undefined when there are accounts already
     */
    async createFirst(tx: Tx, admin: { password: PasswordHash; domain: string }): Promise<AccountRow | undefined> {
      const sql = tx.sql<IdentityTables>()
      await raw`select pg_advisory_xact_lock(hashtext('switchyard first account'))`.execute(sql)
      if (await sql.selectFrom('account').select('id').limit(1).executeTakeFirst()) return undefined
      const email = `admin@${admin.domain}`
      return create(tx, {
        name: 'admin',
        email,
        password: admin.password,
        is_admin: true,
        is_restricted: false,
        checkDomain: false,
      })
    },
  }
}
export type Accounts = ReturnType<typeof createAccounts>
