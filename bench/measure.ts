import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { runGit, type Seeded } from './seed.ts'

/** One round of one scenario on one place: how many times a second it was done, and how long 99 of 100 took at most. */
export type Round = { readonly rate: number; readonly p99: number }

export const seconds = Number(process.env.BENCH_SECONDS) || 3
const connections = Number(process.env.BENCH_CONNECTIONS) || 8

export const apiScenarios: Readonly<Record<string, (seeded: Seeded) => string>> = {
  'repository by token': ({ user }) => `/repos/${user}/files`,
  'file (contents)': ({ user }) => `/repos/${user}/files/contents/part-3/file-3.txt`,
  'branch list': ({ user }) => `/repos/${user}/files/branches?limit=50`,
  'search of 50': () => '/repos/search?q=project&limit=50',
}

/** Asks for one path over all connections for some seconds; every answer must be a 2xx. */
export async function measureApi(seeded: Seeded, path: string): Promise<Round> {
  const url = `${seeded.server.base}/api/v1${path}`
  const headers = { authorization: `token ${seeded.token}` }
  const result = await autocannon({ url, connections, duration: seconds, headers })
  const bad = result.non2xx + result.errors + result.timeouts
  if (bad > 0) throw new Error(`${seeded.server.name}: ${url}: ${bad} of ${result.requests.total} failed`)
  return { rate: result.requests.average, p99: result.latency.p99 }
}

export const apiCommand = (base: string, path: string) =>
  `autocannon -c ${connections} -d ${seconds} -H 'Authorization: token …' '${base}/api/v1${path}'`

/** Clones again and again, one at a time. */
export function measureClones(remote: string): Round {
  return repeat((folder, i) => {
    const target = join(folder, `clone-${i}`)
    return () => runGit(folder, 'clone', '-q', '--no-local', remote, target)
  })
}

/** Pushes one small commit after the other to a branch of its own; only the push is timed. */
export function measurePushes(remote: string): Round {
  const branch = `push-${Math.random().toString(36).slice(2, 8)}`
  return repeat((folder, i) => {
    const work = join(folder, 'work')
    if (i === 0) {
      runGit(folder, 'clone', '-q', '--single-branch', '--branch', 'main', remote, work)
      runGit(work, 'checkout', '-q', '-b', branch)
    }
    writeFileSync(join(work, 'change.txt'), `${branch} ${i}\n`)
    runGit(work, 'add', '.')
    runGit(work, 'commit', '-qm', `change ${i}`)
    return () => runGit(work, 'push', '-q', remote, branch)
  })
}

/** Prepares and does something for some seconds, at most a hundred times. */
function repeat(prepare: (folder: string, i: number) => () => unknown): Round {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-git-'))
  const times: number[] = []
  try {
    for (const end = Date.now() + seconds * 1000; Date.now() < end && times.length < 100; ) {
      const run = prepare(folder, times.length)
      const start = performance.now()
      run()
      times.push(performance.now() - start)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  times.sort((a, b) => a - b)
  const median = times[Math.floor(times.length / 2)] ?? Number.NaN
  return { rate: 1000 / median, p99: times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN }
}
