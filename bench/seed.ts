import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Server } from './servers.ts'

/** The same data on every server. */
export type Seeded = {
  readonly server: Server
  readonly user: string
  readonly token: string
  /** Address for git, with credentials. */
  readonly remote: string
  clear(): Promise<void>
}

const files = 200
const branches = 50
const repositories = 60

/** A repository of 200 files in 20 folders, three commits each over all of it, with 50 branches. */
export function makeSource(folder: string): void {
  const git = (...args: string[]) => runGit(folder, ...args)
  mkdirSync(folder)
  git('init', '-q', '-b', 'main')
  for (const round of [1, 2, 3]) {
    for (let i = 0; i < files; i++) {
      const place = join(folder, `part-${i % 20}`)
      mkdirSync(place, { recursive: true })
      const text = Array.from({ length: 60 }, (_, line) => `file ${i}, line ${line}, ${line % 3 ? 1 : round}`)
      writeFileSync(join(place, `file-${i}.txt`), `${text.join('\n')}\n`)
    }
    git('add', '.')
    git('commit', '-qm', `round ${round}`)
  }
  writeFileSync(join(folder, 'README.md'), '# Bench\n')
  git('add', '.')
  git('commit', '-qm', 'readme')
  for (let i = 1; i < branches; i++) git('branch', `branch-${String(i).padStart(2, '0')}`, `main~${i % 3}`)
}

/** Runs git as a fixed person; throws with what git said. */
export function runGit(folder: string, ...args: string[]): string {
  const person = { GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'bench@example.com' }
  const env = {
    ...process.env,
    ...person,
    GIT_COMMITTER_NAME: 'Bench',
    GIT_COMMITTER_EMAIL: 'bench@example.com',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env })
}

/** Fills a server through its public API. */
export async function seed(server: Server, source: string): Promise<Seeded> {
  const user = `bench-${Math.random().toString(36).slice(2, 8)}`
  const password = 'bench-passw0rd'
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`
  const call = async (method: string, path: string, auth: string, body?: unknown) => {
    const response = await fetch(`${server.base}/api/v1${path}`, {
      method,
      headers: { authorization: auth, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${server.name}: ${method} ${path}: ${response.status} ${text}`)
    return text ? JSON.parse(text) : null
  }
  const admin = basic(server.admin)
  const account = { username: user, email: `${user}@example.com`, password, must_change_password: false }
  await call('POST', '/admin/users', admin, account)
  const made = await call('POST', `/users/${user}/tokens`, basic(`${user}:${password}`), {
    name: 'bench',
    scopes: ['all'],
  })
  const auth = `token ${made.sha1}`
  await call('POST', '/user/repos', auth, { name: 'files', description: 'Files to read' })
  for (let i = 1; i < repositories; i++) {
    await call('POST', '/user/repos', auth, { name: `project-${i}`, description: `Project number ${i}` })
  }
  const remote = `${server.base.replace('://', `://${user}:${made.sha1}@`)}/${user}/files.git`
  runGit(source, 'push', '-q', remote, 'main')
  runGit(source, 'push', '-q', remote, '--all')
  for (let i = 0; i < 100; i++) {
    const repository = await call('GET', `/repos/${user}/files`, auth)
    if (!repository.empty) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const clear = async () => void (await call('DELETE', `/admin/users/${user}?purge=true`, admin))
  return { server, user, token: made.sha1, remote, clear }
}
