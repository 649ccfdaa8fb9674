import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export type ServeLock =
  | { readonly held: true; release(): Promise<void> }
  /** Another process holds it; its pid on this machine when it could be read. */
  | { readonly held: false; readonly pid: number | undefined }

export type ServeLockOptions = {
  readonly url: string
  /** `web`, `work`, `all`: what the process does; different ones do not exclude each other. */
  readonly role: string
  readonly dataDir: string
  /** Called when the lock was lost with its connection and somebody else has it now: stop serving. */
  onLost?(pid: number | undefined): void
}

/**
 * Makes sure that one process at a time serves a data folder in a role. PostgreSQL holds the lock for as long as our
 * connection lives, so that it ends with the process, however that ends.
 */
export async function holdServe(options: ServeLockOptions): Promise<ServeLock> {
  const key = await keyOf(options)
  const first = await take(options.url, key)
  if (!first.client) return { held: false, pid: first.pid }
  let client: pg.Client = first.client
  let released = false

  const watch = () => client.once('end', () => void (released || takeBack()))
  const takeBack = async () => {
    for (let pause = 50; !released; pause = Math.min(pause * 2, 5000)) {
      await sleep(pause, undefined, { ref: false })
      const next = await take(options.url, key).catch(() => undefined) // the database is away: try again
      if (!next) continue
      if (!next.client) return options.onLost?.(next.pid)
      client = next.client
      if (released) await client.end()
      else watch()
      return
    }
  }
  watch()
  return {
    held: true,
    async release() {
      released = true
      await client.end().catch(() => {}) // gone is as good as released
    },
  }
}

async function keyOf({ role, dataDir }: ServeLockOptions): Promise<string> {
  const name = [role, hostname(), await realpath(dataDir)].join('\n')
  return createHash('sha256').update(name).digest().readBigInt64BE().toString()
}

async function take(url: string, key: string): Promise<{ client?: pg.Client; pid?: number | undefined }> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `switchyard serve ${process.pid}`,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {}) // 'end' follows
  await client.connect()
  try {
    // A server that is far away shall notice within a minute that this machine is gone.
    await client.query('set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3')
    const { rows } = await client.query('select pg_try_advisory_lock($1) as ok', [key])
    if (rows[0].ok) return { client }
    const holder = await client.query(
      `select application_name from pg_stat_activity join pg_locks using (pid)
       where locktype = 'advisory' and granted and objsubid = 1
         and (classid::bigint << 32 | objid::bigint) = $1`,
      [key],
    )
    const pid = Number(/ (\d+)$/.exec(holder.rows[0]?.application_name ?? '')?.[1])
    await client.end()
    return { pid: pid || undefined }
  } catch (error) {
    await client.end()
    throw error
  }
}
