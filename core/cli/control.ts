import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Paths } from '../config/index.ts'
import type { PluginStatus } from '../plugin/index.ts'
import { CommandError } from './command.ts'
import type { Role } from './host.ts'

/** What a running process says of itself. */
export type ProcessStatus = {
  readonly pid: number
  readonly role: Role
  readonly version: string
  /** Undefined while it starts, and for background work. */
  readonly url: string | undefined
  readonly ready: boolean
  readonly plugins: readonly PluginStatus[]
}

/** What a process answers over its socket. */
export type Answers = {
  status(): ProcessStatus
  reload(): Promise<void>
}
export type Question = keyof Answers
type Reply<T> = { ok: true; value: T } | { ok: false; error: string }

const longestPath = 100
const longestQuestion = 4096

/** Folder of the sockets of all processes on one data folder. */
export function controlFolder(paths: Paths): string {
  const folder = join(paths.run, 'control')
  // The kernel takes socket paths of 107 bytes at most.
  if (Buffer.byteLength(folder) + '/work-00000000.sock'.length <= longestPath) return folder
  const short = createHash('sha256').update(paths.data).digest('hex').slice(0, 16)
  return join(tmpdir(), `switchyard-${process.getuid?.() ?? 0}-${short}`)
}

/**
 * Opens the socket of this process; readable and writable by its user only. Refuses when another process already
 * uses the data folder, except that web and work processes may share it.
 */
export async function openControl(paths: Paths, role: Role, answers: Answers): Promise<{ close(): Promise<void> }> {
  const folder = controlFolder(paths)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // In the shared temporary folder somebody else may have taken the name first.
  const owner = lstatSync(folder).uid
  if (!folder.startsWith(paths.run) && owner !== process.getuid?.())
    throw new CommandError(`${folder} belongs to another user`)
  chmodSync(folder, 0o700)
  const path = join(folder, `${role}-${randomBytes(4).toString('hex')}.sock`)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // The other side may go away at any moment; that concerns nobody else.
    socket.on('error', () => socket.destroy())
    answerOn(socket, answers)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  chmodSync(path, 0o600)
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  // Both of two that start at once may see each other and refuse; that is the safe outcome.
  const other = (await askAll<ProcessStatus>(paths, 'status')).find(
    ({ socket, value }) => socket !== path && (role === 'all' || value?.role === 'all' || !value),
  )
  if (other) {
    await close()
    const who = other.value ? `process ${other.value.pid}` : 'a process that does not answer'
    throw new CommandError(
      `the data folder ${paths.data} is in use by ${who}; stop it, or choose another with --data DIR`,
    )
  }
  return { close }
}

function answerOn(socket: Socket, answers: Answers): void {
  let size = 0
  socket.on('data', (bytes) => {
    size += bytes.length
    if (size > longestQuestion) socket.destroy()
  })
  createInterface({ input: socket }).on('line', (line) => {
    void replyTo(line, answers).then((reply) => {
      if (socket.writable) socket.end(`${JSON.stringify(reply)}\n`)
    })
  })
}

async function replyTo(line: string, answers: Answers): Promise<Reply<unknown>> {
  try {
    const { ask } = JSON.parse(line) as { ask?: unknown }
    if (ask === 'status') return { ok: true, value: answers.status() }
    if (ask === 'reload') return { ok: true, value: (await answers.reload()) ?? null }
    return { ok: false, error: 'the question is not known' }
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) }
  }
}

export type Told<T> = { readonly socket: string; readonly value?: T; readonly error?: string }

/** Asks every process on the data folder. Sockets that nobody serves any more are removed. */
export async function askAll<T>(paths: Paths, question: Question, patience = 5_000): Promise<Told<T>[]> {
  const folder = controlFolder(paths)
  const told = await Promise.all(
    socketsIn(folder).map(async (name) => {
      const socket = join(folder, name)
      try {
        const reply = await ask<T>(socket, question, patience)
        return reply.ok ? { socket, value: reply.value } : { socket, error: reply.error }
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code === 'ENOENT') return undefined
        if (code !== 'ECONNREFUSED') return { socket, error: message }
        rmSync(socket, { force: true })
        return undefined
      }
    }),
  )
  return told.filter((one) => one !== undefined)
}

function socketsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sock'))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function ask<T>(path: string, question: Question, patience: number): Promise<Reply<T>> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    socket.setTimeout(patience, () => socket.destroy(new Error(`no answer within ${patience / 1000} s`)))
    socket.on('error', reject)
    socket.on('connect', () => socket.write(`${JSON.stringify({ ask: question })}\n`))
    const chunks: Buffer[] = []
    socket.on('data', (bytes) => chunks.push(bytes))
    socket.on('close', () => {
      const line = Buffer.concat(chunks).toString()
      if (line.endsWith('\n')) resolve(JSON.parse(line) as Reply<T>)
      else reject(new Error('the process ended before it answered'))
    })
  })
}
