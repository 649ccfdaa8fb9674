/**
 * Repositories: the record, its units, who may do what with it, how lists and records of it are shown, and the
 * writes that keep PostgreSQL equal to git. Everything that needs git itself is in git/.
 */
export * from './access.ts'
export * from './config.ts'
export * from './entities.ts'
export * from './events.ts'
export * as git from './git/index.ts'
export * from './housekeeping.ts'
export * from './lifecycle.ts'
export * from './listing.ts'
export * from './marks.ts'
export { reposMigrations } from './migrations.ts'
export * from './names.ts'
export * from './record.ts'
export * from './ref-rules.ts'
export * from './repos.ts'
export * from './schemas.ts'
export * from './tables.ts'
export * from './units.ts'
export * from './upkeep.ts'
export * from './writes.ts'
