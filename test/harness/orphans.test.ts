/** What is deleted is gone: no row, no folder and no object refers to it, also when the host is killed meanwhile. */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { anotherHost } from '../support/another-host.ts'
import { query } from '../support/database.ts'
import { inParallel } from '../support/hammer.ts'
import { startHost, type TestHost } from '../support/host.ts'
import { startProgram } from '../support/program.ts'
import { rawRoutesOf, routesOf } from '../support/shipped.ts'

t.setTimeout(270_000)

const run = promisify(execFile)

/** Ids of accounts and repositories far from all others, so that a number in any table tells what it means. */
async function spreadIds(h: TestHost): Promise<void> {
  for (const [table, from] of [
    ['account', 7_000_000],
    ['repository', 9_000_000],
  ] as const) {
    await query(h.rooms.opened.url, `select setval(pg_get_serial_sequence('${table}', 'id'), ${from})`)
  }
}

/** The columns that could hold an id, of every table. */
async function numberColumns(url: string) {
  return query<{ table: string; column: string }>(
    url,
    `select relname as table, attname as column from pg_attribute
     join pg_class on pg_class.oid = attrelid
     where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped
       and atttypid in ('int8'::regtype, 'int4'::regtype) order by 1, 2`,
  )
}

/** Where ids of accounts and repositories stand that are in neither of their tables. */
async function danglingRows(url: string): Promise<string[]> {
  const found: string[] = []
  for (const { table, column } of await numberColumns(url)) {
    const [row] = await query<{ ids: string }>(
      url,
      `select string_agg(distinct "${column}"::text, ' ') as ids from "${table}"
       where "${column}" between 7000000 and 7999999 and "${column}" not in (select id from account)
          or "${column}" between 9000000 and 9999999 and "${column}" not in (select id from repository)`,
    )
    if (row?.ids) found.push(`${table}.${column}: ${row.ids}`)
  }
  return found
}

/** Folders of repositories that are in no row, and rows without a folder. */
async function strayFolders(h: Pick<TestHost, 'rooms' | 'folder'>): Promise<string[]> {
  const { rooms } = h
  const rows = await query<{ id: number }>(rooms.opened.url, 'select id from repository')
  const expected = new Set(rows.map(({ id }) => rooms.repos.gitDir({ id: Number(id) })))
  const top = rooms.config.paths.repositories
  const found: string[] = []
  for (const name of await readdir(top)) {
    for (const folder of await readdir(join(top, name))) found.push(join(top, name, folder))
  }
  const missing = [...expected].filter((path) => !found.includes(path)).map((path) => `${path} is missing`)
  return [...found.filter((path) => !expected.has(path)), ...missing].map((path) => path.replace(top, ''))
}

const long = new Date(Date.now() - 3 * 86_400_000)

/** Folders that are in no row become as old as if the crash had been days ago. */
async function makeOld(h: Pick<TestHost, 'rooms' | 'folder'>): Promise<void> {
  const strays = (await strayFolders(h)).filter((path) => !path.endsWith('is missing'))
  for (const path of strays) await utimes(join(h.rooms.config.paths.repositories, path), long, long)
}

/** Objects of the storage that nothing names. */
async function strayObjects(h: Pick<TestHost, 'rooms'>): Promise<string[]> {
  const { opened, config } = h.rooms
  const rows = await query<{ avatar: string }>(
    opened.url,
    'select avatar from account where avatar is not null union select avatar from repository where avatar is not null',
  )
  const names = new Set(rows.map(({ avatar }) => avatar))
  const files = await readdir(config.paths.storage, { recursive: true, withFileTypes: true })
  const objects = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return objects.filter((path) => ![...names].some((name) => name !== '' && path.includes(name)))
}

/** A picture of one pixel that differs from all others. */
const picture = (seed: string) => {
  const header = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex')
  return Buffer.concat([header, createHash('sha256').update(seed).digest()]).toString('base64')
}

const sshKey = () => {
  const type = Buffer.from('ssh-ed25519')
  const length = (size: number) => Buffer.from([0, 0, 0, size])
  const blob = Buffer.concat([length(type.length), type, length(32), randomBytes(32)])
  return `ssh-ed25519 ${blob.toString('base64')} somebody`
}

/** Does a set-up step when its operation ships; it must then succeed. */
function stepsOf(h: TestHost, t: Pick<Test, 'ok'>) {
  const shipped = new Set(routesOf(h.rooms).map(({ route }) => route.operationId))
  return async (id: string, as: string, method: string, path: string, body?: unknown) => {
    if (!shipped.has(id)) return
    const { status, body: answer } = await h.call(method, path, body, { as })
    if (status >= 300) t.ok(false, `${id} as ${as}: ${status} ${JSON.stringify(answer)}`)
  }
}

