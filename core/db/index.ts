/**
 * The record: PostgreSQL, embedded or elsewhere; entities, migrations, transactions, notifications and the outbox.
 * The only room that knows the ORM's machinery and the driver.
 */
export { defineEntity, p } from '@mikro-orm/core'
export { sql } from 'kysely'

import { migrations } from './migrations.ts'
import { Outbox } from './outbox.ts'
import { Setting } from './settings.ts'

export * from './columns.ts'
export * from './compiled.ts'
export * from './database.ts'
export * from './draft.ts'
export { type Embedded, type EmbeddedOptions, ensureEmbedded } from './embedded.ts'
export { codeOf, violatedConstraint } from './errors.ts'
export * from './migrate.ts'
export * from './open.ts'
export { Outbox, type OutboxEntry, type OutboxWriter, outboxChannel, type PublishHook } from './outbox.ts'
export * from './page.ts'
export { countQueries, type QueryHook } from './pool.ts'
export * from './presenter.ts'
export * from './serve-lock.ts'
export * from './settings.ts'

export const dbEntities = [Outbox, Setting] as const
export const dbMigrations = { owner: 'db', migrations } as const
