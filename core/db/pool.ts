import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  Transaction,
} from 'kysely'
import pg from 'pg'
import { isStalePlan, translated } from './errors.ts'
import { createPrepared } from './prepared.ts'

/** Told of every statement: its text, how long it took in ms, and the error if it failed. */
export type QueryHook = (sql: string, milliseconds: number, error?: unknown) => void

export type PoolOptions = {
  readonly url: string
  /** Most connections that this process opens. */
  readonly size?: number
  /** Longest time in ms that one statement may run, 30 s unless told; the caller then gets `unavailable`. */
  readonly statementTimeout?: number
  /** Longest time in ms to wait for a row or table lock, 10 s unless told. */
  readonly lockTimeout?: number
  readonly onQuery?: QueryHook
  log(message: string): void
}

/**
 * Connections, and Kysely over them. The driver is ours rather than Kysely's: its controlled transactions lose the
 * connection when `begin` or `commit` fails, and here is the one place that counts, times and translates errors.
 */
export type Pool = {
  readonly kysely: Kysely<unknown>
  /** Begins a transaction on a connection of its own; one of `commit` and `rollback` must be called. */
  begin(): Promise<OpenTransaction>
  close(): Promise<void>
}

export type OpenTransaction = {
  readonly sql: Transaction<unknown>
  commit(): Promise<void>
  /** Never throws: a connection on which it fails is closed, which has the same effect. */
  rollback(): Promise<void>
}

const counter = new AsyncLocalStorage<{ queries: number }>()
const frames = new Set(['begin', 'commit', 'rollback'])

/** How many statements `work` sends (begin, commit and rollback apart), so that tests can refuse a query per row. */
export async function countQueries(work: () => Promise<unknown>): Promise<number> {
  const count = { queries: 0 }
  await counter.run(count, work)
  return count.queries
}

/** Runs `work` outside any count: what happens behind the back of the caller. */
export const uncounted = <T>(work: () => T): T => counter.exit(work)

const int8Array = 1016 as never

/** int8 as numbers (ids stay far below 2^53), timestamps as Date in UTC, dates as text. */
function typeParsers(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, Number)
  const toTexts = pg.types.getTypeParser(int8Array) as (text: string) => (string | null)[]
  types.setTypeParser(int8Array, (text: string) => toTexts(text).map((item) => (item === null ? null : Number(item))))
  types.setTypeParser(pg.types.builtins.TIMESTAMP, (text: string) => new Date(`${text.replace(' ', 'T')}Z`))
  types.setTypeParser(pg.types.builtins.DATE, (text: string) => text)
  return types
}

/** A pool over one database. Nothing connects before the first query. */
export function createPool(options: PoolOptions): Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.size ?? 16,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    statement_timeout: options.statementTimeout ?? 30_000,
    lock_timeout: options.lockTimeout ?? 10_000,
    idle_in_transaction_session_timeout: 60_000,
    application_name: `switchyard ${process.pid}`,
    keepAlive: true,
    types: typeParsers(),
  })
  // Without listeners, a connection that the server drops would end the process; the query in flight rejects by itself.
  pool.on('error', (error) => options.log(`an idle database connection was lost: ${error.message}`))
  pool.on('connect', (client) => void client.on('error', () => {}))

  const send = createSender(options.onQuery)
  const connect = async () => {
    try {
      return await pool.connect()
    } catch (error) {
      throw translated(error)
    }
  }
  const driver = driverOver(connect, send, () => pool.end())
  const dialect: Dialect = {
    createDriver: () => driver,
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
  const kysely = new Kysely<unknown>({ dialect })

  return {
    kysely,
    begin: () => beginOn(connect, send, kysely, { config: { dialect }, dialect, driver }),
    close: () => kysely.destroy().then(() => (pool.ended ? undefined : pool.end())),
  }
}

type Send = <R>(
  client: pg.PoolClient,
  sql: string,
  parameters?: readonly unknown[],
) => Promise<pg.QueryResult<R & pg.QueryResultRow>>

function createSender(onQuery: QueryHook | undefined): Send {
  const prepared = createPrepared()
  return async (client, sql, parameters) => {
    const count = counter.getStore()
    if (count && !frames.has(sql)) count.queries++
    const start = onQuery ? performance.now() : 0
    const name = parameters?.length ? prepared.nameOf(sql) : undefined
    try {
      const values = parameters as unknown[] | undefined
      const result = await (name ? client.query({ name, text: sql, values: values ?? [] }) : client.query(sql, values))
      onQuery?.(sql, performance.now() - start)
      return result as never
    } catch (error) {
      if (isStalePlan(error)) prepared.ban(sql)
      onQuery?.(sql, performance.now() - start, error)
      // Errors of the server are made where the socket is read: without this, nobody knows who asked.
      if (error instanceof Error) error.stack = `${error.stack}\n${new Error().stack?.split('\n').slice(1).join('\n')}`
      throw translated(error)
    }
  }
}

type Connection = DatabaseConnection & { readonly client: pg.PoolClient }

/** @param repeats which failures are worth asking again; inside a transaction none is, for it is broken by then */
function connectionOver(client: pg.PoolClient, send: Send, repeats: (error: unknown) => boolean): Connection {
  return {
    client,
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const ask = () => send<R>(client, query.sql, query.parameters)
      const { command, rowCount, rows } = await ask().catch((error) => {
        if (repeats(error)) return ask()
        throw error
      })
      if (command === 'SELECT') return { rows }
      return { rows: rows ?? [], numAffectedRows: BigInt(rowCount ?? 0) }
    },
    streamQuery() {
      throw new Error('streams would hold a connection for as long as a client reads: page by key instead')
    },
  }
}

function driverOver(connect: () => Promise<pg.PoolClient>, send: Send, end: () => Promise<void>): Driver {
  const known = new WeakMap<pg.PoolClient, Connection>()
  const refuse = async () => {
    throw new Error('transactions begin with database.tx()')
  }
  return {
    init: async () => {},
    async acquireConnection() {
      const client = await connect()
      const connection = known.get(client) ?? connectionOver(client, send, isStalePlan)
      known.set(client, connection)
      return connection
    },
    releaseConnection: async (connection) => (connection as Connection).client.release(),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: end,
  }
}

async function beginOn(
  connect: () => Promise<pg.PoolClient>,
  send: Send,
  kysely: Kysely<unknown>,
  props: { config: { dialect: Dialect }; dialect: Dialect; driver: Driver },
): Promise<OpenTransaction> {
  const client = await connect()
  try {
    await send(client, 'begin')
  } catch (error) {
    client.release(true)
    throw error
  }
  const executor = kysely.getExecutor().withConnectionProvider(inTurn(connectionOver(client, send, () => false)))
  return {
    sql: new Transaction<unknown>({ ...props, executor }),
    async commit() {
      const { command } = await send(client, 'commit').catch((error) => {
        client.release(true)
        throw error
      })
      client.release()
      // PostgreSQL answers so when an earlier statement failed and somebody caught its error.
      if (command === 'ROLLBACK') throw new Error('nothing was saved: a statement of the transaction had failed')
    },
    async rollback() {
      await send(client, 'rollback').then(
        () => client.release(),
        () => client.release(true),
      )
    },
  }
}

/** One connection for statements that may be sent side by side (Promise.all): they run one after the other. */
function inTurn(connection: DatabaseConnection): ConnectionProvider {
  let last: Promise<unknown> = Promise.resolve()
  return {
    provideConnection(consumer) {
      const turn = last.then(() => consumer(connection))
      last = turn.catch(() => {})
      return turn
    },
  }
}
