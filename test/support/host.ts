/**
 * A whole host for a test: a database of its own, a folder of its own, real HTTP on a free port.
 * It ends with the test that started it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shippedPlugins } from '../../config/plugins.ts'
import { type Booted, boot } from '../../core/boot.ts'
import { readConfig } from '../../core/config/index.ts'
import type { Plugin } from '../../core/contract/index.ts'
import { countQueries } from '../../core/db/index.ts'
import { buildApp, serveRooms } from '../../core/host.ts'
import type { App } from '../../core/http/index.ts'
import type { AccountRow } from '../../core/identity/index.ts'
import { orderPlugins } from '../../core/plugin/index.ts'
import { ownersOf, schemasOf, switchKeysOf } from '../../core/rooms.ts'
import { freshDatabase, type Teardown } from './database.ts'

export type Answered = {
  readonly status: number
  readonly headers: Headers
  /** Parsed when it is JSON, otherwise the text. */
  readonly body: any
}

export type CallOptions = {
  /** Name of a user made by `user`, `admin` (unless told), or null for nobody. */
  readonly as?: string | null
  /** A whole Authorization header instead. */
  readonly auth?: string
  readonly headers?: Record<string, string>
}

export type TestHost = {
  /** http://127.0.0.1:PORT */
  readonly base: string
  readonly rooms: Booted
  readonly folder: string
  /** Calls the API below /api/v1; a path that begins with // is taken from the host's root. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answered>
  /** Makes a user with the password `pw-<name>-secret` and a token of all scopes; answers his row. */
  user(
    name: string,
    extra?: Partial<{ is_restricted: boolean; is_admin: boolean; visibility: string }>,
  ): Promise<AccountRow>
  /** The token of a user made by `user`. */
  token(name: string): string
  /** A further token with exactly these scopes. */
  tokenWith(name: string, scopes: readonly string[]): Promise<string>
  /** Remote address with a user's password in it. */
  remote(name: string, path: string): string
  passwordOf(name: string): string
  /** How many statements one call sends to PostgreSQL. */
  queriesOf(method: string, path: string, options?: CallOptions): Promise<number>
  /** Resolves when all events and jobs are done. */
  idle(): Promise<void>
  stop(): Promise<void>
}

export type HostOptions = {
  readonly plugins?: readonly Plugin[]
  /** Lines of app.ini as `SECTION.KEY`: value. */
  readonly config?: Readonly<Record<string, string>>
  readonly role?: 'all' | 'web'
}

/** Starts a host. */
export async function startHost(t: Teardown, options: HostOptions = {}): Promise<TestHost> {
  const plugins = orderPlugins(options.plugins ?? shippedPlugins)
  const database = await freshDatabase(t, ownersOf(plugins))
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-test-'))
  const env: Record<string, string> = { DATABASE_URL: database.url, SWITCHYARD__log__LEVEL: 'error' }
  for (const [name, value] of Object.entries(options.config ?? {})) {
    const dot = name.lastIndexOf('.')
    env[`SWITCHYARD__${name.slice(0, dot).replaceAll('.', '_0x2E_')}__${name.slice(dot + 1)}`] = value
  }
  const config = readConfig({
    data: folder,
    http: `127.0.0.1:${await freePort()}`,
    env,
    schemas: schemasOf(plugins),
    switches: switchKeysOf(plugins),
  })
  process.env.SWITCHYARD_VALIDATE_ANSWERS = '1'
  const rooms = await boot(config, plugins, () => {})
  const undo: (() => unknown)[] = [rooms.close]
  let stopped = false
  const stop = async () => {
    if (stopped) return
    stopped = true
    for (let end = undo.pop(); end; end = undo.pop()) await end()
    await rm(folder, { recursive: true, force: true })
  }
  t.teardown(stop)
  const { url, firstRun } = await serveRooms(rooms, options.role ?? 'all', undo)
  const base = url ?? ''
  return { base, rooms, folder, stop, ...callers(base, rooms, firstRun?.password ?? '') }
}

/** A port that nothing listens on: links in answers need to know it before the host listens. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function callers(base: string, rooms: Booted, adminPassword: string) {
  const tokens = new Map<string, string>()
  const passwordOf = (name: string) => (name === 'admin' ? adminPassword : `pw-${name}-secret`)
  const basic = (name: string) => `Basic ${Buffer.from(`${name}:${passwordOf(name)}`).toString('base64')}`
  const authOf = (as: string | null | undefined) => {
    if (as === null) return undefined
    if (as === undefined || as === 'admin') return basic('admin')
    return `token ${tokens.get(as)}`
  }
  const tokenWith = async (name: string, scopes: readonly string[]) => {
    const account = (await rooms.identity.accounts.byName(name)) as AccountRow
    const made = await rooms.opened.database.tx((tx) =>
      rooms.identity.tokens.create(tx, account.id, { name: `t-${Math.random()}`, scopes: [...scopes] }),
    )
    return made.value
  }
  let app: Promise<App> | undefined
  return {
    passwordOf,
    async queriesOf(method: string, path: string, options: CallOptions = {}): Promise<number> {
      app ??= buildApp(rooms, true)
      const auth = options.auth ?? authOf(options.as)
      const injected = await app
      const url = `/api/v1${path}`
      const headers = { ...(auth ? { authorization: auth } : {}), ...options.headers }
      // Awaited inside: an injected request begins when somebody waits for it.
      return countQueries(async () => void (await injected.inject({ method: method as 'GET', url, headers })))
    },
    tokenWith,
    token: (name: string) => tokens.get(name) as string,
    remote: (name: string, path: string) => base.replace('://', `://${name}:${passwordOf(name)}@`) + path,
    idle: () => rooms.work.idle(),
    async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answered> {
      const url = path.startsWith('//') ? base + path.slice(1) : `${base}/api/v1${path}`
      const auth = options.auth ?? authOf(options.as)
      const isJson = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        headers: {
          ...(auth ? { authorization: auth } : {}),
          ...(isJson ? { 'content-type': 'application/json' } : {}),
          ...options.headers,
        },
        ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string) }),
      })
      const text = await response.text()
      const looksJson = /json/.test(response.headers.get('content-type') ?? '')
      return { status: response.status, headers: response.headers, body: looksJson && text ? JSON.parse(text) : text }
    },
    async user(name: string, extra: Parameters<TestHost['user']>[1] = {}): Promise<AccountRow> {
      const { identity, opened } = rooms
      const password = await identity.passwords.accept(passwordOf(name))
      const account = await opened.database.tx((tx) =>
        identity.accounts.create(tx, { name, email: `${name}@example.com`, password, ...(extra as object) }),
      )
      tokens.set(name, await tokenWith(name, ['all']))
      return account
    },
  }
}
