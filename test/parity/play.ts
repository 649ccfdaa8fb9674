import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** How one call is sent and how its answer is compared. */
export type CallOptions = {
  /** A user of the scenario, a label given to `token`, `admin` (default), or null for nobody. */
  as?: string | null
  /** The Authorization header itself; null for none. */
  auth?: string | null
  headers?: Record<string, string>
  /** The call is no compared step. */
  skip?: boolean
  /** Keys that are left out of the comparison, wherever they are. */
  ignore?: readonly string[]
  /** The order of the list in the answer is nobody's promise. */
  unordered?: boolean
  /** The text of the error is compared too, as the contract fixes it. */
  text?: boolean
  /** The body is not compared: it is binary, or its text is nobody's promise. */
  bodiless?: boolean
}

export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: any
}

export type Step = Answer & { readonly what: string; readonly options: CallOptions }

/** What a scenario has in its hands. Everything it makes carries a random suffix, so that it can be played anywhere. */
export type Play = {
  readonly suffix: string
  readonly admin: string
  readonly base: string
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  /** The name with the suffix. */
  name(label: string): string
  /** Makes a user with a token for everything; answers the login. */
  user(label: string, extra?: Record<string, Json>): Promise<string>
  /** Makes a token of that user with these scopes, for `as: label`. */
  token(label: string, user: string, scopes: readonly string[]): Promise<string>
  tokenOf(label: string): string
  password(user: string): string
  /** The value of an Authorization header. */
  basic(login: string, password: string): string
  /** Runs git as a fixed author; time goes on a minute with every call, from 2026-01-01. Answers what git said. */
  git(folder: string, ...args: string[]): Promise<string>
  remote(user: string, owner: string, repository: string): string
  /** A folder that is removed afterwards. */
  tmp(): string
  /** Asks again for up to ten seconds until the answer is true: the reference does some things behind the answer. */
  until(ask: () => Promise<boolean>): Promise<void>
  /** A new SSH public key. */
  sshKey(comment?: string): string
}

export type Scenario = (play: Play) => Promise<void>

export type Played = {
  readonly steps: readonly Step[]
  readonly suffix: string
  readonly base: string
  readonly from: number
  readonly to: number
  /** What stopped the scenario, if something did. */
  readonly error: unknown
}

export type Server = { readonly base: string; readonly admin: { readonly login: string; readonly password: string } }

/** Letters that no hexadecimal number has, so that the suffix is never found inside one. */
const letters = 'ghjkmnpqrstvwxyz'
const randomSuffix = () => Array.from({ length: 6 }, () => letters[Math.floor(Math.random() * letters.length)]).join('')

/** Plays a scenario on a server and keeps every answer. */
export async function play(server: Server, scenario: Scenario): Promise<Played> {
  const base = server.base.replace(/\/$/, '')
  const suffix = randomSuffix()
  const from = Date.now()
  const steps: Step[] = []
  const folders: string[] = []
  const ctx = createPlay({ base, server, suffix, steps, folders })
  let error: unknown
  try {
    await scenario(ctx)
  } catch (thrown) {
    error = thrown
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
  return { steps, suffix, base, from, to: Date.now(), error }
}

type Making = { base: string; server: Server; suffix: string; steps: Step[]; folders: string[] }

function createPlay({ base, server, suffix, steps, folders }: Making): Play {
  const tokens = new Map<string, string>()
  const basic = (login: string, password: string) => `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`
  const adminAuth = basic(server.admin.login, server.admin.password)
  const name = (label: string) => `${label}-${suffix}`
  const password = (user: string) => `passw0rd-${user}`

  function authOf({ as, auth }: CallOptions): string | null {
    if (auth !== undefined) return auth
    if (as === undefined || as === 'admin') return adminAuth
    if (as === null) return null
    const token = tokens.get(as)
    if (!token) throw new Error(`nobody is called ${as}`)
    return `token ${token}`
  }

  async function token(label: string, user: string, scopes: readonly string[]): Promise<string> {
    const auth = basic(name(user), password(user))
    const made = await send(base, 'POST', `/users/${name(user)}/tokens`, { name: label, scopes }, auth)
    if (made.status !== 201) throw new Error(`no token for ${user}: ${made.status} ${JSON.stringify(made.body)}`)
    tokens.set(label, made.body.sha1)
    return made.body.sha1
  }

  return {
    suffix,
    base,
    admin: server.admin.login,
    name,
    password,
    basic,
    token,
    async call(method, path, body, options = {}) {
      const answer = await send(base, method, path, body, authOf(options), options.headers)
      const who = options.auth !== undefined ? 'other' : (options.as ?? (options.as === null ? 'nobody' : 'admin'))
      if (!options.skip) steps.push({ what: `${method} ${path} as ${who}`, ...answer, options })
      return answer
    },
    async user(label, extra = {}) {
      const login = name(label)
      const fields = {
        username: login,
        email: `${login}@example.com`,
        password: password(label),
        must_change_password: false,
      }
      const made = await send(base, 'POST', '/admin/users', { ...fields, ...extra }, adminAuth)
      if (made.status !== 201) throw new Error(`no user ${label}: ${made.status} ${JSON.stringify(made.body)}`)
      await token(label, label, ['all'])
      return login
    },
    tokenOf: (label) => tokens.get(label) ?? '',
    git: createGit(),
    remote(user, owner, repository) {
      const { login, password: secret } =
        user === 'admin' ? server.admin : { login: name(user), password: password(user) }
      return `${base.replace('://', `://${login}:${secret}@`)}/${owner}/${repository}.git`
    },
    tmp() {
      const folder = mkdtempSync(join(tmpdir(), 'parity-'))
      folders.push(folder)
      return folder
    },
    async until(ask) {
      for (const end = Date.now() + 10_000; Date.now() < end; await sleep(50)) if (await ask()) return
      throw new Error('waited ten seconds in vain')
    },
    sshKey,
  }
}

/** @param path below /api/v1; with two leading slashes, below the root */
async function send(
  base: string,
  method: string,
  path: string,
  body: unknown,
  auth: string | null,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array
  const sent = body === undefined ? undefined : raw ? (body as string) : JSON.stringify(body)
  const type = body === undefined || raw ? {} : { 'content-type': 'application/json' }
  const response = await fetch(base + (path.startsWith('//') ? path.slice(1) : `/api/v1${path}`), {
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(20_000),
    headers: { ...(auth ? { authorization: auth } : {}), ...type, ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  return { status: response.status, headers: Object.fromEntries(response.headers), body: parse(text) }
}

function parse(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const run = promisify(execFile)

function createGit(): Play['git'] {
  let minutes = 0
  return async (folder, ...args) => {
    const date = new Date(Date.UTC(2026, 0, 1) + 60_000 * minutes++).toISOString()
    const person = { NAME: 'Ada', EMAIL: 'ada@nobody.example', DATE: date }
    const env: NodeJS.ProcessEnv = {
      PATH: process.env.PATH,
      HOME: folder,
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_NOSYSTEM: '1',
    }
    for (const [key, value] of Object.entries(person)) env[`GIT_AUTHOR_${key}`] = env[`GIT_COMMITTER_${key}`] = value
    const { stdout } = await run('git', args, { cwd: folder, encoding: 'utf8', env, timeout: 60_000 })
    return stdout.trim()
  }
}

function sshKey(comment = 'key'): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const parts = [Buffer.from('ssh-ed25519'), point].flatMap((part) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(part.length)
    return [length, part]
  })
  return `ssh-ed25519 ${Buffer.concat(parts).toString('base64')} ${comment}`
}
