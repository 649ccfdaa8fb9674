import { type EntitySchema, MikroORM, types } from '@mikro-orm/postgresql'
import { type Kysely, sql } from 'kysely'
import pg from 'pg'

/**
 * The ORM, over the connections of our pool. Discovery is synchronous and nothing connects.
 * Strings without a length become `text`: PostgreSQL stores both alike, and what a name may hold is a matter of
 * schemas, not of tables.
 */
export function createOrm(kysely: Kysely<unknown>, url: string, entities: readonly EntitySchema[]): MikroORM {
  return new MikroORM({
    entities: [...entities],
    dbName: new pg.Client({ connectionString: url }).database ?? '',
    driverOptions: kysely as never,
    extensions: [],
    discovery: {
      warnWhenNoEntities: false,
      onMetadata(meta) {
        for (const prop of Object.values(meta.properties)) {
          const isString = (prop.type as unknown) === types.string
          if (isString && !prop.columnTypes && prop.length === undefined) prop.type = types.text as never
        }
      },
    },
    schemaGenerator: { createForeignKeyConstraints: true, ignoreSchema: ['jobs'] },
    metadataCache: { enabled: false },
    forceUndefined: false,
    loadStrategy: 'select-in',
    logger: () => {},
  })
}

/** SQL that would bring the database to what the entities declare; '' when it is there. Tables of others are left out. */
export async function schemaDifference(orm: MikroORM): Promise<string> {
  return (await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: false, dropTables: false })).trim()
}

/**
 * Foreign keys whose columns begin no index, as `table.column`: deleting what they point to would read the whole table.
 * A test keeps this list empty.
 */
export async function unindexedForeignKeys(kysely: Kysely<unknown>): Promise<string[]> {
  const { rows } = await sql<{ place: string }>`
    select conrelid::regclass || '.' || string_agg(attname, ',' order by attnum) as place
    from pg_constraint join pg_attribute on attrelid = conrelid and attnum = any(conkey)
    where contype = 'f' and not exists (
      select from pg_index
      where indrelid = conrelid and indpred is null
        and (indkey::int2[])[0:cardinality(conkey) - 1] operator(pg_catalog.@>) conkey)
    group by pg_constraint.oid, conrelid order by 1`.execute(kysely)
  return rows.map(({ place }) => place)
}
