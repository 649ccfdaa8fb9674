import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readEnvironment } from './environment.ts'
import { parseIni, type Reading } from './ini.ts'
import { ConfigErrors, type Entry, type Mistake } from './mistakes.ts'
import type { SwitchKey } from './schema.ts'

/** Where a configuration is read from; the first three are options of the command line. */
export type ConfigInput = {
  /** Default: app.ini in the data folder, where it exists. */
  readonly file?: string | undefined
  readonly data?: string | undefined
  /** `ADDR:PORT`, `:PORT`, `PORT` or `[v6]:PORT`. */
  readonly http?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** All declared values by falling precedence: options, environment, file. Nothing is checked against a schema yet. */
export type Sources = {
  readonly levels: readonly (readonly Entry[])[]
  readonly mistakes: readonly Mistake[]
  readonly file: string | undefined
  readonly data: string
}

/** Reads options, environment and file. */
export function readSources(input: ConfigInput, switches: readonly SwitchKey[] = []): Sources {
  const bareSwitches = switches.flatMap(({ section, key, aliases = [] }) =>
    [key, ...aliases].map((name) => ({ name, section: section.toLowerCase(), key: name })),
  )
  const environment = readEnvironment(input.env, [
    { name: 'DATABASE_URL', section: 'database', key: 'URL' },
    ...bareSwitches,
  ])
  const named = environment.entries.find(({ section, key }) => section === 'server' && key === 'APP_DATA_PATH')
  const dataBefore = input.data ?? (named?.text || './data')
  const found = join(dataBefore, 'app.ini')
  const file = input.file ?? (existsSync(found) ? found : undefined)
  const declared = file === undefined ? { entries: [], mistakes: [] } : readFile(file)
  const written = declared.entries.find(({ section, key }) => section === 'server' && key === 'APP_DATA_PATH')
  const decided = input.data ?? (named?.text || undefined)
  const data = decided ?? (file && written?.text ? resolve(dirname(file), written.text) : './data')
  const options = readHttpOption(input.http)
  return {
    levels: [options.entries, environment.entries, declared.entries],
    mistakes: [...options.mistakes, ...environment.mistakes, ...declared.mistakes],
    file,
    data,
  }
}

/** One declared value before any schema is known: for what decides which schemas there are. */
export function peek(sources: Sources, section: string, key: string): Entry | undefined {
  return sources.levels.flat().find((entry) => entry.section === section && entry.key === key)
}

function readFile(file: string): Reading {
  try {
    return parseIni(readFileSync(file, 'utf8'), file)
  } catch (error) {
    const source = { kind: 'option', name: `--config ${file}` } as const
    throw new ConfigErrors([{ source, text: `the file cannot be read: ${(error as Error).message}` }])
  }
}

function readHttpOption(http: string | undefined): Reading {
  if (http === undefined) return { entries: [], mistakes: [] }
  const source = { kind: 'option', name: '--http' } as const
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]:|([^:[\]\s]*):)?(\d{1,5})$/.exec(http)
  if (!parts || Number(parts[3]) > 65535) {
    const text = `"${http}" is not an address; allowed: ADDR:PORT, for example 127.0.0.1:3000 or [::1]:3000`
    return { entries: [], mistakes: [{ source, text }] }
  }
  const addr = parts[1] ?? parts[2]
  const port = { section: 'server', key: 'HTTP_PORT', text: parts[3] as string, source }
  return { entries: addr ? [{ section: 'server', key: 'HTTP_ADDR', text: addr, source }, port] : [port], mistakes: [] }
}
