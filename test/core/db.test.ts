import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import {
  countQueries,
  dbEntities,
  dbMigrations,
  migrate,
  type Owner,
  openDatabase,
  pendingMigrations,
  Setting,
  violatedConstraint,
} from '#core/db'
import { event, Refusal } from '#core/plugin'
import { identityEntities } from '../../core/identity/entities.ts'
import { identityMigrations } from '../../core/identity/migrations.ts'
import { reposEntities } from '../../core/repos/entities.ts'
import { reposMigrations } from '../../core/repos/migrations.ts'
import { freshDatabase, query } from '../support/database.ts'

const quiet = () => {}

async function refuses(t: Test, asked: Promise<unknown>, kind: Refusal['kind']): Promise<void> {
  const error = await asked.then(
    () => undefined,
    (error: unknown) => error,
  )
  t.equal(error instanceof Refusal ? error.kind : error, kind)
}

t.test('migrations', async (t) => {
  const start = { name: '0001-start', up: ['create table thing (id int primary key)', 'insert into thing values (1)'] }
  const more = { name: '0002-more', up: ['insert into thing values (2)'] }

  await t.test('are applied once, in order, by one process at a time', async (t) => {
    const { url } = await freshDatabase(t)
    const owners: Owner[] = [
      { owner: 'zoo', migrations: [start] },
      { owner: 'ant', migrations: [more] },
    ]
    t.same(await pendingMigrations(url, owners), ['zoo/0001-start', 'ant/0002-more'])
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(url, owners)))
    t.same(applied.flat(), ['zoo/0001-start', 'ant/0002-more'])
    t.same(await pendingMigrations(url, owners), [])
    t.same(await query(url, 'select id from thing order by id'), [{ id: 1 }, { id: 2 }])
  })

  await t.test('leave nothing of one that fails or is killed half way', async (t) => {
    const { url } = await freshDatabase(t)
    const broken = { name: '0002-broken', up: ['insert into thing values (3)', 'insert into nothing values (1)'] }
    await t.rejects(migrate(url, [{ owner: 'zoo', migrations: [start, broken] }]), {
      message: /zoo\/0002-broken failed: .*"nothing" does not exist\nin: insert into nothing/,
    })
    t.same(await query(url, 'select id from thing'), [{ id: 1 }])
    const slow = { name: '0002-slow', up: ['insert into thing values (4)', 'select pg_sleep(30)'] }
    const running = migrate(url, [{ owner: 'zoo', migrations: [start, slow] }])
    const verdict = t.rejects(running, { message: /zoo\/0002-slow failed/ })
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(30)'
      and datname = current_database()`
    for (let tries = 0; tries < 200 && (await query(url, kill)).length === 0; tries++) await sleep(10)
    await verdict
    t.same(await query(url, 'select id from thing'), [{ id: 1 }])
    t.same(await migrate(url, [{ owner: 'zoo', migrations: [start, more] }]), ['zoo/0002-more'])
  })

  await t.test('do not change after they were applied', async (t) => {
    const { url } = await freshDatabase(t, [{ owner: 'zoo', migrations: [start] }])
    const changed = { ...start, up: [...start.up, 'select 1'] }
    await t.rejects(migrate(url, [{ owner: 'zoo', migrations: [changed] }]), { message: /zoo\/0001-start was changed/ })
  })

  await t.test('equal the entities', async (t) => {
    const owners = [
      dbMigrations,
      { owner: 'identity', migrations: identityMigrations },
      { owner: 'repos', migrations: reposMigrations },
    ]
    const { url } = await freshDatabase(t, owners)
    const entities = [...dbEntities, ...identityEntities, ...reposEntities]
    const open = await openDatabase({ url, entities, log: quiet })
    t.teardown(() => open.close())
    t.equal(await open.schemaDifference(), '')
    t.same(await open.unindexedForeignKeys(), [])
    await query(url, 'alter table setting drop column changed_at; alter table outbox add column odd int')
    t.match(await open.schemaDifference(), /alter table "outbox" drop column "odd".*"setting" add "changed_at"/s)
    await query(url, 'create table child (id int primary key, setting_of int references child (id))')
    t.same(await open.unindexedForeignKeys(), ['child.setting_of'])
  })
})

type Tables = { account: { id: number; total: number; note: string | null; at: Date } }
const accounts: Owner = {
  owner: 'test',
  migrations: [
    {
      name: '0001-start',
      up: [
        `create table account (id int primary key, total bigint not null default 0, note text, at timestamptz default now())`,
        'insert into account (id) select generate_series(1, 8)',
      ],
    },
  ],
}

async function openAccounts(t: Test, more: { lockTimeout?: number; size?: number } = {}) {
  const { url } = await freshDatabase(t, [dbMigrations, accounts])
  const open = await openDatabase({ url, entities: dbEntities, log: quiet, ...more })
  t.teardown(() => open.close())
  return { ...open, db: open.database }
}

t.test('transactions', async (t) => {
  await t.test('join the ORM and Kysely, and commit or leave nothing', async (t) => {
    const { db } = await openAccounts(t)
    const effects: string[] = []
    await db.tx(async (tx) => {
      tx.em.create(Setting, { section: 'a', key: 'b', value: 'c' })
      await tx.em.flush()
      await tx.sql<{ setting: { key: string; value: string } }>().updateTable('setting').set({ value: 'd' }).execute()
      tx.afterCommit(() => effects.push('kept'))
      tx.afterCommit(() => {
        throw new Error('of no consequence')
      })
      t.same(effects, [])
    })
    const refused = db.tx(async (tx) => {
      tx.em.create(Setting, { section: 'x', key: 'y', value: 'z' })
      await tx.em.flush()
      tx.afterCommit(() => effects.push('lost'))
      throw new Refusal('conflict', 'no')
    })
    await refuses(t, refused, 'conflict')
    t.same(await sql`select section, key, value from setting`.execute(db.sql()).then(({ rows }) => rows), [
      { section: 'a', key: 'b', value: 'd' },
    ])
    t.same(effects, ['kept'])
  })

  await t.test('survive deadlocks of 64 writers', async (t) => {
    const { db, url } = await openAccounts(t)
    await query(url, `alter database ${new URL(url).pathname.slice(1)} set deadlock_timeout = '20ms'`)
    let runs = 0
    const writes = Array.from({ length: 64 }, (_, writer) =>
      db.tx(async (tx) => {
        runs++
        const add = (id: number) =>
          tx
            .sql<Tables>()
            .updateTable('account')
            .set((eb) => ({ total: eb('total', '+', 1) }))
            .where('id', '=', id)
            .execute()
        const order = writer % 2 ? [1, 2] : [2, 1]
        for (const id of order) await add(id)
      }),
    )
    await Promise.all(writes)
    t.same(await query(url, 'select total from account where id <= 2'), [{ total: '64' }, { total: '64' }])
    t.ok(runs > 64, 'there were some to survive')
  })

  await t.test('are run again after a serialization failure, and not for ever', async (t) => {
    const { db } = await openAccounts(t)
    const fail = (times: number) => {
      let runs = 0
      const done = db.tx(async (tx) => {
        if (++runs <= times) await sql`do $$ begin raise sqlstate '40001'; end $$`.execute(tx.sql())
        return runs
      })
      return done
    }
    t.equal(await fail(3), 4)
    await refuses(t, fail(100), 'unavailable')
  })

  await t.test('do not pretend to commit what an error had spoiled', async (t) => {
    const { db, url } = await openAccounts(t)
    await t.rejects(
      db.tx(async (tx) => {
        await tx.sql<Tables>().updateTable('account').set({ note: 'lost' }).execute()
        await sql`select 1 / 0`.execute(tx.sql()).catch(() => {})
      }),
      { message: /nothing was saved/ },
    )
    t.same(await query(url, `select from account where note = 'lost'`), [])
  })

  await t.test('say what went wrong in terms of the domain', async (t) => {
    const { db } = await openAccounts(t, { lockTimeout: 100 })
    const twice = db.tx((tx) => sql`insert into account (id) values (1)`.execute(tx.sql()))
    t.equal(violatedConstraint(await twice.catch((error) => error)), 'account_pkey')
    t.equal(violatedConstraint(new Error('other')), undefined)
    const write = (note: string) => db.tx((tx) => tx.sql<Tables>().updateTable('account').set({ note }).execute())
    await refuses(t, write('a\0b'), 'invalid')
    const find = (id: number) => db.sql<Tables>().selectFrom('account').selectAll().where('id', '=', id).execute()
    await refuses(t, find(2 ** 60), 'invalid')
    await db.tx(async (tx) => {
      await tx.sql<Tables>().updateTable('account').set({ note: 'held' }).execute()
      await refuses(t, write('waits'), 'unavailable')
    })
    const nowhere = await openDatabase({ url: 'postgresql://x@localhost/x?host=/nowhere', entities: [], log: quiet })
    await refuses(t, sql`select 1`.execute(nowhere.database.sql()), 'unavailable')
    await refuses(
      t,
      nowhere.database.tx(async () => {}),
      'unavailable',
    )
    await refuses(t, nowhere.database.listen('x', quiet), 'unavailable')
    await nowhere.close()
  })

  await t.test('lose no connection, whatever fails', async (t) => {
    const { db } = await openAccounts(t, { size: 1 })
    for (let round = 0; round < 3; round++) {
      await t.rejects(db.tx((tx) => sql`select 1 / 0`.execute(tx.sql())))
      const cut = db.tx((tx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx.sql()))
      await refuses(t, cut, 'unavailable')
    }
    t.equal(await db.tx(async () => 'still there'), 'still there')
  })
})

t.test('reads', async (t) => {
  const { db, url } = await openAccounts(t)
  const find = () => db.sql<Tables>().selectFrom('account').selectAll().where('id', '=', 1).executeTakeFirstOrThrow()

  await t.test('give numbers and dates', async (t) => {
    const { at, total } = await find()
    t.type(at, Date)
    t.equal(total, 0)
    const { rows } =
      await sql`select count(*) as n, array[5::int8, null] as list, date '2024-02-03' as day from account`.execute(
        db.sql(),
      )
    t.same(rows, [{ n: 8, list: [5, null], day: '2024-02-03' }])
  })

  await t.test('are counted', async (t) => {
    t.equal(await countQueries(find), 1)
    t.equal(
      await countQueries(() => db.tx(async (tx) => Promise.all([1, 2].map(() => sql`select 1`.execute(tx.sql()))))),
      2,
    )
  })

  await t.test('go on when a table changes under a prepared statement', async (t) => {
    for (let i = 0; i < 20; i++) await find()
    const [{ n } = { n: 0 }] = (
      await sql<{ n: number }>`select count(*) as n from pg_prepared_statements`.execute(db.sql())
    ).rows
    t.equal(n, 1, 'what is read often is prepared')
    await query(url, 'alter table account add column later int')
    t.match(await find(), { id: 1, later: null })
    const list = (from: { sql: typeof db.sql }) =>
      from.sql<Tables>().selectFrom('account').selectAll().where('id', '<', 3).orderBy('id').execute()
    for (let i = 0; i < 20; i++) await list(db)
    await query(url, 'alter table account add column last int')
    t.match(await db.tx(list), [{ last: null }, { last: null }])
  })
})

t.test('listening goes on after the connection was lost', async (t) => {
  const { db, url } = await openAccounts(t)
  const heard: string[] = []
  let gaps = 0
  const until = async (done: () => boolean) => {
    for (let tries = 0; tries < 500 && !done(); tries++) await sleep(10)
  }
  const stop = await db.listen(
    'odd "channel"',
    (payload) => heard.push(payload),
    () => void gaps++,
  )
  await db.listen('odd "channel"', () => {
    throw new Error('of no consequence')
  })
  await db.notify('odd "channel"', 'one')
  await until(() => heard.length === 1)
  await query(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'switchyard listener%' and datname = current_database()`,
  )
  await until(() => gaps === 1)
  await db.notify('odd "channel"', 'two')
  await until(() => heard.length === 2)
  t.same(heard, ['one', 'two'])
  t.equal(gaps, 1)
  stop()
  const after = new Promise<void>((resolve) => void db.listen('after', () => resolve()))
  await db.notify('odd "channel"', 'three')
  await sleep(50)
  await db.notify('after', '')
  await after
  t.same(heard, ['one', 'two'])
})

