import { createHash, randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { runAs } from '../../core/db/binaries.ts'
import { ensureCluster, findServer, isAlive, spawnServer, stopServer } from '../../core/db/cluster.ts'
import { socketUrl } from '../../core/db/embedded.ts'
import { digestOf, migrate, type Owner } from '../../core/db/migrate.ts'

/** What this needs of a tap test. */
export type Teardown = { teardown(handler: () => unknown): unknown }

export type TestCluster = { readonly url: string; stop(): Promise<void> }

/** Nothing in it outlives the run, so nothing needs to be safe. */
const settings = {
  max_connections: '300',
  shared_buffers: '64MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  deadlock_timeout: '100ms',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  timezone: 'UTC',
}

const prefix = 'switchyard-test-'

/** Starts a PostgreSQL that is thrown away at `stop`; test/run.ts hands its url to all files of a run. */
export async function startTestCluster(): Promise<TestCluster> {
  const { url, stop } = await launch()
  return { url, stop }
}

async function launch() {
  const parent = await realpath(tmpdir())
  await sweep(parent)
  const root = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  await chmod(root, 0o711)
  const as = runAs()
  const folder = join(root, 'db')
  const sockets = join(root, 's')
  await mkdir(sockets, { mode: 0o700 })
  if ('uid' in as) await chown(sockets, as.uid, as.gid)
  await ensureCluster(folder, as, ['--no-sync'])
  let death: string | undefined
  const pid = await spawnServer({ folder, sockets, settings, logFile: join(root, 'log'), as }, (words) => {
    death = words
  })
  const url = socketUrl(sockets, 'postgres')
  while (!(await answers(url))) {
    if (death !== undefined) throw new Error(`the test database does not start: ${death}`)
    await sleep(10)
  }
  const stop = async () => {
    await stopServer(folder, 10_000, 'SIGQUIT')
    await rm(root, { recursive: true, force: true })
  }
  return { url, stop, root, folder, pid }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  try {
    await client.connect()
    return true
  } catch {
    return false // it is starting
  } finally {
    await client.end().catch(() => {})
  }
}

/** Removes what killed runs left behind. */
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const owner = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : 0
    if (!owner || isAlive(owner)) continue
    await stopServer(join(parent, name, 'db'), 10_000, 'SIGQUIT')
    await rm(join(parent, name), { recursive: true, force: true })
  }
}

let own: Promise<string> | undefined

/** The cluster of this run; a file that is run by itself starts one and stops it when the process ends. */
export function testCluster(): Promise<string> {
  const given = process.env.SWITCHYARD_TEST_POSTGRES
  if (given) return Promise.resolve(given)
  own ??= launch().then(({ url, root, folder }) => {
    process.once('exit', () => {
      const server = findServer(folder)
      if (server) process.kill(server.pid, 'SIGQUIT')
      const pause = new Int32Array(new SharedArrayBuffer(4))
      for (let i = 0; i < 500 && existsSync(join(folder, 'postmaster.pid')); i++) Atomics.wait(pause, 0, 0, 10)
      rmSync(root, { recursive: true, force: true })
    })
    return url
  })
  return own
}

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

export type FreshDatabase = { readonly url: string }

/**
 * A database of one's own, migrated, dropped at the end of the test. It is the copy of a template that is made once
 * per set of migrations and run.
 */
export async function freshDatabase(t: Teardown, owners: readonly Owner[] = []): Promise<FreshDatabase> {
  const cluster = await testCluster()
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = new Client({ connectionString: cluster })
  await admin.connect()
  try {
    const template = owners.length > 0 ? await ensureTemplate(cluster, admin, owners) : 'template1'
    await admin.query(`create database ${name} template ${template}`)
  } finally {
    await admin.end()
  }
  t.teardown(async () => {
    const dropper = new Client({ connectionString: cluster })
    await dropper.connect()
    await dropper.query(`drop database ${name} with (force)`)
    await dropper.end()
  })
  return { url: withDatabase(cluster, name) }
}

const templateLock = 7_305_800_009

async function ensureTemplate(cluster: string, admin: Client, owners: readonly Owner[]): Promise<string> {
  const steps = owners.map(({ owner, migrations }) => [owner, migrations.map((m) => [m.name, digestOf(m)])])
  const name = `template_${createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 16)}`
  const exists = async () => (await admin.query('select from pg_database where datname = $1', [name])).rowCount
  if (await exists()) return name
  await admin.query('select pg_advisory_lock($1)', [templateLock])
  if (!(await exists())) {
    const draft = `draft_${randomBytes(6).toString('hex')}`
    await admin.query(`create database ${draft}`)
    await migrate(withDatabase(cluster, draft), owners)
    await admin.query(`alter database ${draft} rename to ${name}`)
  }
  await admin.query('select pg_advisory_unlock($1)', [templateLock])
  return name
}

/** Asks one thing on a connection of its own, as nobody's pool would. */
export async function query<Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
