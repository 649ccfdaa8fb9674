import type { Database } from '../db/index.ts'
import { Refusal } from '../plugin/index.ts'
import {
  type AccountRow,
  type Actor,
  accountColumns,
  anonymous,
  type IdentityTables,
  isSiteAdmin,
  type SentAs,
} from './actor.ts'
import type { IdentitySettings } from './config.ts'
import { type CredentialFacts, type CredentialSource, firstOf, parseAuthorization } from './credentials.ts'
import { emailFault } from './emails.ts'
import { isNameShaped } from './names.ts'
import type { Passwords } from './passwords.ts'
import { createRemembered } from './remembered.ts'
import type { Tokens } from './tokens.ts'
import type { Totp } from './totp.ts'

/** The credentials are right, but the state of the account forbids their use: 403 with `{"message"}` alone. */
export class Hindered extends Refusal {
  constructor(message: string) {
    super('forbidden', message)
    this.name = 'Hindered'
  }
}

/** One text for every cause, so that nothing can be guessed from it. */
const wrong = () => new Refusal('unauthenticated', 'invalid username, password or token')

export type AuthenticatorParts = {
  readonly db: Database
  readonly settings: IdentitySettings
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly totp: Totp
  readonly sources: () => readonly CredentialSource[]
  /** ROOT_URL as configured, with its slash. */
  readonly rootUrl: () => string
}

/** Finds out who makes a request. */
export function createAuthenticator({ db, settings, passwords, tokens, totp, sources, rootUrl }: AuthenticatorParts) {
  const remembered = createRemembered()

  const byToken = async (value: string, sent: SentAs): Promise<Actor | undefined> => {
    const own = await tokens.find(value)
    if (own)
      return { account: own.account, credential: { method: 'token', sent, tokenId: own.tokenId, scopes: own.scopes } }
    for (const source of sources()) {
      const { account, scopes } = (await source.find(value)) ?? {}
      if (!account || !scopes) continue
      return { account, credential: { method: 'token', sent, tokenId: undefined, source: source.name, scopes } }
    }
    return undefined
  }

  /** The user behind a name or an activated address, with what proves him. Texts that can be neither find nobody. */
  const loginOf = async (user: string) => {
    const login = db
      .sql<IdentityTables>()
      .selectFrom('account')
      .leftJoin('totp_device', 'totp_device.account_id', 'account.id')
      .select(accountColumns.map((column) => `account.${column}` as const))
      .select(['account.password_hash', 'totp_device.secret as totp_secret'])
      .where('account.kind', '=', 'individual')
    if (isNameShaped(user)) return login.where('account.lower_name', '=', user.toLowerCase()).executeTakeFirst()
    if (emailFault(user)) return undefined
    return login
      .innerJoin('email_address', 'email_address.account_id', 'account.id')
      .where('email_address.lower_address', '=', user.toLowerCase())
      .where('email_address.is_activated', '=', true)
      .executeTakeFirst()
  }

  const byPassword = async (user: string, password: string, otp: string): Promise<Actor | undefined> => {
    const found = await loginOf(user)
    if (!found?.password_hash || password === '') {
      await passwords.verifyNobody(password)
      return undefined
    }
    const { password_hash: hash, totp_secret: device, ...account } = found
    const verify = () => passwords.verify(password, hash)
    // With a second factor nothing is remembered: a quick answer would tell that the password was right.
    const isRight =
      device || account.prohibit_login ? await verify() : await remembered.check(account.id, hash, password, verify)
    if (!isRight || account.prohibit_login) return undefined
    if (device && !(await totp.use(account.id, device, otp))) return undefined
    return { account, credential: { method: 'password' } }
  }

  /** Undefined: the header says nothing that this host listens to. */
  const byBasic = async (user: string, password: string, otp: string): Promise<Actor | undefined> => {
    const asToken = password === '' || password === 'x-oauth-basic' ? user : password
    const actor = asToken === '' ? undefined : await byToken(asToken, 'basic')
    if (actor) return actor
    if (!settings.get('service').ENABLE_BASIC_AUTHENTICATION) return undefined
    const owner = await byPassword(user, password, otp)
    if (!owner) throw wrong()
    return owner
  }

  const prove = async ({ headers, query }: CredentialFacts): Promise<Actor> => {
    const header = parseAuthorization(firstOf(headers.authorization))
    const named = firstOf(query.token) || firstOf(query.access_token)
    const inQuery = named !== '' && !settings.get('security').DISABLE_QUERY_AUTH_TOKEN
    const value = inQuery ? named : header?.kind === 'token' ? header.value : undefined
    const bearer = value === undefined ? undefined : await byToken(value, inQuery ? 'query' : 'header')
    if (bearer) return bearer
    const basic =
      header?.kind === 'basic'
        ? await byBasic(header.user, header.password, firstOf(headers['x-gitea-otp']))
        : undefined
    // One method that failed and none that found a user: wrong, not anonymous.
    if (!basic && value !== undefined) throw wrong()
    return basic ?? anonymous
  }

  return {
    /**
     * Finds out who makes a request; anonymous when it carries no credentials that this host understands.
     *
     * @throws Refusal unauthenticated when they are wrong; Hindered when the account may not be used;
     *   Refusal unavailable when too many passwords are being checked
     */
    async authenticate(facts: CredentialFacts): Promise<Actor> {
      const actor = await prove(facts)
      const hindrance = actor.account && hindranceOf(actor.account, settings, rootUrl())
      if (hindrance) throw new Hindered(hindrance)
      return actor
    },

    /**
     * Lets an administrator act as a user or an organisation; undefined when nobody has that name. The caller has
     * checked that `actor` is an administrator. His token's scopes still hold.
     */
    async actAs(actor: Actor, name: string): Promise<Actor | undefined> {
      if (!actor.account || !isSiteAdmin(actor) || !isNameShaped(name)) return undefined
      const accounts = db.sql<IdentityTables>().selectFrom('account').select(accountColumns)
      const account = await accounts.where('lower_name', '=', name.toLowerCase()).executeTakeFirst()
      return account && { ...actor, account, sudoBy: actor.account }
    },
  }
}
export type Authenticator = ReturnType<typeof createAuthenticator>

/** What the state of an account forbids, whatever proved it; undefined when it may be used. */
function hindranceOf(account: AccountRow, settings: IdentitySettings, rootUrl: string): string | undefined {
  if (!account.is_active && settings.get('service').REGISTER_EMAIL_CONFIRM) return 'This account is not activated.'
  if (!account.is_active || account.prohibit_login) {
    return 'This account is prohibited from signing in, please contact your site administrator.'
  }
  if (!account.must_change_password) return undefined
  return `You must change your password. Change it at: ${rootUrl}/user/change_password`
}
