/**
 * Prints the draft of the next migration of a folder:
 *
 *   node test/support/draft.ts core/identity core/repos plugins/stars
 *
 * Folders come in the order in which their tables depend on each other; the last one is drafted. With `--fresh`, as if
 * it had no migration yet.
 */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { EntitySchema } from '@mikro-orm/core'
import { Client } from 'pg'
import { draftMigration, type Migration } from '../../core/db/index.ts'
import { startTestCluster, withDatabase } from './database.ts'

type Folder = { readonly owner: string; readonly entities: EntitySchema[]; readonly migrations: Migration[] }

/** Rooms and plugins export either a list of migrations, or an owner with its list. */
const listOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'migrations' in value ? value.migrations : value

const isMigration = (value: unknown): value is Migration =>
  typeof value === 'object' && value !== null && 'up' in value && 'name' in value

async function exportsOf(file: string): Promise<unknown[]> {
  if (!existsSync(file)) return []
  return Object.values((await import(file)) as Record<string, unknown>)
}

async function readFolder(folder: string): Promise<Folder> {
  const files = ['entities.ts', 'settings.ts', 'outbox.ts'].map((name) => resolve(folder, name))
  const declared = (await Promise.all(files.map(exportsOf))).flat()
  const migrations = [
    ...(await exportsOf(resolve(folder, 'migrations.ts'))),
    ...(await exportsOf(resolve(folder, 'migrations/index.ts'))),
  ]
  return {
    owner: basename(folder),
    entities: declared.filter((value) => value instanceof EntitySchema),
    migrations: migrations.flatMap(listOf).filter(isMigration),
  }
}

const fresh = process.argv.includes('--fresh')
const paths = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const folders = await Promise.all(paths.map((path) => readFolder(join(process.cwd(), path))))
const last = folders.at(-1)
if (!last) throw new Error('name the folders whose tables it needs, then the folder to draft')

const cluster = await startTestCluster()
try {
  const name = `draft_${randomBytes(4).toString('hex')}`
  const admin = new Client({ connectionString: cluster.url })
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const statements = await draftMigration({
    url: withDatabase(cluster.url, name),
    owners: folders.filter((folder) => !(fresh && folder === last)),
    entities: folders.flatMap((folder) => folder.entities),
  })
  print(statements, fresh ? 1 : last.migrations.length + 1)
} finally {
  await cluster.stop()
}

function print(statements: readonly string[], next: number): void {
  if (statements.length === 0) {
    console.log('nothing to do: the migrations and the entities agree')
    return
  }
  const number = String(next).padStart(4, '0')
  const indented = statements.map((statement) => `      \`${statement.replaceAll('\n', '\n      ')}\`,\n`).join('')
  console.log(`  {\n    name: '${number}-${next === 1 ? 'start' : 'what'}',\n    up: [\n${indented}    ],\n  },`)
}