t.test('the outbox', async (t) => {
  const Happened = event<{ what: string }>('thing.happened')
  const Followed = event<{ what: string }>('thing.followed')
  const { db, outbox } = await openAccounts(t)
  const rows = async () => (await sql`select kind, name, payload from outbox order by id`.execute(db.sql())).rows
  let woken = 0
  await db.listen('outbox', () => void woken++)

  await t.rejects(
    db.tx(async (tx) => {
      await tx.publish(Happened, { what: 'nothing' })
      throw new Error('taken back')
    }),
  )
  t.same(await rows(), [])

  await db.tx(async (tx) => {
    await tx.publish(Happened, { what: 'first' })
    await outbox.record(tx, { kind: 'job', name: 'count', payload: undefined })
  })
  for (let tries = 0; tries < 200 && woken === 0; tries++) await sleep(10)
  t.ok(woken > 0, 'readers are woken after the commit')
  const first = { kind: 'event', name: 'thing.happened', payload: { what: 'first' } }
  t.same(await rows(), [first, { kind: 'job', name: 'count', payload: null }])

  const off = outbox.onPublish(async (tx, name, payload) => {
    const { what } = payload as { what: string }
    if (what === 'bad') throw new Refusal('forbidden', 'vetoed')
    if (name === Happened.id) await tx.publish(Followed, { what })
  })
  const vetoed = db.tx((tx) => tx.publish(Happened, { what: 'bad' }))
  await refuses(t, vetoed, 'forbidden')
  await db.tx((tx) => tx.publish(Happened, { what: 'second' }))
  off()
  await db.tx((tx) => tx.publish(Happened, { what: 'bad' }))
  t.same(
    (await rows()).slice(2).map((row) => (row as { name: string; payload: { what: string } }).name),
    ['thing.happened', 'thing.followed', 'thing.happened'],
    'a consequence comes after its cause',
  )
})
