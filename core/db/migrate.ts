import { createHash } from 'node:crypto'
import { Client } from 'pg'

/**
 * One step of a schema, append-only: an applied one never changes. Plain SQL in a list, applied by the functions below
 * instead of @mikro-orm/migrations, whose one list of classes knows neither owners nor digests and whose storage is
 * not locked between processes.
 */
export type Migration = {
  /** `0001-what`, unique within its owner. */
  readonly name: string
  /** Statements, run one after the other in one transaction with the record that they ran. */
  readonly up: readonly string[]
}

/** The migrations of a room or plugin; owners are applied in the order of their list. */
export type Owner = { readonly owner: string; readonly migrations: readonly Migration[] }

const migrationLock = 7_305_800_002

const table = `create table if not exists migration (
  owner text not null,
  name text not null,
  digest text not null,
  applied_at timestamptz not null default now(),
  primary key (owner, name)
)`

/** Digest of what a migration does, so that a changed one is noticed. */
export const digestOf = ({ up }: Migration) => createHash('sha256').update(JSON.stringify(up)).digest('hex')

/**
 * Applies what is missing, each migration in its own transaction, one process at a time.
 * @returns names of what was applied, as `<owner>/<name>`
 * @throws Error that names the migration that failed, or that changed after it was applied
 */
export async function migrate(
  url: string,
  owners: readonly Owner[],
  log?: (message: string) => void,
): Promise<string[]> {
  return connected(url, async (client) => {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as ok', [migrationLock])
    if (!rows[0].ok) {
      log?.('waiting for another process that migrates the database')
      await client.query('select pg_advisory_lock($1)', [migrationLock])
    }
    await client.query(table)
    const missing = await findPending(client, owners)
    for (const step of missing) {
      log?.(`applying ${step.owner}/${step.migration.name}`)
      await apply(client, step)
    }
    return missing.map(label)
  })
}

/** Names of migrations that `migrate` would apply. */
export async function pendingMigrations(url: string, owners: readonly Owner[]): Promise<string[]> {
  return connected(url, async (client) => {
    const { rows } = await client.query(`select to_regclass('migration') is not null as there`)
    if (!rows[0].there) return stepsOf(owners).map(label)
    return (await findPending(client, owners)).map(label)
  })
}

type Step = { readonly owner: string; readonly migration: Migration }

const label = ({ owner, migration }: Step) => `${owner}/${migration.name}`

function stepsOf(owners: readonly Owner[]): Step[] {
  return owners.flatMap(({ owner, migrations }) => migrations.map((migration) => ({ owner, migration })))
}

async function findPending(client: Client, owners: readonly Owner[]): Promise<Step[]> {
  const { rows } = await client.query('select owner, name, digest from migration')
  const applied = new Map(rows.map((row) => [`${row.owner}/${row.name}`, row.digest as string]))
  return stepsOf(owners).filter((step) => {
    const digest = applied.get(label(step))
    if (digest !== undefined && digest !== digestOf(step.migration)) {
      throw new Error(
        `the migration ${label(step)} was changed after it was applied to this database; add a new one instead`,
      )
    }
    return digest === undefined
  })
}

async function apply(client: Client, step: Step): Promise<void> {
  await client.query('begin')
  let current = ''
  try {
    for (current of step.migration.up) await client.query(current)
    const record = 'insert into migration (owner, name, digest) values ($1, $2, $3)'
    await client.query(record, [step.owner, step.migration.name, digestOf(step.migration)])
    await client.query('commit')
  } catch (error) {
    // Closing the connection, which follows, takes the transaction back.
    throw new Error(`the migration ${label(step)} failed: ${String(error)}\nin: ${current.trim()}`, { cause: error })
  }
}

async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: `switchyard migrations ${process.pid}` })
  let broken: Error | undefined
  client.on('error', (error) => {
    broken = error // the query that runs rejects as well
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    if (!broken) await client.end()
  }
}
