/** `switchyard admin user …`, run as operators run it: on a data folder with its own database, with and without a host. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { run as runLine } from '#core/cli'
import { orderPlugins } from '#core/plugin'
import { shippedPlugins } from '../../../config/plugins.ts'
import { host } from '../../../core/index.ts'
import { ownersOf } from '../../../core/rooms.ts'
import { freshDatabase } from '../../support/database.ts'

const program = resolve(import.meta.dirname, '../../../bin/switchyard')
/** Nothing of the test run's own database: these commands must bring up theirs. */
const env = { PATH: process.env.PATH, HOME: process.env.HOME }

let data: string

// Each command brings up a database server of its own.
t.setTimeout(120_000)
t.before(async () => {
  data = await mkdtemp(join(tmpdir(), 'switchyard-commands-'))
  // The database server may run as another user, who has to reach it.
  await chmod(data, 0o711)
})
t.teardown(() => rm(data, { recursive: true, force: true }))

type Ran = { readonly code: number; readonly out: string[]; readonly err: string }

/** Runs a subcommand of `admin user`; options with blanks are given as one word each. */
function run(line: string): Promise<Ran> {
  const args = ['admin', 'user', ...line.split(' '), '--data', data]
  return new Promise((resolve) => {
    execFile(program, args, { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, out: out.trim().split('\n'), err: err.trim() }),
    )
  })
}

/** The same command line in this process, on a database that is not that of the others: quick. */
async function runHere(line: string, url: string): Promise<Ran> {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const args = ['admin', 'user', ...line.split(' '), '--data', join(data, 'here')]
  const code = await runLine(args, host, io, { DATABASE_URL: url })
  return { code, out, err: err.join('\n') }
}

/** Refused with this text after `Command error: `. */
const refused = (text: string) => ({ code: 1, out: [], err: `Command error: ${text}` })

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** A host on the same data folder; resolves when it listens. */
async function serve(): Promise<{ base: string; host: ChildProcess }> {
  const port = await freePort()
  const args = ['serve', '--data', data, '--http', `127.0.0.1:${port}`]
  const running = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  running.stdout.setEncoding('utf8')
  await new Promise<void>((resolve, reject) => {
    running.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
    running.stdout.on('data', (text: string) => text.includes('listening on') && resolve())
  })
  return { base: `http://127.0.0.1:${port}/api/v1`, host: running }
}

async function ask(base: string, path: string, authorization: string) {
  const response = await fetch(base + path, { headers: { authorization } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`

let robot: string

t.test('while no host runs', async (t) => {
  t.match(await run('create --username first --email first@example.com --admin --password long-enough-1'), {
    code: 0,
    out: ["New user 'first' has been successfully created!"],
  })
  const made = await run(
    'create --name robot --email robot@example.com --user-type bot --access-token --access-token-scopes read:user,read:misc',
  )
  t.match(made, {
    code: 0,
    out: [
      "New user 'robot' has been successfully created!",
      /^Access token was successfully created\.\.\. [0-9a-f]{40}$/,
    ],
  })
  robot = made.out[1]?.split(' ').at(-1) ?? ''
  t.same((await run('list')).out, [
    'ID  Username  Email              IsActive  IsAdmin  2FA',
    '1   first     first@example.com  true      true     false',
  ])
})

t.test('what is refused', async (t) => {
  const { url } = await freshDatabase(t, ownersOf(orderPlugins(shippedPlugins)))
  const run = (line: string) => runHere(line, url)
  await run('create --username first --email first@example.com --admin --password long-enough-1')
  await run('create --username robot --email robot@example.com --user-type bot --access-token')
  const who = '--username x --email x@example.com'
  for (const [line, text] of [
    [`create ${who} --user-type robot --password long-enough`, 'invalid user type: robot'],
    [`create ${who}`, 'must set either password or random-password flag'],
    [`create ${who} --password a --random-password`, 'must set either password or random-password flag'],
    [`create ${who} --user-type bot --password long-enough`, 'password can only be set for individual users'],
    [`create ${who} --user-type bot --must-change-password`, 'password can only be set for individual users'],
    [
      `create ${who} --random-password --access-token-scopes all`,
      'access-token-name and access-token-scopes need the access-token flag',
    ],
    [`create ${who} --password short`, 'password must be at least 8 characters'],
    ['create --username first --email x@example.com --random-password', 'user already exists [name: first]'],
    [
      'create --username x --email first@example.com --random-password',
      'e-mail already in use [email: first@example.com]',
    ],
    [
      `create ${who} --random-password --access-token --access-token-scopes read:all`,
      'invalid access token scope provided: invalid access token scope: read:all',
    ],
    ['generate-access-token -u nobody', 'user does not exist [uid: 0, name: nobody]'],
    ['generate-access-token -u robot', 'access token name has been used already'],
    ['delete', 'You must provide the id, username or email of a user to delete'],
    ['delete -u first -e robot@example.com', 'id, username and email that were given do not belong to the same user'],
    ['delete -u first', 'can not delete the last admin user [uid: 1]'],
    ['must-change-password', 'name users, or say --all'],
  ] as const) {
    t.same(await run(line), refused(text), line)
  }
  t.equal((await run('list')).out.length, 2, 'nothing was made')
})

t.test('while a host runs', async (t) => {
  const { base, host } = await serve()
  t.teardown(async () => {
    host.kill('SIGTERM')
    if (host.exitCode === null) await once(host, 'exit')
  })
  t.match(await ask(base, '/user', `token ${robot}`), { status: 200, body: { login: 'robot' } }, 'what was made before')
  t.equal(
    (await ask(base, '/user', basic('first', 'long-enough-1'))).status,
    200,
    'the first one need not change his password',
  )

  const made = await run(
    'create --username second --email second@example.com --random-password --random-password-length 20 --fullname Second --restricted',
  )
  const password = /^generated random password is '(.{20})'$/.exec(made.out[0] ?? '')?.[1] ?? ''
  t.equal(made.out[1], "New user 'second' has been successfully created!")
  const told = await ask(base, '/user', basic('second', password))
  t.match(told, { status: 403, body: { message: /^You must change your password/ } })
  t.same((await run('must-change-password second --unset')).out, [
    'Updated 1 users setting MustChangePassword to false',
  ])
  t.match(await ask(base, '/user', basic('second', password)), {
    status: 200,
    body: { full_name: 'Second', restricted: true },
  })

  const changed = await run('change-password -u second -p another-password --must-change-password=false')
  t.same(changed.out, ["second's password has been successfully updated!"])
  t.equal((await ask(base, '/user', basic('second', password))).status, 401, 'known at once')
  t.equal((await ask(base, '/user', basic('second', 'another-password'))).status, 200)

  const raw = await run('generate-access-token -u second -t ci --scopes read:user --raw')
  t.equal((await ask(base, '/user', `token ${raw.out[0]}`)).status, 200)
  t.match((await run('generate-access-token -u second')).out, [/^Access token was successfully created: [0-9a-f]{40}$/])

  t.same((await run('must-change-password --all --exclude first')).out, [
    'Updated 1 users setting MustChangePassword to true',
  ])
  t.same((await run('list --admin')).out, [
    'ID  Username  Email              IsActive',
    '1   first     first@example.com  true',
  ])
  t.same((await run('delete -u second -e second@example.com')).out, ["User 'second' has been deleted."])
  t.equal((await ask(base, '/user', `token ${raw.out[0]}`)).status, 401)
})
