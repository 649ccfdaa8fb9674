import { setTimeout as sleep } from 'node:timers/promises'
import { DriverException, type EntityManager, type MikroORM } from '@mikro-orm/postgresql'
import { type Kysely, sql } from 'kysely'
import { Refusal } from '../plugin/index.ts'
import type { Tx } from './database.ts'
import { isTransient, translated } from './errors.ts'
import type { OutboxWriter } from './outbox.ts'
import type { OpenTransaction, Pool } from './pool.ts'

/** How often a transaction that met a deadlock or a serialization failure runs in all. */
const attempts = 8
/** From this attempt on it runs alone among all that try again, in every process: those who met do not meet again. */
const aloneFrom = 3
const aloneLock = 7_305_800_003

export type TransactionDeps = {
  readonly pool: Pool
  readonly orm: MikroORM
  readonly outbox: OutboxWriter
  log(message: string): void
}

/** `Database.tx`: see there. */
export function createTransactions(deps: TransactionDeps) {
  return async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await runOnce(deps, work, attempt >= aloneFrom)
      } catch (error) {
        if (!isTransient(error)) throw error
        if (attempt === attempts) {
          throw Object.assign(new Refusal('unavailable', 'too many changes at once, try again'), { cause: error })
        }
        await sleep(Math.random() * Math.min(10 * 2 ** attempt, 500))
      }
    }
  }
}

async function runOnce<T>(
  { pool, orm, outbox, log }: TransactionDeps,
  work: (tx: Tx) => Promise<T>,
  alone: boolean,
): Promise<T> {
  const open = await pool.begin()
  const effects: (() => void)[] = []
  let result: T
  try {
    if (alone) await sql`select pg_advisory_xact_lock(${aloneLock})`.execute(open.sql)
    const { tx, flush } = createTx(open, orm, outbox, effects)
    result = await work(tx)
    await flush()
  } catch (error) {
    await open.rollback()
    // The ORM wraps what the pool has translated.
    throw error instanceof DriverException ? translated(error.cause instanceof Error ? error.cause : error) : error
  }
  await open.commit()
  for (const effect of effects) {
    try {
      effect()
    } catch (error) {
      log(`an effect after a commit failed: ${String(error)}`)
    }
  }
  return result
}

function createTx(open: OpenTransaction, orm: MikroORM, outbox: OutboxWriter, effects: (() => void)[]) {
  let em: EntityManager | undefined
  const flush = async () => void (await em?.flush())
  const tx: Tx = {
    // Made when first asked for: most transactions write through Kysely alone.
    get em() {
      if (!em) {
        em = orm.em.fork()
        em.setTransactionContext(open.sql as never)
      }
      return em
    },
    sql: <Tables>() => open.sql as unknown as Kysely<Tables>,
    async publish(token, payload) {
      await flush()
      await outbox.publish(tx, token, payload)
    },
    afterCommit: (effect) => void effects.push(effect),
  }
  return { tx, flush }
}
