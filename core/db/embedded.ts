import { createHash } from 'node:crypto'
import { chmod, chown, mkdir, realpath, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { barrierFor, type RunAs, runAs } from './binaries.ts'
import { clusterUser, ensureCluster, findServer, spawnServer, stopServer } from './cluster.ts'

export type EmbeddedOptions = {
  /** The host's data folder; the cluster lives in `postgres/` below it. */
  readonly dataDir: string
  log(message: string): void
  /** Told what takes long: creating the database, recovering it after a crash. */
  progress?(step: string): void
}

export type Embedded = {
  /** Address of the database `switchyard` in it, over a Unix socket. */
  readonly url: string
  /** Whether this call started the server, rather than found it running. */
  readonly startedHere: boolean
  /** Leaves the server; whoever leaves last stops it. */
  release(): Promise<void>
}

/** For a machine that does other things too; parallel plans and JIT cost more than they give to small queries. */
const settings = {
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  random_page_cost: '1.1',
  synchronous_commit: 'on',
  deadlock_timeout: '100ms',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
}

/** Every user of the server holds it shared, for as long as he needs the server; who gets it alone may stop it. */
const useLock = 7_305_800_001
const startPatience = 120_000

/** Address of a database behind a Unix socket, as pg, libpq and URL parsers all understand it. */
export const socketUrl = (sockets: string, database: string) =>
  `postgresql://${clusterUser}@localhost/${database}?host=${encodeURIComponent(sockets)}`

/**
 * A PostgreSQL server of the data folder, started when none runs. Any number of processes share it: the host and
 * commands beside it. A server that outlived its host (kill -9) is used as it is. If the server dies while it is
 * used, it is started again.
 * @throws Error that says what to do, when no server can be started
 */
export async function ensureEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const place = await preparePlace(options.dataDir)
  let startedHere = false
  let released = false
  let recovery: Promise<void> | undefined
  let use = await acquire()

  async function acquire(): Promise<Client> {
    const joined = await enter(place, options, () => released)
    startedHere = joined.startedHere
    joined.client.once('end', () => {
      if (!released) recovery = recover()
    })
    socketOf(joined.client).unref() // holding the lock is no reason to keep the process alive
    return joined.client
  }
  async function recover(): Promise<void> {
    options.log('the database server went away; starting it again')
    for (let pause = 100; !released; pause = Math.min(pause * 2, 5000)) {
      try {
        use = await acquire()
        return
      } catch (error) {
        options.log(`the database server does not start: ${String(error)}`)
        await sleep(pause, undefined, { ref: false })
      }
    }
  }
  async function leave(): Promise<void> {
    socketOf(use).ref()
    try {
      await use.query('select pg_advisory_unlock_shared($1)', [useLock])
      const { rows } = await use.query('select pg_try_advisory_lock($1) as last', [useLock])
      if (rows[0].last) await stopServer(place.folder)
    } catch (error) {
      options.log(`the database server was gone before it was left: ${String(error)}`)
    }
    await use.end().catch((error) => options.log(`closing the connection: ${String(error)}`))
  }

  return {
    url: socketUrl(place.sockets, clusterUser),
    get startedHere() {
      return startedHere
    },
    async release() {
      if (released) return
      released = true
      await recovery
      await leave()
    },
  }
}

/** pg offers ref and unref, and its types do not say so. */
const socketOf = (client: Client) => client as unknown as { ref(): void; unref(): void }

type Place = { readonly folder: string; readonly sockets: string; readonly logFile: string; readonly as: RunAs }

