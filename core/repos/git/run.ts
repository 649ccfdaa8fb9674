import { type ChildProcess, spawn } from 'node:child_process'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gitEnvironment } from './environment.ts'
import { createGate } from './limit.ts'

/** Git ended badly. `code` is its exit status; null when a signal ended it, `reason` then says why we sent one. */
export class GitFailure extends Error {
  readonly code: number | null
  readonly stderr: string
  readonly reason: 'exit' | 'deadline' | 'output' | 'stopped' | 'start'
  constructor(command: string, code: number | null, stderr: string, reason: GitFailure['reason'] = 'exit') {
    super(`git ${command}: ${reason === 'exit' ? `exit ${code}` : reason}${stderr ? `: ${stderr.trim()}` : ''}`)
    this.name = 'GitFailure'
    this.code = code
    this.stderr = stderr
    this.reason = reason
  }
}

/** Short reads and writes, transfers that last, and the pool's processes that stay: none starves the others. */
export type Lane = 'quick' | 'transfer' | 'pool'

export type StartOptions = {
  readonly lane?: Lane | undefined
  /** Milliseconds until the process group is ended; 0 = never. Default: 60 000, transfers 3 600 000. */
  readonly deadline?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Further environment variables. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Git settings for this process only. */
  readonly config?: Readonly<Record<string, string>> | undefined
  /** Opens the file descriptors 3 (git writes) and 4 (git reads) for a hook of ours. */
  readonly side?: boolean | undefined
}

export type RunOptions = StartOptions & {
  readonly input?: string | Uint8Array | Readable | undefined
  /** Bytes of output that are accepted. Default 64 MiB. */
  readonly limit?: number | undefined
  /** Exit statuses that are answers, not failures. Default [0]. */
  readonly accept?: readonly number[] | undefined
}

export type RunResult = { readonly code: number; readonly stdout: Buffer; readonly stderr: string }

export type GitProcess = {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  readonly fromHook: Readable | undefined
  readonly toHook: Writable | undefined
  /** The end: exit status and the last 16 KB of stderr. Rejects with GitFailure when we ended it. */
  readonly done: Promise<{ code: number; stderr: string }>
  /** Ends the whole process group: asks first, so that git removes its temporary files, and insists after 2 s. */
  stop(): void
}

export type Runner = {
  /** Starts git; the caller owns its streams. Waits for a free place first. */
  start(args: readonly string[], options?: StartOptions): Promise<GitProcess>
  /** Runs git to its end. Throws GitFailure. */
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>
  /** Git's output as a stream; an unhappy end destroys the stream with GitFailure, leaving early ends git. */
  stream(args: readonly string[], options?: StartOptions): Promise<Readable>
  /** Ends every running git. */
  close(): void
}

export type RunnerOptions = {
  readonly git?: string | undefined
  /** Processes at once. Defaults: quick 16, transfer 32. */
  readonly quick?: number | undefined
  readonly transfer?: number | undefined
  /** Requests that may wait for a place, per lane. Default 1000. */
  readonly queue?: number | undefined
  /** Milliseconds that they wait at most. Default 30 000. */
  readonly wait?: number | undefined
}

/** The one place that starts git. No shell, own environment, own process group, deadline, bounded number. */
export function createRunner(options: RunnerOptions = {}): Runner {
  const { git = 'git', quick = 16, transfer = 32, queue = 1000, wait = 30_000 } = options
  const gates = {
    quick: createGate({ slots: quick, queue, wait }),
    transfer: createGate({ slots: transfer, queue, wait }),
    // The pool counts for itself.
    pool: createGate({ slots: Number.POSITIVE_INFINITY, queue, wait }),
  }
  const running = new Set<GitProcess>()

  async function start(args: readonly string[], how: StartOptions = {}): Promise<GitProcess> {
    const lane = how.lane ?? 'quick'
    const leave = await gates[lane].enter(how.signal).catch((error) => {
      throw how.signal?.aborted ? new GitFailure(nameOf(args), null, '', 'stopped') : error
    })
    try {
      const process = watch(
        spawn(git, args, {
          cwd: '/',
          env: gitEnvironment(how.env, how.config),
          detached: true,
          stdio: how.side ? ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
        }),
        args,
        how,
      )
      running.add(process)
      const ended = () => {
        running.delete(process)
        leave()
      }
      process.done.then(ended, ended)
      return process
    } catch (error) {
      leave()
      throw error
    }
  }

  async function run(args: readonly string[], how: RunOptions = {}): Promise<RunResult> {
    const process = await start(args, how)
    try {
      const [stdout, end] = await Promise.all([
        collect(process, how.limit ?? 64 * 2 ** 20, args),
        process.done,
        feed(process, how.input),
      ])
      if (!(how.accept ?? [0]).includes(end.code)) throw new GitFailure(nameOf(args), end.code, end.stderr)
      return { ...end, stdout }
    } catch (error) {
      // A stream that was cut off only says so; why it was is known at the end of the process.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
      await process.done
      throw error
    }
  }

  async function stream(args: readonly string[], how: StartOptions = {}) {
    const process = await start(args, { lane: 'transfer', ...how })
    process.stdin.end()
    return streamOf(process, output(process, args))
  }

  return {
    start,
    run,
    stream,
    close: () => {
      for (const process of running) process.stop()
    },
  }
}

