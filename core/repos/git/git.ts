import type { Readable } from 'node:stream'
import { createHooks } from './hooks.ts'
import { createLocks } from './limit.ts'
import { createPool, type Objects, type PoolOptions } from './pool.ts'
import {
  createRunner,
  type GitProcess,
  type RunnerOptions,
  type RunOptions,
  type RunResult,
  type StartOptions,
} from './run.ts'

/**
 * One bare repository on disk, cheap to make and without state of its own: every function of this folder takes one.
 * The folder need not exist yet (see initRepository).
 */
export type GitRepo = {
  /** Absolute path of the bare repository. */
  readonly path: string
  /** Where pushed objects lie that are not accepted yet; undefined for the repository itself. */
  readonly quarantine: Readonly<Record<string, string>> | undefined
  readonly objects: Objects
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>
  /** Like run, the output as text without its last line feed. */
  text(args: readonly string[], options?: RunOptions): Promise<string>
  start(args: readonly string[], options?: StartOptions): Promise<GitProcess>
  stream(args: readonly string[], options?: StartOptions): Promise<Readable>
  /** One at a time in this process per key, for work that reads a ref and then moves it. Not reentrant. */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>
  /** The folder with the hook that asks us about a push (transport.ts). */
  hooks(): Promise<string>
  /** The same repository, seen with the objects of a push that waits for its verdict. */
  quarantined(env: Readonly<Record<string, string>>): GitRepo
  /** Ends the pool's process: before the folder is deleted or replaced, or when a quarantine ends. */
  release(): void
}

export type GitOptions = RunnerOptions & {
  readonly pool?: PoolOptions | undefined
  /** An existing folder of ours for the receiving hook, on a file system that may execute. Default: the temporary one. */
  readonly run?: string | undefined
}

export type Git = {
  open(path: string): GitRepo
  /** Ends every git process. */
  close(): void
}

/** Git for a whole process: its bounded processes and its pool. Make one, share it. */
export function createGit(options: GitOptions = {}): Git {
  const runner = createRunner(options)
  const pool = createPool(runner, options.pool)
  const locked = createLocks()
  const hooks = createHooks(options.run)

  function open(path: string, quarantine?: Readonly<Record<string, string>>): GitRepo {
    if (!path.startsWith('/')) throw new TypeError(`a repository path must be absolute: ${path}`)
    const dir = `--git-dir=${path}`
    const with_ = <T extends StartOptions>(how: T | undefined) =>
      quarantine ? { ...how, env: { ...quarantine, ...how?.env } } : how
    const run = (args: readonly string[], how?: RunOptions) => runner.run([dir, ...args], with_(how))
    return {
      path,
      quarantine,
      objects: pool.of(path, quarantine),
      run,
      text: async (args, how) => (await run(args, how)).stdout.toString('utf8').replace(/\n$/, ''),
      start: (args, how) => runner.start([dir, ...args], with_(how)),
      stream: (args, how) => runner.stream([dir, ...args], with_(how)),
      exclusive: (key, work) => locked(`${path}\0${key}`, work),
      hooks: hooks.folder,
      quarantined: (env) => open(path, env),
      release: () => pool.drop(path, quarantine),
    }
  }

  return {
    open: (path) => open(path),
    close() {
      pool.close()
      runner.close()
      hooks.close()
    },
  }
}
