import type { Selectable } from 'kysely'
import type { TablesOf } from '../db/index.ts'
import type {
  AccessToken,
  Account,
  AccountBlock,
  AccountRedirect,
  EmailAddress,
  SshKey,
  TotpDevice,
} from './entities.ts'

/** Tables of this room, for Kysely. */
export type IdentityTables = TablesOf<
  | typeof Account
  | typeof AccountRedirect
  | typeof EmailAddress
  | typeof AccessToken
  | typeof TotpDevice
  | typeof SshKey
  | typeof AccountBlock
>

/** An account as the host passes it around. The password's hash never leaves this room. */
export type AccountRow = Omit<Selectable<IdentityTables['account']>, 'password_hash'>

/** Columns of `account` that make an `AccountRow`, for selects that join. */
export const accountColumns = [
  'id',
  'kind',
  'name',
  'lower_name',
  'full_name',
  'email',
  'hide_email',
  'hide_activity',
  'must_change_password',
  'is_active',
  'is_admin',
  'is_restricted',
  'prohibit_login',
  'allow_git_hook',
  'allow_import_local',
  'allow_create_organization',
  'max_repo_creation',
  'visibility',
  'website',
  'location',
  'description',
  'language',
  'theme',
  'diff_view_style',
  'login_name',
  'source_id',
  'avatar',
  'last_login_at',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AccountRow)[]

/** Categories of token scopes, in the order in which they are written. */
export const scopeCategories = [
  'activitypub',
  'admin',
  'misc',
  'notification',
  'organization',
  'package',
  'issue',
  'repository',
  'user',
] as const
export type ScopeCategory = (typeof scopeCategories)[number]

/** Where a token stood in the request. header: `Authorization: token|Bearer`; basic: inside Basic; query: `?token=`. */
export type SentAs = 'header' | 'basic' | 'query'

/** How the caller proved who he is. */
export type Credential =
  | { readonly method: 'none' }
  | { readonly method: 'password' }
  | {
      readonly method: 'token'
      readonly sent: SentAs
      /** Id of the personal access token; undefined for tokens that a plugin knows. */
      readonly tokenId: number | undefined
      /** Name of the credential source that knew it; undefined for personal access tokens. */
      readonly source?: string
      /** Normal form: `public-only`, then `read:x` or `write:x` by category; or `all`. */
      readonly scopes: readonly string[]
    }

/** Whoever makes a request. */
export type Actor = {
  /** Undefined: anonymous. */
  readonly account: AccountRow | undefined
  readonly credential: Credential
  /** The administrator who acts as `account` by sudo. */
  readonly sudoBy?: AccountRow
}

export const anonymous: Actor = { account: undefined, credential: { method: 'none' } }

/** The host itself acting as an account: jobs and commands. */
export const actingAs = (account: AccountRow): Actor => ({ account, credential: { method: 'password' } })

/** Whether a token confines its bearer to public things. */
export const isPublicOnly = (actor: Actor): boolean =>
  actor.credential.method === 'token' && actor.credential.scopes.includes('public-only')

/** Whether the actor is a site administrator. Under sudo the one acted for counts. */
export const isSiteAdmin = (actor: Actor): boolean => actor.account?.is_admin === true