async function pushSomething(h: TestHost, t: Test, name: string, path: string): Promise<void> {
  if (!rawRoutesOf(h.rooms).some(({ route }) => route.path.endsWith('/info/refs'))) return
  const folder = t.testdir({})
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: folder })
  await git('init', '-q', '-b', 'pushed', '.')
  await writeFile(join(folder, 'file'), randomBytes(100_000))
  await git('add', '.')
  await git('commit', '-q', '-m', 'pushed')
  await git('push', '-q', h.remote(name, `/${path}.git`), 'pushed')
}

/** Everybody has to do with everybody and every repository. */
async function entangle(
  h: TestHost,
  t: Test,
  people: readonly string[],
  repositories: readonly string[],
): Promise<void> {
  const step = stepsOf(h, t)
  for (const name of people) {
    await step('userUpdateAvatar', name, 'POST', '/user/avatar', { image: picture(name) })
    await step('userCurrentPostKey', name, 'POST', '/user/keys', { title: 'a key', key: sshKey() })
    await step('userAddEmail', name, 'POST', '/user/emails', { emails: [`${name}2@example.com`] })
    await h.tokenWith(name, ['read:user'])
    for (const other of people.filter((other) => other !== name)) {
      await step('userCurrentPutFollow', name, 'PUT', `/user/following/${other}`)
    }
  }
  for (const path of repositories) {
    const owner = path.split('/')[0] as string
    await step('repoUpdateTopics', owner, 'PUT', `/repos/${path}/topics`, {
      topics: ['shared', path.replace('/', '-')],
    })
    await step('repoUpdateAvatar', owner, 'POST', `/repos/${path}/avatar`, { image: picture(path) })
    for (const name of people.filter((name) => name !== owner)) {
      await step('repoAddCollaborator', owner, 'PUT', `/repos/${path}/collaborators/${name}`, { permission: 'write' })
      await step('userCurrentPutStar', name, 'PUT', `/user/starred/${path}`)
      await step('userCurrentPutSubscription', name, 'PUT', `/repos/${path}/subscription`)
    }
  }
}

t.test('deleting repositories and users leaves nothing of them', async (t) => {
  const h = await startHost(t)
  await spreadIds(h)
  const people = ['kept', 'purged', 'plain', 'owning', 'blocker']
  for (const name of people) await h.user(name)
  const repositories = ['kept/stays', 'kept/goes', 'purged/one', 'purged/two', 'owning/old', 'blocker/mine']
  for (const path of repositories) {
    const [owner, name] = path.split('/') as [string, string]
    const made = await h.call('POST', '/user/repos', { name, auto_init: true, private: name === 'two' }, { as: owner })
    t.equal(made.status, 201, path)
  }
  await entangle(h, t, people, repositories)
  const step = stepsOf(h, t)
  await step('userBlockUser', 'blocker', 'PUT', '/user/blocks/plain')
  await step('repoEdit', 'owning', 'PATCH', '/repos/owning/old', { name: 'new' })
  await step('adminRenameUser', 'admin', 'POST', '/admin/users/blocker/rename', { new_username: 'blocked' })
  // One picture for two: it stays with the other.
  await step('userUpdateAvatar', 'plain', 'POST', '/user/avatar', { image: picture('kept') })
  await pushSomething(h, t, 'kept', 'kept/goes')
  await h.idle()
  t.strictSame(await danglingRows(h.rooms.opened.url), [], 'nothing dangles before')
  t.strictSame(await strayFolders(h), [])

  t.equal((await h.call('DELETE', '/repos/kept/goes', undefined, { as: 'kept' })).status, 204)
  t.equal((await h.call('DELETE', '/admin/users/owning')).status, 422, 'who owns repositories stays')
  t.equal((await h.call('DELETE', '/repos/owning/new', undefined, { as: 'owning' })).status, 204)
  t.equal((await h.call('DELETE', '/admin/users/owning')).status, 204)
  t.equal((await h.call('DELETE', '/admin/users/plain')).status, 204)
  t.equal((await h.call('DELETE', '/admin/users/purged?purge=true')).status, 204)
  t.equal((await h.call('DELETE', '/admin/users/blocked?purge=true')).status, 204)
  await h.idle()
  t.strictSame(await danglingRows(h.rooms.opened.url), [])
  t.strictSame(await strayFolders(h), [])
  t.strictSame(await strayObjects(h), [])
  const names = await query<{ name: string }>(h.rooms.opened.url, 'select name from account order by 1')
  t.strictSame(names, [{ name: 'admin' }, { name: 'kept' }], 'the others are still there')
  const { body } = await h.call('GET', '/repos/kept/stays', undefined, { as: 'kept' })
  t.match(body, { full_name: 'kept/stays', stars_count: 0 })
  const [avatar] = await query<{ avatar: string | null }>(
    h.rooms.opened.url,
    `select avatar from account where name = 'kept'`,
  )
  if (avatar?.avatar)
    t.equal((await h.call('GET', `//avatars/${avatar.avatar}`)).status, 200, 'the shared picture is there')
})

