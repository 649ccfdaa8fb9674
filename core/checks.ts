import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Booted } from './boot.ts'
import type { Check } from './cli/index.ts'
import { pendingMigrations } from './db/index.ts'
import type { ReposTables } from './repos/index.ts'
import { ownersOf } from './rooms.ts'

/** What `switchyard doctor` looks at once the rooms are open. */
export function checksOf(rooms: Booted): Check[] {
  return [migrationsCheck(rooms), tablesCheck(rooms), pluginsCheck(rooms), workCheck(rooms), repositoriesCheck(rooms)]
}

const migrationsCheck = ({ opened, plugins }: Booted): Check => ({
  name: 'migrations',
  async run() {
    const pending = await pendingMigrations(opened.url, ownersOf(plugins.plugins))
    if (pending.length === 0) return { ok: true, detail: 'all applied' }
    return { ok: false, detail: `missing: ${pending.join(', ')}`, hint: 'run switchyard migrate' }
  },
})

const tablesCheck = ({ opened }: Booted): Check => ({
  name: 'tables',
  async run() {
    const difference = await opened.schemaDifference()
    if (difference === '') return { ok: true, detail: 'as this version declares them' }
    return { ok: false, detail: `they differ: ${difference.split('\n')[0]}`, hint: 'somebody changed them by hand' }
  },
})

const pluginsCheck = ({ plugins }: Booted): Check => ({
  name: 'plugins',
  async run() {
    await plugins.reconcile()
    const broken = plugins.status().filter((plugin) => plugin.why.startsWith('start failed'))
    await plugins.stop()
    const detail = broken.map((plugin) => `${plugin.name}: ${plugin.why}`).join('; ')
    return { ok: broken.length === 0, detail: detail || `${plugins.plugins.length} can start` }
  },
})

const workCheck = ({ work }: Booted): Check => ({
  name: 'background work',
  async run() {
    const { events, deliveries, jobs } = await work.counts()
    const waiting = `${events.waiting} events, ${deliveries.waiting} deliveries and ${jobs.waiting} jobs wait`
    const dead = deliveries.dead + jobs.dead
    if (dead === 0) return { ok: true, detail: waiting }
    return { ok: false, detail: `${waiting}; ${dead} were given up`, hint: 'the log says why' }
  },
})

/** Compares the records with the folders: one without the other is left over from a fault. */
const repositoriesCheck = ({ opened, repos, config }: Booted): Check => ({
  name: 'repositories',
  async run() {
    const rows = await opened.database.sql<ReposTables>().selectFrom('repository').select('id').execute()
    const known = new Set(rows.map((row) => repos.gitDir(row)))
    const folders = await foldersIn(config.paths.repositories)
    const missing = [...known].filter((folder) => !folders.has(folder))
    const stray = [...folders].filter((folder) => !known.has(folder))
    const faults = [
      ...(missing.length > 0 ? [`without a folder: ${missing.slice(0, 5).join(', ')}`] : []),
      ...(stray.length > 0 ? [`folders without a record: ${stray.slice(0, 5).join(', ')}`] : []),
    ]
    return { ok: missing.length === 0, detail: faults.join('; ') || `${known.size}, all on disk` }
  },
})

async function foldersIn(root: string): Promise<Set<string>> {
  const folders = new Set<string>()
  for (const shelf of await readdir(root).catch(() => [])) {
    for (const name of await readdir(join(root, shelf)).catch(() => [])) {
      if (name.endsWith('.git')) folders.add(join(root, shelf, name))
    }
  }
  return folders
}
