import { createHash } from 'node:crypto'
import type { SelectQueryBuilder } from 'kysely'
import { type Database, type Presenters, prefixed, unprefixed } from '../db/index.ts'
import { type AccountRow, type Actor, accountColumns, type IdentityTables, isSiteAdmin } from './actor.ts'

const never = '0001-01-01T00:00:00Z'
const epoch = '1970-01-01T00:00:00Z'
const wireTime = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

/** For whom a user is shown, and where links lead. */
export type Look = {
  /** Who looks. `owner`: shown beside a repository: as to a signed-in stranger, whoever looks. */
  readonly as: Actor | 'owner'
  /** The address that the client used, without a trailing slash. */
  readonly base: string
  /** Domain of the addresses of those who hide theirs: `identity.noReplyDomain()`. */
  readonly noReply: string
}

/** The address that stands for one that is hidden. */
export const noReplyAddress = (account: Pick<AccountRow, 'id' | 'lower_name'>, domain: string) =>
  `${account.id}+${account.lower_name}@${domain}`

/** Where the picture of an account is: the uploaded one, or one that is made from a hash. */
export function avatarUrl(account: AccountRow, { base, noReply }: Pick<Look, 'base' | 'noReply'>): string {
  if (account.avatar) return `${base}/avatars/${account.avatar}`
  // A hidden address stays hidden: its hash would let anybody test guesses.
  const address = account.hide_email || !account.email ? noReplyAddress(account, noReply) : account.email.toLowerCase()
  return `${base}/avatars/${createHash('md5').update(address).digest('hex')}`
}

const count = (facts: Record<string, unknown>, name: string) => {
  const value = facts[name]
  return typeof value === 'number' ? value : 0
}

/**
 * A user as the API shows him.
 *
 * @param facts fields that plugins add: `presenters.facts('User', row, …)`
 */
export function userRecord(account: AccountRow, facts: Record<string, unknown>, look: Look) {
  const actor = look.as === 'owner' ? undefined : look.as
  const isOpen = actor !== undefined && (actor.account?.id === account.id || isSiteAdmin(actor))
  const isStranger = actor !== undefined && !actor.account
  const hidesEmail = isStranger || (account.hide_email && !isOpen)
  const { followers_count: _f, following_count: _g, starred_repos_count: _s, ...more } = facts
  return {
    id: account.id,
    login: account.name,
    login_name: isOpen ? account.login_name : '',
    source_id: isOpen ? account.source_id : 0,
    full_name: account.full_name,
    email: hidesEmail ? noReplyAddress(account, look.noReply) : account.email,
    avatar_url: avatarUrl(account, look),
    html_url: `${look.base}/${account.name}`,
    language: isOpen ? account.language : '',
    is_admin: isOpen && account.is_admin,
    last_login: !isOpen ? never : account.last_login_at ? wireTime(account.last_login_at) : epoch,
    created: wireTime(account.created_at),
    restricted: account.is_restricted,
    active: isOpen && account.is_active,
    prohibit_login: isOpen && account.prohibit_login,
    location: account.location,
    website: account.website,
    description: account.description,
    visibility: account.visibility as 'public' | 'limited' | 'private',
    followers_count: count(facts, 'followers_count'),
    following_count: count(facts, 'following_count'),
    starred_repos_count: count(facts, 'starred_repos_count'),
    ...more,
    username: account.name,
  }
}
export type UserRecord = ReturnType<typeof userRecord>

/** An author whose account is gone. */
export function ghostRecord(base: string): UserRecord {
  return systemRecord(-1, 'Ghost', '', '', base)
}

/** The user in whose name the host itself acts. */
export function hostRecord(base: string): UserRecord {
  return systemRecord(-2, 'gitea-actions', 'Gitea Actions', 'teabot@gitea.io', base)
}

function systemRecord(id: number, login: string, full_name: string, email: string, base: string): UserRecord {
  return {
    id,
    login,
    login_name: '',
    source_id: 0,
    full_name,
    email,
    avatar_url: `${base}/assets/img/avatar_default.png`,
    html_url: `${base}/${login}`,
    language: '',
    is_admin: false,
    last_login: never,
    created: never,
    restricted: false,
    active: false,
    prohibit_login: false,
    location: '',
    website: '',
    description: '',
    visibility: 'public',
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
    username: login,
  }
}

/** A selected account: its row and the fields of plugins, by prefix. */
export type ListedAccount = { readonly account__id: number }
export type AccountRows<Extra = unknown> = SelectQueryBuilder<IdentityTables & Extra, 'account', ListedAccount>

/** Showing accounts that were read already: one query adds what plugins know of them, none when they know nothing. */
export function createRecords(db: Database, presenters: Presenters) {
  return {
    /**
     * A query over accounts with all that a record needs; add conditions, joins and an order, then `show` the rows.
     * `Extra` are the tables that a plugin joins.
     */
    rows: <Extra = unknown>() =>
      db
        .sql<IdentityTables>()
        .selectFrom('account')
        .select(prefixed('account', accountColumns))
        .select((eb) => presenters.columns('User', eb.ref('account.id'), 'facts')) as unknown as AccountRows<Extra>,

    /** Records of rows that `rows` selected. */
    show: (listed: readonly ListedAccount[], look: Look): UserRecord[] =>
      listed.map((row) =>
        userRecord(unprefixed<AccountRow>(row, 'account') as AccountRow, presenters.facts('User', row, 'facts'), look),
      ),

    /** Records of accounts, in their order. */
    async present(accounts: readonly AccountRow[], look: Look): Promise<UserRecord[]> {
      const facts = new Map<number, object>()
      const ids = [...new Set(accounts.map((account) => account.id))]
      const query = db
        .sql<IdentityTables>()
        .selectFrom('account')
        .select('account.id as account_id')
        .select((eb) => presenters.columns('User', eb.ref('account.id'), 'facts'))
      const isAsked = ids.length > 0 && Object.keys(presenters.schemas('User')).length > 0
      for (const row of isAsked ? await query.where('account.id', 'in', ids).execute() : [])
        facts.set(row.account_id, row)
      return accounts.map((account) =>
        userRecord(account, presenters.facts('User', facts.get(account.id) ?? {}, 'facts'), look),
      )
    },
  }
}
export type Records = ReturnType<typeof createRecords>
