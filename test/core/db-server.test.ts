import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { ensureEmbedded, holdServe, openDatabase } from '#core/db'
import { Refusal } from '#core/plugin'
import { findServer } from '../../core/db/cluster.ts'
import { freshDatabase, query } from '../support/database.ts'

const quiet = () => {}

/** A data folder that a server of another user may enter. */
async function dataFolder(t: Test): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'swy-db-')))
  await chmod(root, 0o711)
  t.teardown(() => rm(root, { recursive: true, force: true }))
  return join(root, 'data')
}

/** Runs a script that never ends by itself, until it prints its first line. */
async function background(t: Test, script: string) {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [line] = await once(child.stdout, 'data')
  return { child, said: String(line).trim() }
}

async function killed(child: ReturnType<typeof spawn>): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

t.test('the embedded server', async (t) => {
  await t.test('is shared, and stopped by the last who leaves', async (t) => {
    const dataDir = await dataFolder(t)
    const steps: string[] = []
    const first = await ensureEmbedded({ dataDir, log: quiet, progress: (step) => steps.push(step) })
    const second = await ensureEmbedded({ dataDir, log: quiet })
    t.equal(first.startedHere, true)
    t.equal(second.startedHere, false)
    t.same(steps, ['creating the database'])
    t.equal(second.url, first.url)
    await first.release()
    t.same(await query(second.url, 'show listen_addresses'), [{ listen_addresses: '' }])
    t.same(await query(second.url, 'show fsync'), [{ fsync: 'on' }])
    await second.release()
    t.equal(findServer(join(dataDir, 'postgres')), undefined)
    t.notOk(existsSync(join(dataDir, 'postgres/postmaster.pid')))
  })

  await t.test('is made once when two processes come at once', async (t) => {
    const dataDir = await dataFolder(t)
    const both = await Promise.all([ensureEmbedded({ dataDir, log: quiet }), ensureEmbedded({ dataDir, log: quiet })])
    for (const { url } of both) t.same(await query(url, 'select 1 as one'), [{ one: 1 }])
    await Promise.all(both.map((one) => one.release()))
    t.equal(findServer(join(dataDir, 'postgres')), undefined)
    t.same(
      (await readdir(dataDir)).filter((name) => name.includes('.new-')),
      [],
    )
  })

  await t.test('outlives a host that is killed, and is taken over', async (t) => {
    const dataDir = await dataFolder(t)
    const { child, said } = await background(
      t,
      `import { ensureEmbedded } from '#core/db'
       const { url } = await ensureEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log() {} })
       console.log(url)
       setInterval(() => {}, 1000)`,
    )
    await query(said, 'create table kept as select 7 as number')
    await killed(child)
    const orphan = findServer(join(dataDir, 'postgres'))
    t.ok(orphan)
    const next = await ensureEmbedded({ dataDir, log: quiet })
    t.equal(next.startedHere, false)
    t.equal(findServer(join(dataDir, 'postgres'))?.pid, orphan?.pid)
    t.same(await query(next.url, 'select * from kept'), [{ number: 7 }])
    await next.release()
    t.equal(findServer(join(dataDir, 'postgres')), undefined)
  })

  await t.test('starts beside a stale postmaster.pid and leftovers of a half-made cluster', async (t) => {
    const dataDir = await dataFolder(t)
    await mkdir(join(dataDir, 'postgres.new-99999999-ab'), { recursive: true })
    await writeFile(join(dataDir, 'postgres.new-99999999-ab/PG_VERSION'), '18')
    const first = await ensureEmbedded({ dataDir, log: quiet })
    await first.release()
    t.notOk(existsSync(join(dataDir, 'postgres.new-99999999-ab')))
    // The number of a dead server now belongs to another process: this one.
    const stale = [process.pid, join(dataDir, 'postgres'), 1, 5432, join(dataDir, 'run'), '', '  1 1', 'ready   ', '']
    await writeFile(join(dataDir, 'postgres/postmaster.pid'), stale.join('\n'))
    const second = await ensureEmbedded({ dataDir, log: quiet })
    t.equal(second.startedHere, true)
    await second.release()
  })

  await t.test('is started again when it dies in use', async (t) => {
    const dataDir = await dataFolder(t)
    const open = await openDatabase({ dataDir, entities: [], log: quiet })
    const number = () => sql<{ n: number }>`select 1::int8 as n`.execute(open.database.sql())
    await number()
    process.kill(findServer(join(dataDir, 'postgres'))?.pid ?? 0, 'SIGKILL')
    let refused = 0
    for (let tries = 0; tries < 400; tries++) {
      const outcome = await number().catch((error) => error)
      if (!(outcome instanceof Error) && refused > 0) break
      if (outcome instanceof Error) {
        if (!(outcome instanceof Refusal && outcome.kind === 'unavailable')) throw outcome
        refused++
      }
      await sleep(25)
    }
    t.ok(refused > 0, 'meanwhile callers hear that the database is unavailable')
    t.same((await number()).rows, [{ n: 1 }])
    await open.close()
    t.equal(findServer(join(dataDir, 'postgres')), undefined)
  })

  await t.test('has its socket elsewhere when the path is too long for one', async (t) => {
    const dataDir = join(await dataFolder(t), 'x'.repeat(90))
    const { url, release } = await ensureEmbedded({ dataDir, log: quiet })
    const sockets = new URL(url).searchParams.get('host') ?? ''
    t.teardown(() => rm(sockets, { recursive: true, force: true }))
    t.ok(sockets.length < 90, sockets)
    t.same(await query(url, 'select 1 as one'), [{ one: 1 }])
    await release()
  })

  await t.test('says what bars its way', { skip: process.getuid?.() !== 0 && 'only root lends a user' }, async (t) => {
    const dataDir = await dataFolder(t)
    await mkdir(join(dataDir, 'private'), { recursive: true })
    await chmod(join(dataDir, 'private'), 0o700)
    await t.rejects(ensureEmbedded({ dataDir: join(dataDir, 'private/data'), log: quiet }), {
      message: /may not enter .*private.*chmod o\+x/,
    })
  })
})

t.test('one process serves a data folder in a role', async (t) => {
  const { url } = await freshDatabase(t)
  const dataDir = await mkdtemp(join(tmpdir(), 'swy-lock-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const { child, said } = await background(
    t,
    `import { holdServe } from '#core/db'
     const lock = await holdServe({ url: ${JSON.stringify(url)}, role: 'web', dataDir: ${JSON.stringify(dataDir)} })
     console.log(lock.held)
     setInterval(() => {}, 1000)`,
  )
  t.equal(said, 'true')
  t.same(await holdServe({ url, role: 'web', dataDir }), { held: false, pid: child.pid })
  const other = await holdServe({ url, role: 'work', dataDir })
  t.ok(other.held, 'another role is free')
  if (other.held) await other.release()
  await killed(child)
  let mine = await holdServe({ url, role: 'web', dataDir })
  for (let tries = 0; !mine.held && tries < 100; tries++) {
    await sleep(20) // the server has yet to notice that the connection is gone
    mine = await holdServe({ url, role: 'web', dataDir })
  }
  t.ok(mine.held, 'kill -9 leaves no lock behind')
  await query(
    url,
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()`,
  )
  for (let tries = 0; tries < 100; tries++) {
    const [locks] = await query<{ n: string }>(url, `select count(*) as n from pg_locks where locktype = 'advisory'`)
    if (locks?.n === '1') break
    await sleep(20)
  }
  t.same(
    await holdServe({ url, role: 'web', dataDir }),
    { held: false, pid: process.pid },
    'a lost connection takes it back',
  )
  if (mine.held) await mine.release()
})