t.test('killed in the middle, and started again', async (t) => {
  const h = await startHost(t, { role: 'web' })
  await spreadIds(h)
  const people = Array.from({ length: 5 }, (_, i) => `user${i}`)
  for (const name of people) await h.user(name)
  const repositories = people.flatMap((name) => [0, 1, 2, 3].map((i) => `${name}/repo${i}`))
  for (const path of repositories) {
    const [owner, name] = path.split('/') as [string, string]
    await h.call('POST', '/user/repos', { name, auto_init: true }, { as: owner })
  }
  await entangle(h, t, people.slice(0, 3), repositories.slice(8, 14))

  const { url } = h.rooms.opened
  const admin = `Basic ${Buffer.from(`admin:${h.passwordOf('admin')}`).toString('base64')}`
  const options = { data: h.folder, env: { DATABASE_URL: url, SWITCHYARD__log__LEVEL: 'error' } }
  let made = 0
  const outcomes = new Map<string, number>()
  const round = async (after: number) => {
    const program = await startProgram(t, options)
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { authorization: admin, 'content-type': 'application/json' }
      const sent = await fetch(`${program.base}/api/v1${path}`, {
        ...{ method, headers },
        ...(body && { body: JSON.stringify(body) }),
      }).catch(() => undefined)
      const outcome = `${method} ${sent?.status ?? 'cut off'}`
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      await sent?.text().catch(() => '')
      return sent?.status
    }
    const gone = new Set<string>()
    const { promise: enough, resolve } = Promise.withResolvers<void>()
    const killed = new AbortController()
    const work = inParallel([...repositories], 6, async (path) => {
      if (killed.signal.aborted) return
      if ((await ask('DELETE', `/repos/${path}`)) === 204) gone.add(path)
      if (gone.size === after) resolve()
      await ask('POST', '/admin/users/user0/repos', { name: `new${made++}`, auto_init: true })
    })
    const users = ask('DELETE', `/admin/users/${people.pop()}?purge=true`)
    await Promise.race([enough, work])
    killed.abort()
    await program.end('SIGKILL')
    await Promise.all([work, users])
  }
  for (const after of [1, 2, 4]) await round(after)
  t.comment([...outcomes].map(([what, times]) => `${times} × ${what}`).join(', '))
  t.ok(
    [...outcomes.keys()].some((what) => what.endsWith('cut off')),
    'it was killed while it worked',
  )
  t.ok((outcomes.get('DELETE 204') ?? 0) >= 7, 'and it had worked')
  t.notOk(
    [...outcomes.keys()].some((what) => /5\d\d$/.test(what)),
    'nothing failed',
  )

  // A git process that was cut off from the host ends by itself.
  await sleep(500)
  // A host may take a young folder for the work of another process; these are older than anything that runs.
  await makeOld(h)
  const last = await anotherHost(t, h)
  await last.rooms.work.idle()
  t.strictSame(await danglingRows(url), [])
  t.strictSame(await strayFolders(h), [], 'folders are those of the repositories that there are')
  t.strictSame(await strayObjects(h), [])
})

t.test('what older crashes left in the folders goes at the next start', async (t) => {
  const h = await startHost(t, { role: 'web' })
  await h.user('alice')
  await h.call('POST', '/user/repos', { name: 'one', auto_init: true }, { as: 'alice' })
  const [row] = await query<{ id: number }>(h.rooms.opened.url, 'select id from repository')
  const living = h.rooms.repos.gitDir({ id: Number(row?.id) })
  for (const name of ['.deleted-3b241101-e2bb-4255-8caf-4136c566a962', '4711.git']) {
    const folder = join(dirname(living), name)
    await mkdir(join(folder, 'objects'), { recursive: true })
    await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
    await utimes(folder, long, long)
  }
  t.equal((await strayFolders(h)).length, 2)
  const next = await anotherHost(t, h)
  await next.rooms.work.idle()
  for (let i = 0; i < 50 && (await strayFolders(h)).length > 0; i++) await sleep(20)
  t.strictSame(await strayFolders(h), [])
})
