import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type TestRedis = { readonly url: string; flush(): Promise<void>; stop(): Promise<void> }

/** Starts a Redis of one's own on a Unix socket; undefined where no redis-server is installed. */
export async function startRedis(): Promise<TestRedis | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-redis-'))
  const socket = join(folder, 's')
  const settings = ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no', '--dir', folder]
  const server = spawn('redis-server', settings, { stdio: 'ignore' })
  const ended = once(server, 'exit')
  // A test that dies must not leave it behind.
  const kill = () => void server.kill('SIGKILL')
  process.once('exit', kill)
  for (let i = 0; !existsSync(socket); i++) {
    if (i === 500 || server.exitCode !== null) throw new Error('redis-server does not start')
    await sleep(10)
  }
  return {
    url: `unix://${socket}`,
    async flush() {
      const { Redis } = await import('ioredis')
      const client = new Redis(socket)
      await client.flushall()
      await client.quit()
    },
    async stop() {
      process.off('exit', kill)
      server.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
