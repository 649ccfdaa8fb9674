import type { EntitySchema } from '@mikro-orm/postgresql'
import { migrate, type Owner } from './migrate.ts'
import { createOrm, schemaDifference } from './orm.ts'
import { createPool } from './pool.ts'

export type DraftOptions = {
  /** An empty database that may be changed. */
  readonly url: string
  /** Migrations that exist. */
  readonly owners: readonly Owner[]
  /** What the tables shall become. */
  readonly entities: readonly EntitySchema[]
}

/**
 * Statements that bring a migrated database to its entities: the draft of the next migration, to be read and edited
 * before it is kept.
 */
export async function draftMigration({ url, owners, entities }: DraftOptions): Promise<string[]> {
  await migrate(url, owners)
  const pool = createPool({ url, log: () => {} })
  try {
    return readable(await schemaDifference(createOrm(pool.kysely, url, entities)))
  } finally {
    await pool.close()
  }
}

/** One statement each, a line per column, no needless quotes. */
function readable(difference: string): string[] {
  return difference
    .split(/;\s*\n+|;\s*$/)
    .map((statement) => statement.trim().replaceAll(quotes, unquote))
    .filter((statement) => statement !== '')
    .map((statement) => {
      const table = /^(create table \S+) \((.*)\)$/s.exec(statement)
      return table ? `${table[1]} (\n  ${columnsOf(table[2] as string).join(',\n  ')}\n)` : statement
    })
}

/** A text, which stays as it is, or a quoted name. */
const quotes = /'(?:[^']|'')*'|"([a-z_][a-z0-9_]*)"/g
const unquote = (all: string, name?: string) => (name && !reserved.has(name) ? name : all)

const reserved = new Set(
  `all and any array as asc both case cast check collate column constraint create default desc distinct do else end
  except false fetch for foreign from grant group having in into is leading limit not null offset on only or order
  primary references returning select some table then to trailing true union unique user using when where window with`.split(
    /\s+/,
  ),
)

/** Splits at commas outside brackets and quotes. */
function columnsOf(list: string): string[] {
  const columns: string[] = []
  let depth = 0
  let quoted = false
  let start = 0
  for (let i = 0; i < list.length; i++) {
    const char = list[i]
    if (char === "'") quoted = !quoted
    else if (quoted) continue
    else if (char === '(') depth++
    else if (char === ')') depth--
    else if (char === ',' && depth === 0) {
      columns.push(list.slice(start, i).trim())
      start = i + 1
    }
  }
  columns.push(list.slice(start).trim())
  return columns
}
