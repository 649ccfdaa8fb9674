/**
 * `npm test [-- files or folders…]`: runs the test files, a few at a time, on one throwaway PostgreSQL, and ends with
 * the line `N passed, N failed`. A file can also be run by itself: `node test/core/db.test.ts`.
 *
 * SWITCHYARD_TEST_JOBS: files at a time (2). SWITCHYARD_TEST_TIMEOUT: seconds for one file (300).
 */
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { isAlive } from '../core/db/cluster.ts'
import { startTestCluster } from './support/database.ts'
import { type FileOptions, type FileResult, runTapFile } from './support/tap-file.ts'

const root = resolve(import.meta.dirname, '..')
const jobs = Number(process.env.SWITCHYARD_TEST_JOBS) || 2
const timeout = (Number(process.env.SWITCHYARD_TEST_TIMEOUT) || 300) * 1000

/** Test files below the given files and folders, the biggest first, as they tend to take longest. */
function findTests(given: readonly string[]): string[] {
  const found = given.flatMap((path) => {
    const full = resolve(path)
    if (!statSync(full).isDirectory()) return [full]
    const names = readdirSync(full, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => name.endsWith('.test.ts')).map((name) => join(full, name))
  })
  const size = new Map(found.map((file) => [file, statSync(file).size]))
  return [...size.keys()].sort((a, b) => (size.get(b) ?? 0) - (size.get(a) ?? 0))
}

/** What the tests see of our environment: nothing that would configure a host or git. */
function testEnvironment(own: Record<string, string>): NodeJS.ProcessEnv {
  const foreign = /^(SWITCHYARD_|GIT_|DATABASE_URL$|REDIS_URL$|DISABLE_|TAP_|PG[A-Z]+$|NODE_OPTIONS$)/
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
  return { ...Object.fromEntries(kept), ...own }
}

/** A folder for all temporary files of the run; those of runs that were killed are removed. */
function makeRunFolder(): string {
  const parent = realpathSync(tmpdir())
  for (const name of readdirSync(parent)) {
    const owner = Number(/^swy-(\d+)-/.exec(name)?.[1])
    if (owner && !isAlive(owner)) rmSync(join(parent, name), { recursive: true, force: true })
  }
  const folder = mkdtempSync(join(parent, `swy-${process.pid}-`))
  chmodSync(folder, 0o711) // the database server of a test may run as another user
  return folder
}

async function runAll(files: readonly string[], options: FileOptions): Promise<FileResult[]> {
  const queue = [...files]
  const results: FileResult[] = []
  const worker = async () => {
    for (let file = queue.shift(); file && !options.signal.aborted; file = queue.shift()) {
      const result = await runTapFile(file, options)
      results.push(result)
      const count = `[${String(results.length).padStart(String(files.length).length)}/${files.length}]`
      const verdict = result.failed ? `${result.failed} FAILED` : 'ok'
      const name = relative(root, file)
      console.log(`${count} ${seconds(result)}  ${String(result.passed).padStart(5)} passed  ${verdict}  ${name}`)
      if (result.report) console.log(result.report)
    }
  }
  await Promise.all(Array.from({ length: jobs }, worker))
  return results
}

const seconds = ({ milliseconds }: FileResult) => `${(milliseconds / 1000).toFixed(1).padStart(6)} s`

function summarize(results: readonly FileResult[], unrun: number): boolean {
  const sum = (key: 'passed' | 'failed') => results.reduce((total, result) => total + result[key], 0)
  const skipped = results.flatMap(({ file, skipped }) => skipped.map((text) => `  ${relative(root, file)}: ${text}`))
  if (skipped.length > 0) console.log(`\nskipped:\n${skipped.join('\n')}`)
  const slowest = results.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, 5)
  console.log(
    `\nslowest:\n${slowest.map((result) => `  ${seconds(result)}  ${relative(root, result.file)}`).join('\n')}`,
  )
  const bad = results.filter(({ failed }) => failed > 0)
  if (bad.length > 0) console.log(`\nfailed:\n${bad.map(({ file }) => `  ${relative(root, file)}`).join('\n')}`)
  if (unrun > 0) console.log(`\nnot run: ${unrun} files`)
  const failed = sum('failed') + unrun
  console.log(`\n${sum('passed')} passed, ${failed} failed`)
  return failed === 0
}

async function main(): Promise<boolean> {
  const given = process.argv.slice(2)
  const files = findTests(given.length > 0 ? given : [join(root, 'test')])
  if (files.length === 0) throw new Error('no test files found')
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())
  const folder = makeRunFolder()
  const cluster = await startTestCluster()
  try {
    const env = testEnvironment({ SWITCHYARD_TEST_POSTGRES: cluster.url, TMPDIR: folder })
    const results = await runAll(files, { cwd: root, env, timeout, signal: interrupted.signal })
    return summarize(results, files.length - results.length)
  } finally {
    await cluster.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  console.log('0 passed, 1 failed')
  process.exitCode = 1
}
