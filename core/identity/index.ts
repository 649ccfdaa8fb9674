/**
 * Who somebody is and what he may see: accounts, names, addresses, credentials, tokens and their scopes, visibility,
 * the user record, and the one rule of access. It knows no HTTP: refusals are values or `Refusal`s.
 */
export type { AccountChanges, AccountKind, NewAccount } from './accounts.ts'
export * from './actor.ts'
export type { EmailRow } from './addresses.ts'
export { Hindered } from './authenticator.ts'
export * from './authorize.ts'
export { type IdentityConfig, identityConfig, isVisibility, type VisibilityMode } from './config.ts'
export { type CredentialFacts, type CredentialSource, CredentialSources } from './credentials.ts'
export type { Deletion } from './deletion.ts'
export { checkEmail, domainConflict, emailFault, isEmailShaped } from './emails.ts'
export * from './entities.ts'
export * from './events.ts'
export * from './identity.ts'
export type { KeyFilter, SshKeyRow } from './keys.ts'
export { type Found, noSuchName } from './lookup.ts'
export { identityMigrations } from './migrations.ts'
export { checkName, isNameShaped, maxNameLength } from './names.ts'
export type { PasswordHash } from './passwords.ts'
export {
  avatarUrl,
  ghostRecord,
  hostRecord,
  type Look,
  noReplyAddress,
  type UserRecord,
  userRecord,
} from './records.ts'
export * from './schemas.ts'
export { covers, coversAll, normalScopes, type ScopeLevel, scopeRefusal } from './scopes.ts'
export { type PublicKey, parsePublicKey } from './ssh-keys.ts'
export type { TokenRow } from './tokens.ts'
export { type AccountGrant, AccountGrants } from './visibility.ts'
