/**
 * A worker process for tests that kill it: notes in `seen` each event and job that it finished, and in `begun` each
 * that it started. Arguments: database url, redis url or ''.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { event } from '#core/plugin'
import { after, job } from '#core/work'
import { openWorkBench } from './work.ts'

const [url = '', redisUrl = ''] = process.argv.slice(2)
const bench = await openWorkBench({ teardown: () => {} }, redisUrl || undefined, { url })
// Its death must be noticed soon.
const work = bench.worker({ leaseMs: 1500, lockMs: 1500 })
const note = (table: 'begun' | 'seen', kind: string, id: number) =>
  sql`insert into ${sql.table(table)} (kind, id, pid) values (${kind}, ${id}, ${process.pid})`.execute(
    bench.database.sql<Record<never, never>>(),
  )
const slowly = async (kind: string, id: number) => {
  await note('begun', kind, id)
  await sleep(15)
  await note('seen', kind, id)
}
work.addListener(after(event<{ n: number }>('test.happened'), 'test.slow', (_payload, { id }) => slowly('event', id)))
work.addJob(job('test.work', (_payload, { id }) => slowly('job', id), { attempts: 50 }))
await work.start('work')
process.send?.('ready')
