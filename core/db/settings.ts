import { defineEntity, p } from '@mikro-orm/core'
import type { Database, TablesOf } from './database.ts'

/** A value that the operator set while the host ran. */
export const Setting = defineEntity({
  name: 'Setting',
  tableName: 'setting',
  properties: {
    section: p.string().primary(),
    key: p.string().primary(),
    value: p.text(),
    changed_at: p.datetime().defaultRaw('now()'),
  },
})

type Tables = TablesOf<typeof Setting>
const channel = 'setting_changed'

/** Stored settings, kept in memory and refreshed whenever any process changes one. */
export type Settings = {
  get(section: string, key: string): string | undefined
  /** Stores a value and tells every process; null removes it. */
  set(section: string, key: string, value: string | null): Promise<void>
  /** Calls back after any process changed a setting, when `get` already answers the new value. */
  onChange(changed: () => void): () => void
  stop(): void
}

/** Loads the settings and listens for changes. */
export async function openSettings(db: Database): Promise<Settings> {
  let values = new Map<string, string>()
  const listeners = new Set<() => void>()
  const nameOf = (section: string, key: string) => `${section}\n${key}`

  const load = async () => {
    const rows = await db.sql<Tables>().selectFrom('setting').select(['section', 'key', 'value']).execute()
    values = new Map(rows.map((row) => [nameOf(row.section, row.key), row.value]))
  }
  // Loads one after the other: a slow older answer must not overwrite a newer one.
  let turn: Promise<void> = Promise.resolve()
  const refresh = () => {
    turn = turn
      .then(load)
      .then(() => {
        for (const changed of listeners) changed()
      })
      .catch(() => {})
    return turn
  }
  const unlisten = await db.listen(channel, refresh, refresh)
  await load()

  return {
    get: (section, key) => values.get(nameOf(section, key)),
    async set(section, key, value) {
      await db.tx(async (tx) => {
        const sql = tx.sql<Tables>()
        if (value === null) {
          await sql.deleteFrom('setting').where('section', '=', section).where('key', '=', key).execute()
        } else {
          await sql
            .insertInto('setting')
            .values({ section, key, value })
            .onConflict((on) => on.columns(['section', 'key']).doUpdateSet({ value, changed_at: new Date() }))
            .execute()
        }
      })
      await db.notify(channel, '')
      await refresh()
    },
    onChange(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    stop: unlisten,
  }
}
