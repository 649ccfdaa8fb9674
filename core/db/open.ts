import type { EntitySchema, MikroORM } from '@mikro-orm/postgresql'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import { type Embedded, type EmbeddedOptions, ensureEmbedded } from './embedded.ts'
import { createEar } from './listen.ts'
import { migrate, type Owner } from './migrate.ts'
import { createOrm, schemaDifference, unindexedForeignKeys } from './orm.ts'
import { createOutboxWriter, type OutboxWriter } from './outbox.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { createTransactions } from './transactions.ts'

export type OpenOptions = Omit<PoolOptions, 'url'> & {
  /** A server elsewhere; without it, the embedded one of `dataDir` is started or joined. */
  readonly url?: string | undefined
  readonly dataDir?: string
  readonly progress?: EmbeddedOptions['progress']
  readonly entities: readonly EntitySchema[]
  /** Applied before anything else when given. */
  readonly owners?: readonly Owner[]
}

export type OpenDatabase = {
  readonly url: string
  readonly database: Database
  readonly outbox: OutboxWriter
  readonly orm: MikroORM
  /** SQL still needed to make the tables what the entities say; '' when they are. */
  schemaDifference(): Promise<string>
  /** Foreign keys without an index, as `table.column`. */
  unindexedForeignKeys(): Promise<string[]>
  /** Closes the connections and leaves the embedded server. */
  close(): Promise<void>
}

/** Opens the host's database: embedded or elsewhere, migrated, ready to be used. */
export async function openDatabase(options: OpenOptions): Promise<OpenDatabase> {
  const embedded = options.url ? undefined : await joinEmbedded(options)
  const url = options.url ?? (embedded as Embedded).url
  try {
    if (options.owners) await migrate(url, options.owners, options.log)
    return connect(url, options, embedded)
  } catch (error) {
    await embedded?.release()
    throw error
  }
}

async function joinEmbedded({ dataDir, log, progress }: OpenOptions): Promise<Embedded> {
  if (!dataDir) throw new Error('a database needs a url or a data folder')
  return ensureEmbedded({ dataDir, log, ...(progress ? { progress } : {}) })
}

function connect(url: string, options: OpenOptions, embedded: Embedded | undefined): OpenDatabase {
  const { log } = options
  const pool = createPool({ ...options, url })
  const orm = createOrm(pool.kysely, url, options.entities)
  const ear = createEar(url, log)
  const notify = async (channel: string, payload: string) => {
    await sql`select pg_notify(${channel}, ${payload})`.execute(pool.kysely)
  }
  const outbox = createOutboxWriter(notify, log)
  const database: Database = {
    sql: <Tables>() => pool.kysely as unknown as Kysely<Tables>,
    tx: createTransactions({ pool, orm, outbox, log }),
    listen: ear.listen,
    notify,
  }
  return {
    url,
    database,
    outbox,
    orm,
    schemaDifference: () => schemaDifference(orm),
    unindexedForeignKeys: () => unindexedForeignKeys(pool.kysely),
    async close() {
      await ear.close()
      await pool.close()
      await embedded?.release()
    },
  }
}
