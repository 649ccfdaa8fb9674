import { spawn } from 'node:child_process'
import { Parser, type Result } from 'tap-parser'

/** What became of one test file. */
export type FileResult = {
  readonly file: string
  readonly passed: number
  readonly failed: number
  /** `name: reason` of every test that was skipped. */
  readonly skipped: readonly string[]
  /** What went wrong, ready to print; empty when nothing did. */
  readonly report: string
  readonly milliseconds: number
}

export type FileOptions = {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** After so many milliseconds the file and everything it started is killed, and counts as failed. */
  readonly timeout: number
  /** Aborted: the run is being given up. */
  readonly signal: AbortSignal
}

type Tally = { passed: number; skipped: string[]; failures: string[] }

const kept = 20_000

/**
 * Runs one tap file as `node file` in a process group of its own and reads its TAP. A file that dies, is killed, or
 * says nothing counts as one failure more.
 */
export async function runTapFile(file: string, options: FileOptions): Promise<FileResult> {
  const started = Date.now()
  const tally: Tally = { passed: 0, skipped: [], failures: [] }
  const parser = new Parser({})
  listen(parser, '', tally)
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
    cwd: options.cwd,
    env: { ...options.env, TAP_TIMEOUT: String(Math.ceil(options.timeout / 1000)) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let talk = ''
  let timedOut = false
  const hear = (chunk: string) => {
    talk = (talk + chunk).slice(-kept)
  }
  parser.on('extra', hear)
  child.stdout.pipe(parser)
  child.stderr.setEncoding('utf8').on('data', hear)
  const kill = (signal: NodeJS.Signals) => signalGroup(child.pid, signal)
  const timers = [
    setTimeout(() => {
      timedOut = true
      kill('SIGTERM')
      timers.push(setTimeout(kill, 5000, 'SIGKILL'))
    }, options.timeout),
  ]
  const giveUp = () => kill('SIGTERM')
  options.signal.addEventListener('abort', giveUp)
  const ended = new Promise<void>((resolve) => parser.once('complete', () => resolve()))
  const exit = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(String(error)))
    child.once('exit', (code, signal) => resolve(code === 0 ? '' : (signal ?? `exit code ${code}`)))
  })
  // Whatever the file left running holds its pipes open.
  kill('SIGKILL')
  await ended
  timers.forEach(clearTimeout)
  options.signal.removeEventListener('abort', giveUp)
  if (timedOut) tally.failures.push(`took longer than ${options.timeout / 1000} s and was killed`)
  else if (exit && tally.failures.length === 0) tally.failures.push(`ended with ${exit}`)
  else if (tally.passed + tally.failures.length + tally.skipped.length === 0) tally.failures.push('contains no test')
  const { passed, skipped, failures } = tally
  const words = failures.length > 0 && talk.trim() ? [`output:\n${talk.trim()}`] : []
  const report = [...failures, ...words].map((text) => text.replace(/^/gm, '    ')).join('\n')
  return { file, passed, failed: failures.length, skipped, report, milliseconds: Date.now() - started }
}

/** Counts assertions; the line that closes a subtest counts only when it fails for a reason of its own. */
function listen(parser: Parser, path: string, tally: Tally): void {
  let failuresBefore = 0
  parser.on('child', (child: Parser) => {
    failuresBefore = tally.failures.length
    listen(child, path ? `${path} > ${child.name}` : child.name, tally)
  })
  parser.on('assert', (result: Result) => {
    const name = [path, result.name].filter(Boolean).join(' > ')
    if (result.skip || result.todo) tally.skipped.push(`${name}: ${result.skip || result.todo}`)
    else if (result.closingTestPoint && (result.ok || tally.failures.length > failuresBefore)) return
    else if (result.ok) tally.passed++
    else tally.failures.push(`not ok: ${name}\n${describe(result.diag)}`)
  })
  parser.on('bailout', (reason: string) => {
    if (path === '') tally.failures.push(`bail out: ${reason}`)
  })
}

const shown = ['diff', 'compare', 'found', 'wanted', 'pattern', 'type', 'code', 'stack', 'expired', 'errors']

function describe(diag: unknown): string {
  if (typeof diag !== 'object' || diag === null) return ''
  const { at, ...rest } = diag as Record<string, unknown>
  const place = at as { fileName?: string; lineNumber?: number } | undefined
  const lines = place?.fileName ? [`  at ${place.fileName}:${place.lineNumber ?? 0}`] : []
  for (const key of shown) {
    const value = rest[key]
    if (value === undefined) continue
    const text = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)
    lines.push(text.includes('\n') ? `  ${key}:\n${text.replace(/^/gm, '    ')}` : `  ${key}: ${text}`)
  }
  return lines.join('\n')
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
