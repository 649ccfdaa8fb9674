import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { translated } from './errors.ts'

type Hearer = { heard(payload: string): void; onGap?: (() => void) | undefined }

export type Ear = {
  listen(channel: string, heard: (payload: string) => void, onGap?: () => void): Promise<() => void>
  close(): Promise<void>
}

/** How often a silent connection is tried, in ms: a dead one looks like a quiet one. */
const heartbeat = 30_000

/** `Database.listen`: all channels of the process over one connection, opened with the first. */
export function createEar(url: string, log: (message: string) => void): Ear {
  const channels = new Map<string, Set<Hearer>>()
  let connection: Promise<pg.Client> | undefined
  let closed = false

  const call = (effect: (() => void) | undefined) => {
    try {
      effect?.()
    } catch (error) {
      log(`a listener of the database failed: ${String(error)}`)
    }
  }

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({
      connectionString: url,
      application_name: `switchyard listener ${process.pid}`,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
    })
    client.on('error', () => {}) // 'end' follows
    client.on('notification', ({ channel, payload }) => {
      for (const hearer of channels.get(channel) ?? []) call(() => hearer.heard(payload ?? ''))
    })
    await client.connect()
    const pulse = setInterval(() => void client.query('select 1').catch(() => client.end()), heartbeat).unref()
    client.once('end', () => {
      clearInterval(pulse)
      if (!closed) connection = reconnect()
    })
    for (const channel of channels.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    return client
  }

  const reconnect = async (): Promise<pg.Client> => {
    for (let pause = 50; ; pause = Math.min(pause * 2, 5000)) {
      if (closed) throw new Error('the database was closed')
      try {
        const client = await connect()
        // Whatever was said meanwhile was not heard: everybody looks for himself.
        for (const hearers of channels.values()) for (const hearer of hearers) call(hearer.onGap)
        return client
      } catch (error) {
        log(`the database does not answer its listener: ${String(error)}`)
        await sleep(pause * (0.5 + Math.random()), undefined, { ref: false })
      }
    }
  }

  const connected = () => {
    connection ??= connect().catch((error) => {
      connection = undefined
      throw translated(error)
    })
    connection.catch(() => {}) // whoever waits for it is told
    return connection
  }

  return {
    async listen(channel, heard, onGap) {
      const hearers = channels.get(channel) ?? new Set()
      const hearer: Hearer = { heard, onGap }
      hearers.add(hearer)
      channels.set(channel, hearers)
      const client = await connected()
      if (hearers.size === 1) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
      return () => {
        hearers.delete(hearer)
        if (hearers.size > 0 || channels.get(channel) !== hearers) return
        channels.delete(channel)
        // Without it, what is said there is still received, and dropped here.
        void connection?.then((now) => now.query(`unlisten ${pg.escapeIdentifier(channel)}`)).catch(() => {})
      }
    },
    async close() {
      closed = true
      const client = await connection?.catch(() => undefined)
      await client?.end()
    },
  }
}
