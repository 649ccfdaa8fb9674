import { type Config, coreSections } from '../config/index.ts'
import type { Database, Presenters } from '../db/index.ts'
import { type Registry, service } from '../plugin/index.ts'
import { createAccounts } from './accounts.ts'
import { createAddresses } from './addresses.ts'
import { createAuthenticator } from './authenticator.ts'
import { createBlocks } from './blocks.ts'
import type { IdentityConfig, IdentitySettings } from './config.ts'
import { CredentialSources } from './credentials.ts'
import { deleteAccount } from './deletion.ts'
import { createKeys } from './keys.ts'
import { createLookup } from './lookup.ts'
import { createPasswords } from './passwords.ts'
import { createRecords } from './records.ts'
import { scopeRefusal } from './scopes.ts'
import { createTokens, type IdentityLog } from './tokens.ts'
import { createTotp, type SecretBox } from './totp.ts'
import { AccountGrants, createVisibility } from './visibility.ts'

export type IdentityParts = {
  readonly db: Database
  /** Asked at each use: hand in one that follows reloads. */
  readonly config: Pick<Config, 'get'>
  readonly secrets: SecretBox
  readonly log: IdentityLog
  readonly presenters: Presenters
  /** Where plugins contribute `CredentialSources` and `AccountGrants`. */
  readonly registry: Pick<Registry, 'entries'>
}

/** Who somebody is and what he may see: accounts, credentials, visibility. */
export function createIdentity({ db, config, secrets, log, presenters, registry }: IdentityParts) {
  const settings: IdentitySettings = {
    get: <S extends keyof IdentityConfig>(section: S) => config.get(section) as IdentityConfig[S],
  }
  const server = () => config.get('server', coreSections.server)
  const addresses = createAddresses(db, settings)
  const passwords = createPasswords(settings)
  const tokens = createTokens(db, log)
  const totp = createTotp(db, secrets)
  const visibility = createVisibility(db, () => registry.entries(AccountGrants))
  const { create, createFirst, edit, rename } = createAccounts(settings, addresses)
  const sources = () => registry.entries(CredentialSources)
  const rootUrl = () => server().ROOT_URL
  const { findVisible, findAny, ...lookup } = createLookup(db, visibility)

  return {
    ...createAuthenticator({ db, settings, passwords, tokens, totp, sources, rootUrl }),
    findVisible,
    findAny,
    scopeRefusal,
    /** Finding, making, changing, deleting accounts. */
    accounts: { ...lookup, create, createFirst, edit, rename, remove: deleteAccount },
    addresses,
    blocks: createBlocks(db),
    keys: createKeys(db),
    passwords,
    records: createRecords(db, presenters),
    tokens,
    totp,
    visibility,
    /** Domain of the addresses shown for those who hide theirs. */
    noReplyDomain: () => settings.get('service').NO_REPLY_ADDRESS || `noreply.${server().DOMAIN}`,
    start: tokens.start,
    /** Writes what is still in memory. */
    stop: tokens.stop,
  }
}

export type Identity = ReturnType<typeof createIdentity>
export const Identity = service<Identity>('identity.identity')
