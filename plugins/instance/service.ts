import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '#core/db'

/**
 * The features whose state clients ask for, each by the switch of the plugin that is to own it. A host without such a
 * plugin reports the feature as disabled: a client must not offer what is not there.
 */
export const features = {
  mirrors: { section: 'plugins', key: 'DISABLE_MIRRORS' },
  httpGit: { section: 'repository', key: 'DISABLE_HTTP_GIT' },
  migrations: { section: 'repository', key: 'DISABLE_MIGRATIONS' },
  stars: { section: 'repository', key: 'DISABLE_STARS' },
  timeTracking: { section: 'plugins', key: 'DISABLE_TIME_TRACKING' },
  lfs: { section: 'plugins', key: 'DISABLE_LFS' },
  attachments: { section: 'plugins', key: 'DISABLE_ATTACHMENTS' },
} as const

/** How long the database may take to answer, in ms. */
const patience = 5_000

export type Health = {
  readonly status: 'pass' | 'fail'
  readonly description: string
  readonly checks: Readonly<Record<string, readonly { status: 'pass' | 'fail'; time: string }[]>>
}

async function answers(db: Database): Promise<boolean> {
  const gaveUp = new AbortController()
  const tooLate = sleep(patience, false, { signal: gaveUp.signal, ref: false }).catch(() => false)
  const asked = sql`select 1`.execute(db.sql()).then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([asked, tooLate])
  } finally {
    gaveUp.abort()
  }
}

/** Whether the host can do its work. `cache:ping` is there for monitors that look for it: the host has no cache server. */
export async function healthOf(db: Database, description: string): Promise<Health> {
  const status = (await answers(db)) ? 'pass' : 'fail'
  const time = `${new Date().toISOString().slice(0, 19)}Z`
  return {
    status,
    description,
    checks: { 'cache:ping': [{ status: 'pass', time }], 'database:ping': [{ status, time }] },
  }
}
