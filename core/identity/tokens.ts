import { createHash, randomBytes } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { type Database, readPage, type Tx, type Window } from '../db/index.ts'
import { Refusal } from '../plugin/index.ts'
import { type AccountRow, accountColumns, type Credential, type IdentityTables } from './actor.ts'
import { coversAll, normalScopes } from './scopes.ts'

/** A personal access token without its value. */
export type TokenRow = Omit<Selectable<IdentityTables['access_token']>, 'digest'>
const tokenColumns = ['id', 'account_id', 'name', 'last_eight', 'scopes', 'created_at', 'last_used_at'] as const

/** Writes a log line; core/config or pino provide it. */
export type IdentityLog = { error(message: string, error: unknown): void }

type BearerRow = AccountRow & { readonly token_id: number; readonly token_scopes: string[] }

const isTokenShaped = (value: string) => /^[0-9a-f]{40}$/.test(value)
const digestOf = (value: string) => createHash('sha256').update(value).digest()

/** How often last-used times are written, in ms. */
const flushEvery = 5_000

/** Personal access tokens: 160 random bits in hex, found by the index on their SHA-256 digest. */
export function createTokens(db: Database, log: IdentityLog) {
  const rows = () => db.sql<IdentityTables>().selectFrom('access_token').select(tokenColumns)
  const uses = createUses(db, log)
  /** Compiled once: this is the query of every call with a token. */
  const byDigest = db
    .sql<IdentityTables>()
    .selectFrom('access_token')
    .innerJoin('account', 'account.id', 'access_token.account_id')
    .select(accountColumns.map((column) => `account.${column}` as const))
    .select(['access_token.id as token_id', 'access_token.scopes as token_scopes'])
    .where('access_token.digest', '=', Buffer.alloc(0))
    .compile()

  return {
    /**
     * Makes a token.
     *
     * @param minting the credential that asks for it: a token cannot mint a wider one, and `public-only` is inherited
     * @returns the row, and the value, which is shown this once
     * @throws Refusal bad-request (no or unknown scope, name taken), forbidden (wider than the minting token)
     */
    async create(
      tx: Tx,
      accountId: number,
      wish: { name: string; scopes: readonly string[] },
      minting: Credential = { method: 'password' },
    ): Promise<{ row: TokenRow; value: string }> {
      const scopes = mintedScopes(wish.scopes, minting)
      const value = randomBytes(20).toString('hex')
      const row = await tx
        .sql<IdentityTables>()
        .insertInto('access_token')
        .values({
          account_id: accountId,
          name: wish.name,
          digest: digestOf(value),
          last_eight: value.slice(-8),
          scopes,
        })
        .onConflict((on) => on.columns(['account_id', 'name']).doNothing())
        .returning(tokenColumns)
        .executeTakeFirst()
      if (!row) throw new Refusal('bad-request', 'access token name has been used already')
      return { row, value }
    },

    /** Tokens of an account, newest first. */
    list: (accountId: number, window: Window): Promise<{ rows: TokenRow[]; total: number }> =>
      readPage(rows().where('account_id', '=', accountId).orderBy('id', 'desc'), window),
    /** A token of an account by its id. */
    byId: (accountId: number, id: number): Promise<TokenRow | undefined> =>
      rows().where('account_id', '=', accountId).where('id', '=', id).executeTakeFirst(),

    /** Deletes a token of an account, by id or by name; false when there is none. */
    async remove(tx: Tx, accountId: number, which: { id: number } | { name: string }): Promise<boolean> {
      if ('name' in which ? which.name.includes('\0') : !Number.isSafeInteger(which.id)) return false
      const gone = await tx
        .sql<IdentityTables>()
        .deleteFrom('access_token')
        .where('account_id', '=', accountId)
        .where('name' in which ? 'name' : 'id', '=', 'name' in which ? which.name : which.id)
        .executeTakeFirst()
      return gone.numDeletedRows > 0n
    },

    /** The account behind a token's value and the token's scopes, in one query; notes the use. */
    async find(value: string): Promise<{ account: AccountRow; tokenId: number; scopes: string[] } | undefined> {
      if (!isTokenShaped(value)) return undefined
      const {
        rows: [found],
      } = await db.sql<IdentityTables>().executeQuery<BearerRow>({ ...byDigest, parameters: [digestOf(value)] })
      if (!found) return undefined
      const { token_id: tokenId, token_scopes: scopes, ...account } = found
      uses.note(tokenId)
      return { account, tokenId, scopes }
    },
    start: uses.start,
    stop: uses.stop,
    flush: uses.flush,
  }
}
export type Tokens = ReturnType<typeof createTokens>

function mintedScopes(wish: readonly string[], minting: Credential): string[] {
  const asked = normalScopes(wish)
  const scopes =
    minting.method === 'token' && minting.scopes.includes('public-only')
      ? normalScopes([...asked, 'public-only'])
      : asked
  if (asked.length === 0) throw new Refusal('bad-request', 'access token must have a scope')
  if (minting.method === 'none' || (minting.method === 'token' && !coversAll(minting.scopes, scopes))) {
    throw new Refusal('forbidden', 'cannot create an access token with a broader scope than the authenticating token')
  }
  return scopes
}

/** Last-used times, kept in memory and written a few seconds later in one statement: no request waits for a row. */
function createUses(db: Database, log: IdentityLog) {
  let noted = new Map<number, Date>()
  let timer: NodeJS.Timeout | undefined

  const flush = async () => {
    if (noted.size === 0) return
    const writing = noted
    noted = new Map()
    const ids = [...writing.keys()].sort((a, b) => a - b)
    const times = ids.map((id) => (writing.get(id) as Date).toISOString())
    try {
      // Rows are locked in the order of their ids, so that two processes cannot wait for each other.
      await sql`
        with used as (select * from unnest(${ids}::bigint[], ${times}::timestamptz[]) as used (id, at)),
        locked as (
          select access_token.id from access_token join used on used.id = access_token.id
          order by access_token.id for no key update of access_token
        )
        update access_token set last_used_at = used.at from used join locked on locked.id = used.id
        where access_token.id = used.id and (last_used_at is null or last_used_at < used.at)
      `.execute(db.sql<IdentityTables>())
    } catch (error) {
      for (const [id, at] of writing) if (!noted.has(id)) noted.set(id, at)
      log.error('could not write when tokens were last used; trying again', error)
    }
  }

  return {
    note: (id: number) => void noted.set(id, new Date()),
    flush,
    start() {
      timer ??= setInterval(() => void flush(), flushEvery).unref()
    },
    async stop() {
      clearInterval(timer)
      timer = undefined
      await flush()
    },
  }
}
