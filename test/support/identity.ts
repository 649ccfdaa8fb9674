import { type Config, createSecrets, readConfig } from '#core/config'
import { createPresenters, dbEntities, dbMigrations, openDatabase, type Presenter, type Tx } from '#core/db'
import {
  type AccountRow,
  createIdentity,
  identityConfig,
  identityEntities,
  identityMigrations,
  type NewAccount,
} from '#core/identity'
import { createRegistry } from '#core/plugin'
import { freshDatabase, type Teardown } from './database.ts'

/** The hash of `right password`, made once: hashing is slow on purpose. */
export const rightPassword = 'right password'

/**
 * The identity room on a database of its own.
 *
 * @param env settings as environment names, for example `SWITCHYARD__SERVICE__REQUIRE_SIGNIN_VIEW`; they may be
 *   changed later with `set`
 */
export async function openIdentity(
  t: Teardown,
  env: Record<string, string> = {},
  presenters: readonly Presenter[] = [],
) {
  const owners = [dbMigrations, { owner: 'identity', migrations: identityMigrations }]
  const { url } = await freshDatabase(t, owners)
  const errors: unknown[] = []
  const log = (_: string, error?: unknown) => void errors.push(error)
  const opened = await openDatabase({ url, entities: [...dbEntities, ...identityEntities], log })
  const read = (settings: Record<string, string>) =>
    readConfig({ data: '/nonexistent', env: settings, schemas: [identityConfig] })
  let config: Config = read(env)
  const registry = createRegistry()
  const identity = createIdentity({
    db: opened.database,
    config: { get: ((...asked: Parameters<Config['get']>) => config.get(...asked)) as Config['get'] },
    secrets: createSecrets('a key for tests that is long enough'),
    log: { error: log },
    presenters: createPresenters(presenters.map((presenter) => ({ presenter, isOn: () => true }))),
    registry,
  })
  t.teardown(async () => {
    await identity.stop()
    await opened.close()
  })
  const db = opened.database
  const write = <T>(work: (tx: Tx) => Promise<T>) => db.tx(work)
  let hash: ReturnType<typeof identity.passwords.hash> | undefined
  return {
    ...opened,
    db,
    identity,
    registry,
    errors,
    write,
    /** Reads the settings again, as a reload does. */
    set(changed: Record<string, string>) {
      config = read({ ...env, ...changed })
    },
    /** Makes a user whose password is `right password`, or a bot. */
    async user(name: string, more: Partial<NewAccount> = {}): Promise<AccountRow> {
      hash ??= identity.passwords.hash(rightPassword)
      const password = more.kind === 'bot' || more.kind === 'organization' ? {} : { password: await hash }
      return write((tx) => identity.accounts.create(tx, { name, email: `${name}@example.com`, ...password, ...more }))
    },
    /** Makes a token and answers its value. */
    token: async (account: AccountRow, ...scopes: string[]) =>
      (await write((tx) => identity.tokens.create(tx, account.id, { name: `t${Math.random()}`, scopes }))).value,
  }
}