function nameOf(args: readonly string[]) {
  return args.find((arg) => !arg.startsWith('-')) ?? ''
}

function watch(child: ChildProcess, args: readonly string[], how: StartOptions): GitProcess {
  let reason: GitFailure['reason'] = 'exit'
  let stderr = ''
  let insist: NodeJS.Timeout | undefined
  // A process id that is free again may be somebody else's.
  let over = false
  const end = (why: GitFailure['reason']) => {
    if (insist || over) return
    reason = why
    signalGroup(child, 'SIGTERM')
    insist = setTimeout(() => signalGroup(child, 'SIGKILL'), 2000)
  }
  const onAbort = () => end('stopped')
  const deadline = how.deadline ?? (how.lane === 'transfer' ? 3_600_000 : 60_000)
  const timer = deadline > 0 ? setTimeout(() => end('deadline'), deadline) : undefined
  how.signal?.addEventListener('abort', onAbort, { once: true })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(-16_384)
  })
  const done = new Promise<{ code: number; stderr: string }>((resolve, reject) => {
    const settle = () => {
      over = true
      clearTimeout(timer)
      clearTimeout(insist)
      how.signal?.removeEventListener('abort', onAbort)
    }
    child.once('error', (error) => {
      settle()
      reject(new GitFailure(nameOf(args), null, error.message, 'start'))
    })
    child.once('exit', () => {
      child.stdio[4]?.destroy()
      ;(child.stdio[3] as Readable | null | undefined)?.resume()
      // Nobody may be reading what a git that we ended has left; its pipe must not keep the place.
      if (reason !== 'exit') child.stdout?.destroy()
    })
    child.once('close', (code) => {
      settle()
      if (code !== null && reason === 'exit') resolve({ code, stderr })
      else reject(new GitFailure(nameOf(args), code, stderr, reason === 'exit' ? 'stopped' : reason))
    })
  })
  // Callers that only use the streams need not look at the end.
  done.catch(() => undefined)
  const { stdin, stdout } = child as { stdin: Writable; stdout: Readable }
  // Git may end before it has read everything; its exit status tells, not the broken pipe.
  stdin.on('error', () => undefined)
  const [, , , fromHook, toHook] = how.side ? (child.stdio as unknown as [null, null, null, Readable, Writable]) : []
  toHook?.on('error', () => undefined)
  fromHook?.on('error', () => undefined)
  return { pid: child.pid, stdin, stdout, fromHook, toHook, done, stop: () => end('stopped') }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    // Already gone.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function feed(process: GitProcess, input: RunOptions['input']) {
  if (input instanceof Readable) {
    try {
      await pipeline(input, process.stdin)
    } catch (error) {
      // A source that broke off must not look like one that ended; a git that stopped reading explains itself.
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return
      process.stop()
      throw error
    }
  } else process.stdin.end(input)
}

async function collect(process: GitProcess, limit: number, args: readonly string[]) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) {
      process.stop()
      throw new GitFailure(nameOf(args), null, `more than ${limit} bytes`, 'output')
    }
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

/** A stream of what a generator makes of a process; who leaves early, or never begins to read, ends the process. */
export function streamOf(process: GitProcess, parts: AsyncGenerator<Buffer>): Readable {
  const stream = Readable.from(parts, { objectMode: false, highWaterMark: 256 * 1024 })
  stream.once('close', () => {
    if (!stream.readableEnded) process.stop()
  })
  return stream
}

/** All of git's output; throws GitFailure at its end when it was an unhappy one. */
export async function* output(process: GitProcess, args: readonly string[]): AsyncGenerator<Buffer> {
  yield* process.stdout as AsyncIterable<Buffer>
  const end = await process.done
  if (end.code !== 0) throw new GitFailure(nameOf(args), end.code, end.stderr)
}
