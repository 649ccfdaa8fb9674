/**
 * `npm run bench`: how fast our host answers, and, with a reference server's URL, how fast that one does.
 *
 *   REFERENCE_URL=http://127.0.0.1:3300 REFERENCE_ADMIN=admin:admin-pw npm run bench
 *
 * OURS_URL and OURS_ADMIN measure a host that runs already; otherwise one is started on a folder that is removed.
 * Both should use the same PostgreSQL server: start any PostgreSQL that listens on TCP, make two empty databases, start
 * the reference on one, and give the other to ours: DATABASE_URL=postgresql://user:pass@127.0.0.1:5432/ours.
 * BENCH_SECONDS (3) of a round, BENCH_ROUNDS (3), BENCH_CONNECTIONS (8). Nothing else should run on the machine.
 * The servers take turns: ours, reference, ours, reference, …; compared are medians of the rounds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiCommand, apiScenarios, measureApi, measureClones, measurePushes, type Round, seconds } from './measure.ts'
import { makeSource, runGit, type Seeded, seed } from './seed.ts'
import { given, type Server, startOurs } from './servers.ts'

const rounds = Number(process.env.BENCH_ROUNDS) || 3
const { OURS_URL, OURS_ADMIN, REFERENCE_URL, REFERENCE_ADMIN = 'admin:admin-pw' } = process.env

/** What is compared with what, and the least that is wanted of ours. */
type Row = { readonly name: string; readonly ours: Round[]; readonly reference: Round[]; readonly folder: Round[] }

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
const rateOf = (all: readonly Round[]) => median(all.map(({ rate }) => rate))
const p99Of = (all: readonly Round[]) => median(all.map(({ p99 }) => p99))

async function measureAll(places: readonly Seeded[], folder: string, source: string): Promise<Row[]> {
  const rows: Row[] = []
  const take = async (name: string, measure: (seeded: Seeded) => Promise<Round> | Round, local?: () => Round) => {
    const row: Row = { name, ours: [], reference: [], folder: [] }
    for (let round = 0; round < rounds; round++) {
      for (const place of places) row[place.server.name].push(await measure(place))
      if (local) row.folder.push(local())
    }
    rows.push(row)
    console.log(describe(row))
  }
  for (const [name, pathOf] of Object.entries(apiScenarios)) {
    for (const place of places) console.log(`$ ${apiCommand(place.server.base, pathOf(place))}`)
    await take(name, (place) => measureApi(place, pathOf(place)))
  }
  const bare = join(folder, 'bare.git')
  runGit(folder, 'clone', '-q', '--bare', source, bare)
  for (const remote of ['http://…/files.git', bare]) console.log(`$ git clone -q --no-local ${remote}`)
  await take(
    'clone',
    (place) => measureClones(place.remote),
    () => measureClones(bare),
  )
  for (const remote of ['http://…/files.git', bare]) console.log(`$ git push -q ${remote} (one commit of one file)`)
  await take(
    'small push',
    (place) => measurePushes(place.remote),
    () => measurePushes(bare),
  )
  return rows
}

const figure = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3))

function describe({ name, ours, reference, folder }: Row): string {
  const parts = [`${name.padEnd(20)} ours ${figure(rateOf(ours))}/s, p99 ${figure(p99Of(ours))} ms`]
  if (reference.length > 0) {
    parts.push(`reference ${figure(rateOf(reference))}/s, p99 ${figure(p99Of(reference))} ms`)
    parts.push(`ratio ${figure(rateOf(ours) / rateOf(reference))}`)
  }
  if (folder.length > 0)
    parts.push(`between folders ${figure(rateOf(folder))}/s, time ratio ${figure(rateOf(folder) / rateOf(ours))}`)
  return parts.join(' | ')
}

function table(rows: readonly Row[]): string {
  const header = '| scenario | ours /s | p99 ms | reference /s | p99 ms | ratio | time against two folders |'
  const lines = rows.map(({ name, ours, reference, folder }) => {
    const other = reference.length > 0
    const cells = [
      name,
      figure(rateOf(ours)),
      figure(p99Of(ours)),
      other ? figure(rateOf(reference)) : '',
      other ? figure(p99Of(reference)) : '',
      other ? figure(rateOf(ours) / rateOf(reference)) : '',
      folder.length > 0 ? figure(rateOf(folder) / rateOf(ours)) : '',
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [header, '|---|---|---|---|---|---|---|', ...lines].join('\n')
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-source-'))
  const source = join(folder, 'source')
  const servers: Server[] = []
  const places: Seeded[] = []
  try {
    makeSource(source)
    servers.push(OURS_URL ? given('ours', OURS_URL, OURS_ADMIN ?? 'admin:admin-pw') : await startOurs())
    if (REFERENCE_URL) servers.push(given('reference', REFERENCE_URL, REFERENCE_ADMIN))
    for (const server of servers) places.push(await seed(server, source))
    console.log(
      `${rounds} rounds of ${seconds} s; ${REFERENCE_URL ? 'ours and the reference in turns' : 'no REFERENCE_URL: ours only'}`,
    )
    console.log(`\n${table(await measureAll(places, folder, source))}`)
  } finally {
    for (const place of places) await place.clear()
    for (const server of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

await main()
