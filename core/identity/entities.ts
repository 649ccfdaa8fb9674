import { defineEntity, p } from '@mikro-orm/core'

/**
 * Properties are spelled as the columns are, so that an entity, a Kysely row and a JSON answer name a thing alike.
 */

/** A user, a bot or an organisation: whatever may own repositories under a name. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    /** individual, organization, bot */
    kind: p.string().default('individual'),
    name: p.string(),
    lower_name: p.string().unique(),
    full_name: p.string().default(''),
    /** The primary address, also a row of email_address. */
    email: p.string().default(''),
    hide_email: p.boolean().default(false),
    hide_activity: p.boolean().default(false),
    /** Null: no password login. */
    password_hash: p.text().nullable(),
    must_change_password: p.boolean().default(false),
    is_active: p.boolean().default(true),
    is_admin: p.boolean().default(false),
    is_restricted: p.boolean().default(false),
    prohibit_login: p.boolean().default(false),
    allow_git_hook: p.boolean().default(false),
    allow_import_local: p.boolean().default(false),
    allow_create_organization: p.boolean().default(true),
    /** -1: the host's limit. */
    max_repo_creation: p.integer().default(-1),
    /** public, limited, private */
    visibility: p.string().default('public'),
    website: p.string().default(''),
    location: p.string().default(''),
    description: p.text().default(''),
    language: p.string().default(''),
    theme: p.string().default(''),
    diff_view_style: p.string().default(''),
    login_name: p.string().default(''),
    source_id: p.bigint('number').default(0),
    /** Digest of the uploaded picture; null: a generated one. */
    avatar: p.string().nullable(),
    last_login_at: p.datetime().nullable(),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
})

/** An old name that leads to an account. */
export const AccountRedirect = defineEntity({
  name: 'AccountRedirect',
  tableName: 'account_redirect',
  properties: {
    lower_name: p.string().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
  },
})

export const EmailAddress = defineEntity({
  name: 'EmailAddress',
  tableName: 'email_address',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    account: () => p.manyToOne(Account).deleteRule('cascade').index(),
    address: p.string(),
    lower_address: p.string().unique(),
    is_activated: p.boolean().default(true),
    is_primary: p.boolean().default(false),
  },
})

/** A personal access token. Only a digest of its value is kept. */
export const AccessToken = defineEntity({
  name: 'AccessToken',
  tableName: 'access_token',
  uniques: [{ properties: ['account', 'name'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    name: p.string(),
    /** SHA-256 of the value; the value has 160 random bits, so a fast digest is enough. */
    digest: p.blob().unique(),
    last_eight: p.string(),
    scopes: p.array(),
    created_at: p.datetime().defaultRaw('now()'),
    last_used_at: p.datetime().nullable(),
  },
})

export const TotpDevice = defineEntity({
  name: 'TotpDevice',
  tableName: 'totp_device',
  properties: {
    account: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    /** Encrypted with the host's secret. */
    secret: p.blob(),
    /** The last accepted time step: a code works once. */
    last_step: p.bigint('number').default(0),
  },
})

export const SshKey = defineEntity({
  name: 'SshKey',
  tableName: 'ssh_key',
  uniques: [{ properties: ['account', 'title'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    title: p.string(),
    /** As written in authorized_keys, without the comment. */
    content: p.text(),
    comment: p.text().default(''),
    fingerprint: p.string().unique(),
    created_at: p.datetime().defaultRaw('now()'),
    last_used_at: p.datetime().nullable(),
  },
})

/** `account` does not want to have to do with `blocked`. */
export const AccountBlock = defineEntity({
  name: 'AccountBlock',
  tableName: 'account_block',
  uniques: [{ properties: ['account', 'blocked'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    blocked: () => p.manyToOne(Account).deleteRule('cascade').index(),
    note: p.text().default(''),
    created_at: p.datetime().defaultRaw('now()'),
  },
})

export const identityEntities = [
  Account,
  AccountRedirect,
  EmailAddress,
  AccessToken,
  TotpDevice,
  SshKey,
  AccountBlock,
] as const
