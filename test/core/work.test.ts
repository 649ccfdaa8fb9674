import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { event, Refusal } from '#core/plugin'
import { after, inside, job, jobName, rhythmOf, schedule, type Work } from '#core/work'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { openWorkBench, type WorkBench } from '../support/work.ts'

type Happened = { n: number; repositoryId?: number }
const Happened = event<Happened>('test.happened')
const Other = event<{ n: number }>('test.other')

const connOf = (bench: WorkBench) => bench.database.sql<Record<never, never>>()
const publish = (bench: WorkBench, payload: Happened) => bench.database.tx((tx) => tx.publish(Happened, payload))
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

/** Waits until something becomes true; says what was missing otherwise. */
async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 10_000) {
  for (const end = Date.now() + ms; !(await holds()); await sleep(10)) {
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`)
  }
}

type Backend = { readonly name: string; redis?: TestRedis; lose(bench: WorkBench): Promise<void> }

async function losePostgresQueue(bench: WorkBench) {
  const { rows } = await sql<{ name: string }>`
    select quote_ident(tablename) as name from pg_tables where schemaname = 'jobs' and tablename not like '%migration%'`.execute(
    connOf(bench),
  )
  const tables = rows.map((row) => `jobs.${row.name}`)
  if (tables.length === 0) throw new Error('the queue has no tables')
  await sql.raw(`truncate ${tables.join(', ')} cascade`).execute(connOf(bench))
}

function events(t: Test, open: (t: Test) => Promise<WorkBench>) {
  t.test('in order, causes before consequences, with three workers', async (t) => {
    const bench = await open(t)
    const order: number[] = []
    const workers = [bench.worker(), bench.worker(), bench.worker()]
    for (const work of workers) {
      work.addListener(after(Happened, 'test.record', async ({ n }) => void order.push(n)))
      const answer = async ({ n }: Happened) => {
        if (n < 100) await publish(bench, { n: n + 100 })
      }
      work.addListener(after(Happened, 'test.answer', answer))
      await work.start('work')
    }
    for (const n of numbers(1, 40)) await publish(bench, { n })
    await workers[0]?.idle()
    t.same(
      [...order].sort((a, b) => a - b),
      [...numbers(1, 40), ...numbers(101, 140)],
      'each exactly once',
    )
    t.same(
      order.filter((n) => n < 100),
      numbers(1, 40),
    )
    for (const n of numbers(1, 40)) t.ok(order.indexOf(n) < order.indexOf(n + 100))
    t.same(bench.errors, [])
  })

  t.test('a failing event holds back only its subject', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    const heard: string[] = []
    let failures = 0
    work.addListener(
      after(Happened, 'test.fails', async ({ n, repositoryId }) => {
        heard.push(`${repositoryId}:${n}`)
        if (n === 1 && failures++ < 3) throw new Error('not yet')
      }),
    )
    await bench.database.tx(async (tx) => {
      for (const n of [1, 2]) await tx.publish(Happened, { n, repositoryId: 1 })
      await tx.publish(Happened, { n: 3, repositoryId: 2 })
    })
    await work.start('work')
    await until('the last event', () => heard.includes('1:2'))
    t.same(heard, ['1:1', '2:3', '1:1', '1:1', '1:1', '1:2'])
    t.equal(bench.errors.length, 3, 'each failure is logged')
  })

  t.test('an event that always fails is given up, kept and counted', async (t) => {
    const bench = await open(t)
    const work = bench.worker({ backoff: 0.01, retention: { done: 0, dead: 3_600_000 } })
    const heard: number[] = []
    work.addListener(
      after(Happened, 'test.fails', async ({ n }) => {
        heard.push(n)
        if (n === 1) throw new Error('never')
      }),
    )
    for (const n of [1, 2]) await publish(bench, { n })
    await work.start('work')
    await until('the event behind it', () => heard.includes(2), 20_000)
    t.same(heard, [...Array(10).fill(1), 2])
    await work.idle()
    t.match(await work.counts(), { deliveries: { waiting: 0, dead: 1 } })
    await work.sweep()
    const left = await sql<{ n: number }>`select (payload->>'n')::int as n from outbox`.execute(connOf(bench))
    t.same(left.rows, [{ n: 1 }], 'what was delivered is swept, what was given up stays')
    t.match(await work.counts(), { deliveries: { dead: 1 } })
  })

  t.test('inside the transaction: sees it, joins it, vetoes it', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    t.teardown(bench.outbox.onPublish(work.heard))
    const heard: string[] = []
    work.addListener(
      inside(Happened, 'test.guard', async (tx, { n }) => {
        if (n === 13) throw new Refusal('forbidden', 'not that one')
        await tx.publish(Other, { n })
      }),
    )
    work.addListener(after(Happened, 'test.a', async ({ n }) => void heard.push(`happened ${n}`)))
    work.addListener(after(Other, 'test.b', async ({ n }) => void heard.push(`other ${n}`)))
    await work.start('work')
    await t.rejects(publish(bench, { n: 13 }), { message: 'not that one' })
    await publish(bench, { n: 1 })
    await work.idle()
    t.same(heard.sort(), ['happened 1', 'other 1'])
  })

  t.test('listeners come and go', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    const heard: string[] = []
    const plain = after(Happened, 'test.plain', async ({ n }) => void heard.push(`plain ${n}`))
    const always = after(Happened, 'test.always', async ({ n }) => void heard.push(`always ${n}`), { whileOff: true })
    work.addListener(always)
    let undo = work.addListener(plain)
    t.throws(() => work.addListener(plain), { message: /test\.plain/ })
    await work.start('work')
    await publish(bench, { n: 1 })
    await work.idle()
    await undo()
    await publish(bench, { n: 2 })
    await work.idle()
    undo = work.addListener(plain)
    await publish(bench, { n: 3 })
    await work.idle()
    t.same(
      heard.filter((one) => one.startsWith('plain')),
      ['plain 1', 'plain 3'],
    )
    t.same(
      heard.filter((one) => one.startsWith('always')),
      ['always 1', 'always 2', 'always 3'],
    )
  })

  t.test('what was under way when a listener went is there when it returns', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    const heard: number[] = []
    const slow = after(Happened, 'test.slow', async ({ n }) => {
      heard.push(n)
      await sleep(50)
    })
    const undo = work.addListener(slow)
    await work.start('work')
    await bench.database.tx(async (tx) => {
      for (const n of [1, 2, 3]) await tx.publish(Happened, { n })
    })
    await until('the first', () => heard.length > 0)
    await undo()
    const then = heard.length
    t.ok(then < 3, 'undo does not wait for the queue')
    await sleep(100)
    t.equal(heard.length, then, 'and nothing is delivered after it')
    work.addListener(slow)
    await work.idle()
    t.same(heard, [1, 2, 3])
  })

  t.test('a long transaction holds nothing back', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    const heard: number[] = []
    work.addListener(after(Happened, 'test.record', async ({ n }) => void heard.push(n)))
    await work.start('work')
    const long = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const slow = bench.database.tx(async (tx) => {
      await tx.publish(Happened, { n: 1 })
      begun.resolve()
      await long.promise
    })
    await begun.promise
    await publish(bench, { n: 2 })
    await until('the later event', () => heard.includes(2), 2000)
    t.same(heard, [2])
    long.resolve()
    await slow
    await work.idle()
    t.same(heard, [2, 1])
  })
}

function jobs(t: Test, open: (t: Test) => Promise<WorkBench>, backend: Backend) {
  const enqueue = (bench: WorkBench, work: Work, name: string, payload: unknown = null, options = {}) =>
    bench.database.tx((tx) => work.jobs.enqueue(tx, name, payload, options))

  t.test('500 jobs, each once; a rolled back one never', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    const done: number[] = []
    const Count = jobName<{ n: number }>('test.count')
    work.addJob(job(Count, async ({ n }) => void done.push(n)))
    await work.start('work')
    await bench.database.tx(async (tx) => {
      for (const n of numbers(1, 500)) await work.jobs.enqueue(tx, Count, { n })
    })
    const lost = bench.database.tx(async (tx) => {
      await work.jobs.enqueue(tx, Count, { n: 0 })
      throw new Error('no')
    })
    await t.rejects(lost, { message: 'no' })
    await work.idle()
    t.same(
      done.sort((a, b) => a - b),
      numbers(1, 500),
    )
    t.same(await work.counts(), {
      events: { waiting: 0 },
      deliveries: { waiting: 0, dead: 0 },
      jobs: { waiting: 0, dead: 0 },
    })
    t.same(bench.errors, [])
  })

  t.test('delayed, retried, given up', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    const attempts: number[] = []
    const finished = new Map<string, number>()
    work.addJob(job('test.later', async () => void finished.set('later', Date.now())))
    const third = async (_payload: null, { attempt }: { attempt: number }) => {
      attempts.push(attempt)
      if (attempt < 3) throw new Error('again')
      finished.set('retried', Date.now())
    }
    work.addJob(job('test.retried', third, { backoff: 20 }))
    const never = async () => {
      throw new Error('never')
    }
    work.addJob(job('test.never', never, { attempts: 2, backoff: 1 }))
    await work.start('work')
    const start = Date.now()
    await enqueue(bench, work, 'test.later', null, { delay: 600 })
    await enqueue(bench, work, 'test.retried')
    await enqueue(bench, work, 'test.never')
    await until('all', async () => finished.size === 2 && (await work.counts()).jobs.dead === 1)
    t.same(attempts, [1, 2, 3])
    const waited = (finished.get('later') ?? 0) - start
    t.ok(waited >= 590 && waited < 3000, `the delayed one after ${waited} ms`)
    t.match(await work.counts(), { jobs: { waiting: 0, dead: 1 } })
  })

  t.test('once: collapses until it starts, and its run sees the change', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    let runs = 0
    const gate = Promise.withResolvers<void>()
    const open1 = async () => {
      runs++
      await gate.promise
    }
    work.addJob(job('test.once', open1))
    const ids = [
      await enqueue(bench, work, 'test.once', null, { once: 'a' }),
      await enqueue(bench, work, 'test.once', null, { once: 'a' }),
      await enqueue(bench, work, 'test.once', null, { once: 'b' }),
    ]
    t.equal(ids[0], ids[1])
    t.not(ids[0], ids[2])
    await work.start('work')
    await until('both to run', () => runs === 2)
    t.not(await enqueue(bench, work, 'test.once', null, { once: 'a' }), ids[0], 'one that runs is not joined')
    gate.resolve()
    await work.idle()
    t.equal(runs, 3)
  })

  t.test('a job with a concurrency keeps to it, and does not hold up the others', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    let now = 0
    let most = 0
    let narrow = 0
    let other = 0
    const slow = async () => {
      most = Math.max(most, ++now)
      await sleep(30)
      now--
      narrow++
    }
    await work.start('work')
    work.addJob(job('test.narrow', slow, { concurrency: 2 }))
    work.addJob(job('test.other', async () => void other++))
    await bench.database.tx(async (tx) => {
      for (let i = 0; i < 20; i++) await work.jobs.enqueue(tx, 'test.narrow', null)
      for (let i = 0; i < 5; i++) await work.jobs.enqueue(tx, 'test.other', null)
    })
    await until('the others', () => other === 5)
    t.ok(narrow < 20)
    await work.idle()
    t.equal(narrow, 20)
    t.equal(most, 2)
  })

  t.test('a job whose plugin is off waits for it', async (t) => {
    const bench = await open(t)
    const [here, elsewhere] = [bench.worker(), bench.worker()]
    let runs = 0
    const held = job('test.held', async () => void runs++)
    const undo = here.addJob(held)
    await here.start('work')
    await elsewhere.start('work')
    await undo()
    await enqueue(bench, here, 'test.held')
    await sleep(300)
    t.equal(runs, 0)
    t.match(await here.counts(), { jobs: { waiting: 1 } })
    elsewhere.addJob(held)
    await until('the job', () => runs === 1, 5000)
    await elsewhere.idle()
    t.equal(runs, 1)
  })

  t.test('stops in time, and what it cut off is done elsewhere', async (t) => {
    const bench = await open(t)
    const [first, second] = [bench.worker(), bench.worker()]
    const aborted: boolean[] = []
    const stubborn = async (_payload: null, { signal }: { signal: AbortSignal }) => {
      await sleep(60_000, undefined, { signal, ref: false }).catch(() => {
        aborted.push(signal.aborted)
        throw new Error('cut off')
      })
    }
    first.addJob(job('test.stubborn', stubborn))
    await first.start('work')
    await enqueue(bench, first, 'test.stubborn')
    await sleep(200)
    const start = Date.now()
    await first.stop(1000)
    t.ok(Date.now() - start < 1500, `stopped after ${Date.now() - start} ms`)
    t.same(aborted, [true])
    const attempts: number[] = []
    second.addJob(job('test.stubborn', async (_payload, { attempt }) => void attempts.push(attempt)))
    await second.start('work')
    await until('the second run', () => attempts.length === 1, 5000)
    await second.idle()
    t.match(await second.counts(), { jobs: { waiting: 0, dead: 0 } })
  })

  t.test('a lost queue costs delay only', async (t) => {
    const bench = await open(t)
    const work = bench.worker()
    const done: number[] = []
    let ticks = 0
    work.addJob(job('test.count', async (n: number) => void done.push(n)))
    work.addSchedule(schedule('test.tick', { every: 300 }, async () => void ticks++))
    await work.start('work')
    await bench.database.tx(async (tx) => {
      for (const n of numbers(1, 30)) await work.jobs.enqueue(tx, 'test.count', n, { delay: 400 })
    })
    await sleep(200)
    await backend.lose(bench)
    const before = ticks
    await until('all jobs', () => done.length >= 30, 15_000)
    await until('more ticks', () => ticks > before + 1)
    t.same(
      [...new Set(done)].sort((a, b) => a - b),
      numbers(1, 30),
    )
    t.equal(done.length, 30)
  })
}

function schedules(t: Test, open: (t: Test) => Promise<WorkBench>) {
  t.test('each tick once over two workers', async (t) => {
    const bench = await open(t)
    const every: number[] = []
    const cron: number[] = []
    const workers = [bench.worker(), bench.worker()]
    for (const work of workers) {
      work.addSchedule(schedule('test.every', { every: 250 }, async () => void every.push(Date.now())))
      work.addSchedule(schedule('test.cron', { cron: '* * * * * *' }, async () => void cron.push(Date.now())))
      await work.start('work')
    }
    await sleep(2600)
    await Promise.all(workers.map((work) => work.stop(1000)))
    t.ok(every.length >= 8 && every.length <= 12, `${every.length} ticks of 250 ms in 2.6 s`)
    const seconds = cron.map((at) => Math.floor(at / 1000))
    t.ok(seconds.length >= 2 && seconds.length <= 4, `${seconds.length} ticks of a second in 2.6 s`)
    t.equal(new Set(seconds).size, seconds.length, 'none twice')
    t.same(bench.errors, [])
  })

  t.test('missed ticks run once; a failed run is tried again; an undone schedule is silent', async (t) => {
    const bench = await open(t)
    await sql`insert into schedule_tick (schedule, last_at) values ('test.yearly', now() - interval '3 years')`.execute(
      connOf(bench),
    )
    const work = bench.worker()
    const attempts: number[] = []
    const undo = work.addSchedule(
      schedule('test.yearly', { cron: '0 0 1 1 *' }, async ({ attempt }) => {
        attempts.push(attempt)
        if (attempt === 1) throw new Error('once more')
      }),
    )
    let ticks = 0
    const undoTick = work.addSchedule(schedule('test.tick', { every: 100 }, async () => void ticks++))
    await work.start('work')
    await until('the second attempt', () => attempts.length === 2)
    await undoTick()
    const then = ticks
    t.ok(then > 0)
    await sleep(600)
    t.same(attempts, [1, 2])
    t.equal(ticks, then)
    await undo()
  })
}

function kills(t: Test, open: (t: Test) => Promise<WorkBench>, backend: Backend) {
  t.test('kill -9 of the worker loses nothing and repeats only what was in flight', async (t) => {
    const bench = await open(t)
    await sql`create table begun (kind text, id bigint, pid int)`.execute(connOf(bench))
    await sql`create table seen (kind text, id bigint, pid int)`.execute(connOf(bench))
    const work = bench.worker()
    const total = 60
    for (let n = 0; n < total; n++) {
      await bench.database.tx(async (tx) => {
        await tx.publish(Happened, { n })
        await work.jobs.enqueue(tx, 'test.work', { n })
      })
    }
    const start = async () => {
      const child = fork(new URL('../support/work-child.ts', import.meta.url), [bench.url, backend.redis?.url ?? ''])
      t.teardown(() => child.kill('SIGKILL'))
      await once(child, 'message')
      return child
    }
    const kinds = ['event', 'job']
    const seen = async (kind: string) => {
      const { rows } = await sql<{ id: number; times: number }>`
        select id, count(*) as times from seen where kind = ${kind} group by id`.execute(connOf(bench))
      return rows
    }
    const killed = 3
    for (let round = 0; round < killed; round++) {
      const child = await start()
      await sleep(120 + 60 * round)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const child = await start()
    for (const kind of kinds) await until(`all of ${kind}`, async () => (await seen(kind)).length === total, 30_000)
    await until(
      'an end',
      async () => (await work.counts()).jobs.waiting + (await work.counts()).deliveries.waiting === 0,
      30_000,
    )
    child.kill('SIGKILL')
    for (const kind of kinds) {
      const repeated = (await seen(kind)).reduce((sum, { times }) => sum + times - 1, 0)
      const inFlight = killed * (kind === 'event' ? 1 : 10)
      t.ok(repeated <= inFlight, `${kind}: ${repeated} repeated, at most ${inFlight} were in flight`)
    }
    const order = await sql<{ id: number }>`
      select id from begun where kind = 'event' group by id order by min(ctid)`.execute(connOf(bench))
    const ids = order.rows.map(({ id }) => id)
    t.same(
      ids,
      [...ids].sort((a, b) => a - b),
      'events began in order',
    )
  })
}

function conformance(t: Test, backend: Backend) {
  const open = async (t: Test) => {
    await backend.redis?.flush()
    return openWorkBench(t, backend.redis?.url)
  }
  events(t, open)
  jobs(t, open, backend)
  schedules(t, open)
  kills(t, open, backend)
}

t.setTimeout(180_000)

await t.test('the tables are what the entities say', async (t) => {
  const bench = await openWorkBench(t)
  t.equal(await bench.schemaDifference(), '')
})

await t.test('what operators write for a schedule', async (t) => {
  t.same(rhythmOf('@every 1h30m'), { every: 5_400_000 })
  t.same(rhythmOf(' @midnight '), { cron: '0 0 * * *' })
  t.same(rhythmOf('*/5 0-6 * * MON,FRI'), { cron: '*/5 0-6 * * MON,FRI' })
  for (const bad of ['', '@never', '@every soon', '@every 1ms', '* * *', 'every day'])
    t.throws(() => rhythmOf(bad), RangeError, bad)
})

await t.test('on PostgreSQL', async (t) => conformance(t, { name: 'PostgreSQL', lose: losePostgresQueue }))

const redis = await startRedis()
if (redis) {
  await t.test('on Redis', async (t) => {
    t.teardown(redis.stop)
    conformance(t, { name: 'Redis', redis, lose: () => redis.flush() })
  })
} else {
  await t.test(
    'on Redis',
    { skip: 'no redis-server is installed here: the list ran on PostgreSQL only' },
    async () => {},
  )
}

// The longer time would otherwise keep the process waiting.
t.end()