async function preparePlace(dataDir: string): Promise<Place> {
  const as = runAs()
  await mkdir(dirname(dataDir), { recursive: true })
  await mkdir(dataDir, { mode: 0o700 }).catch(unlessThere)
  const real = await realpath(dataDir)
  const { mode } = await stat(real)
  // The data folder is ours: letting the server pass through it shows nobody what is in it.
  if ('uid' in as && !(mode & 0o001)) await chmod(real, mode | 0o001)
  const barrier = await barrierFor(real, as)
  if (barrier) throw new Error(barrier)
  const sockets = await socketFolder(real, as)
  return { folder: join(real, 'postgres'), sockets, logFile: join(real, 'postgres.log'), as }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** A private folder for the socket. Socket paths end at 107 bytes, so deep data folders get one in the tmp folder. */
async function socketFolder(dataDir: string, as: RunAs): Promise<string> {
  const near = join(dataDir, 'run')
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 20)
  const fits = Buffer.byteLength(join(near, '.s.PGSQL.5432')) < 100
  const folder = fits ? near : join(await realpath(tmpdir()), `switchyard-${digest}`)
  await mkdir(folder, { mode: 0o700 }).catch(unlessThere)
  const { uid } = await stat(folder)
  const mine = process.getuid?.() ?? uid
  const expected = 'uid' in as ? as.uid : mine
  // In the shared tmp folder somebody else may have made it first, to listen where we connect.
  if (uid !== mine && uid !== expected) throw new Error(`${folder} belongs to user ${uid}: remove it, or set TMPDIR`)
  if (uid !== expected && 'uid' in as) await chown(folder, as.uid, as.gid)
  await chmod(folder, 0o700)
  return folder
}

type Joined = { readonly client: Client; readonly startedHere: boolean }

/** Connects to the server, starting it first when it does not run, and takes the lock that says that it is used. */
async function enter(place: Place, options: EmbeddedOptions, givenUp: () => boolean): Promise<Joined> {
  await ensureFirst(place, options)
  let startedHere = false
  let death: string | undefined
  let told = false
  for (const end = Date.now() + startPatience; ; ) {
    const server = findServer(place.folder)
    if (!server && !startedHere) {
      startedHere = true
      death = undefined
      await spawnServer({ ...place, settings }, (words) => {
        death = words
      })
    } else if (!server && death !== undefined) {
      if (!/still in use|already exists/.test(death)) throw new Error(`the database server does not start: ${death}`)
      // Another process starts it at this moment, or backends of a killed server are still going.
      startedHere = false
    } else if (server) {
      const client = await tryUse(server.sockets)
      if (client) {
        await ensureDatabase(client)
        return { client, startedHere: startedHere && death === undefined }
      }
    }
    if (givenUp()) throw new Error('it is no longer wanted')
    if (Date.now() > end)
      throw new Error(`the database server in ${place.folder} did not answer in time; see ${place.logFile}`)
    if (!told && Date.now() > end - startPatience + 2000) {
      told = true
      options.progress?.('waiting for the database to recover')
    }
    await sleep(15)
  }
}

async function ensureFirst(place: Place, options: EmbeddedOptions): Promise<void> {
  const fresh = await stat(join(place.folder, 'PG_VERSION')).then(
    () => false,
    () => true,
  )
  if (fresh) options.progress?.('creating the database')
  await ensureCluster(place.folder, place.as)
}

/** A connection that holds the lock, or undefined while the server starts or stops. */
async function tryUse(sockets: string): Promise<Client | undefined> {
  const client = new Client({
    connectionString: socketUrl(sockets, 'postgres'),
    application_name: `switchyard ${process.pid}`,
  })
  client.on('error', () => {}) // 'end' follows and is acted on
  try {
    await client.connect()
    const { rows } = await client.query('select pg_try_advisory_lock_shared($1) as ok', [useLock])
    if (rows[0].ok) return client
  } catch {
    // Not yet, or no longer: the caller goes on looking until its patience ends.
  }
  await client.end().catch(() => {})
  return undefined
}

async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [clusterUser])
  if (rowCount) return
  await client.query(`create database ${clusterUser}`).catch((error: { code?: string }) => {
    // 42P04, or 23505 when two processes create it in the same moment.
    if (error.code !== '42P04' && error.code !== '23505') throw error
  })
}
