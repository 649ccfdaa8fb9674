import { unprocessable } from '#core/http'
import { type AccountChanges, type AccountRow, domainConflict } from '#core/identity'
import type { AccountsUse } from '../needs.ts'
import type { CreateUserOption, EditUserOption } from '../schemas.ts'

/** There are no login sources yet: every account signs in here. */
function checkSource(id: number | undefined): void {
  if (id) throw unprocessable(`login source does not exist [id: ${id}]`)
}

/**
 * Makes a user as an administrator wishes.
 *
 * @returns the account, and what the administrator is warned of
 * @throws Refusal bad-request (password), invalid (name, address, visibility); Problem 422 (login source)
 */
export async function createUser(
  use: AccountsUse,
  wish: CreateUserOption,
): Promise<{ account: AccountRow; warning: string | undefined }> {
  checkSource(wish.source_id)
  const { accounts, addresses, passwords } = use.identity
  const password = await passwords.accept(wish.password)
  const account = await use.db.tx((tx) =>
    accounts.create(tx, {
      name: wish.username,
      email: wish.email,
      password,
      checkDomain: false,
      must_change_password: wish.must_change_password ?? true,
      ...given({
        full_name: wish.full_name,
        is_restricted: wish.restricted,
        visibility: wish.visibility,
        created_at: wish.created_at === undefined ? undefined : new Date(wish.created_at),
      }),
    }),
  )
  return { account, warning: addresses.isAllowed(wish.email) ? undefined : domainConflict(wish.email) }
}

/**
 * Changes a user as an administrator wishes: all of it or nothing.
 *
 * @throws Refusal bad-request (address, password, last administrator), invalid (visibility, organisation)
 */
export async function editUser(use: AccountsUse, account: AccountRow, wish: EditUserOption): Promise<AccountRow> {
  checkSource(wish.source_id)
  checkUser(account)
  const { accounts, addresses, passwords } = use.identity
  const password = wish.password ? await passwords.accept(wish.password, 'change') : undefined
  const changes: AccountChanges = given({
    password,
    login_name: wish.login_name,
    full_name: wish.full_name,
    website: wish.website,
    location: wish.location,
    description: wish.description,
    visibility: wish.visibility || undefined,
    must_change_password: wish.must_change_password,
    is_active: wish.active,
    is_admin: wish.admin,
    is_restricted: wish.restricted,
    prohibit_login: wish.prohibit_login,
    allow_git_hook: wish.allow_git_hook,
    allow_import_local: wish.allow_import_local,
    allow_create_organization: wish.allow_create_organization,
    max_repo_creation: wish.max_repo_creation,
  })
  return use.db.tx(async (tx) => {
    const edited = await accounts.edit(tx, account.id, changes)
    if (wish.email === undefined) return edited
    await addresses.replacePrimary(tx, edited, wish.email)
    return { ...edited, email: wish.email }
  })
}

/** Operations on users do not reach organisations, which share their names. */
export function checkUser(account: Pick<AccountRow, 'kind'>): void {
  if (account.kind === 'organization') throw unprocessable('target is an organization but not user')
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** What is there of some fields: those that are undefined are left out. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>
}
