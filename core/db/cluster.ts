import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { cleanEnvironment, findBinaries, type RunAs } from './binaries.ts'

const run = promisify(execFile)

/** The superuser of clusters that we make, and the only role in them. */
export const clusterUser = 'switchyard'

/** A server as its postmaster.pid describes it. */
export type Server = { readonly pid: number; readonly sockets: string }

/**
 * Makes a cluster at `folder` unless there is one. It is built beside its place and renamed into it, so that it is
 * whole or not there at all, whatever interrupts it; leftovers of interrupted attempts are removed.
 * @param extra options of initdb, for example `--no-sync` for a cluster that nobody will miss
 */
export async function ensureCluster(folder: string, as: RunAs, extra: readonly string[] = []): Promise<void> {
  if (existsSync(join(folder, 'PG_VERSION'))) return
  const parent = dirname(folder)
  const prefix = `${basename(folder)}.new-`
  for (const name of await readdir(parent)) {
    const maker = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : undefined
    if (maker !== undefined && (maker === process.pid || !isAlive(maker))) {
      await rm(join(parent, name), { recursive: true, force: true })
    }
  }
  const { folder: binaries } = await findBinaries(as)
  const draft = join(parent, `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`)
  await mkdir(draft, { mode: 0o700 })
  if ('uid' in as) await chown(draft, as.uid, as.gid)
  const options = ['-D', draft, '-U', clusterUser, '-E', 'UTF8', '--locale=C.UTF-8', '--auth=trust', ...extra]
  try {
    await run(join(binaries, 'initdb'), options, { ...as, cwd: '/', env: cleanEnvironment })
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (existsSync(join(folder, 'PG_VERSION'))) return // another process was faster
    const said = (error as { stderr?: string }).stderr?.trim()
    throw new Error(`the database could not be created in ${folder}: ${said || String(error)}`, { cause: error })
  }
}

export type ServerOptions = {
  /** Folder of the cluster. */
  readonly folder: string
  /** Folder of its Unix socket; must exist and belong to the server's user. */
  readonly sockets: string
  readonly settings: Readonly<Record<string, string>>
  /** What the server writes to stderr. */
  readonly logFile: string
  readonly as: RunAs
}

/**
 * Starts the server of a cluster and answers its pid; it may not accept connections yet. The server leads its own
 * process group, so that Ctrl-C in a terminal reaches only the host, which stops it when it is done with it.
 * @param died called when the server ends by itself, with its last words
 */
export async function spawnServer(options: ServerOptions, died: (lastWords: string) => void): Promise<number> {
  const { folder, sockets, as, logFile } = options
  const major = Number((await readFile(join(folder, 'PG_VERSION'), 'utf8')).trim())
  const binaries = await findBinaries(as, major)
  await buryStalePid(folder)
  const before = await stat(logFile).catch(() => undefined)
  if (before && before.size > 10_000_000) await rename(logFile, `${logFile}.old`)
  const log = await open(logFile, 'a', 0o600)
  const settings = { listen_addresses: '', unix_socket_directories: sockets, ...options.settings }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  try {
    const start = (await log.stat()).size
    const child = spawn(join(binaries.folder, 'postgres'), ['-D', folder, ...flags], {
      ...as,
      cwd: '/',
      env: cleanEnvironment,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    })
    child.unref()
    child.once('error', (error) => died(String(error)))
    child.once('exit', () => void lastWords(logFile, start).then(died))
    return child.pid ?? 0
  } finally {
    await log.close()
  }
}

async function lastWords(logFile: string, from: number): Promise<string> {
  const text = await readFile(logFile).catch((error) => Buffer.from(String(error)))
  return text.subarray(from).toString('utf8').trim().split('\n').slice(-5).join('\n')
}

/** The live server of the cluster, or undefined. */
export function findServer(folder: string): Server | undefined {
  const lines = pidFile(folder)
  const pid = Number(lines?.[0])
  const sockets = lines?.[4]
  if (!pid || !sockets || !serves(pid, folder)) return undefined
  return { pid, sockets }
}

function pidFile(folder: string): string[] | undefined {
  try {
    return readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return undefined
  }
}

/** Whether that process is the server of that cluster, and not a later process that got the same number. */
function serves(pid: number, folder: string): boolean {
  if (!isAlive(pid)) return false
  if (process.platform !== 'linux') return true
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder
  } catch {
    return false // a zombie, or somebody else's process
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * A postmaster.pid whose number now belongs to another process would keep the server from starting. Its number is
 * replaced by one that no process has; the file stays, as PostgreSQL finds by it whether old backends still run.
 */
async function buryStalePid(folder: string): Promise<void> {
  const lines = pidFile(folder)
  const pid = Number(lines?.[0])
  if (!lines || !pid || !isAlive(pid) || serves(pid, folder)) return
  await writeFile(join(folder, 'postmaster.pid'), ['99999999', ...lines.slice(1)].join('\n'))
}

/**
 * Asks the server to stop and waits for it, at most `patience` ms.
 * @param signal SIGINT: connections are closed and everything is flushed; SIGQUIT: at once
 */
export async function stopServer(
  folder: string,
  patience = 4000,
  signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT',
): Promise<void> {
  const server = findServer(folder)
  if (!server) return
  process.kill(server.pid, signal)
  // The file, not the process, says when it is done: below a pid 1 that reaps nothing, ended processes stay visible.
  for (const end = Date.now() + patience; Date.now() < end && findServer(folder)?.pid === server.pid; ) await sleep(10)
}
