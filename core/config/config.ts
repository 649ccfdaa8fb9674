import type { Static, TObject } from '@sinclair/typebox'
import { ConfigErrors, describeSource, type Entry, type Mistake, type Source } from './mistakes.ts'
import { suggestion } from './nearest.ts'
import { type Paths, pathsBelow } from './paths.ts'
import {
  allowed,
  coerce,
  type Declarations,
  type Declared,
  declarations,
  type SectionSchemas,
  type SwitchKey,
} from './schema.ts'
import { coreSections } from './sections.ts'
import { type ConfigInput, readSources } from './sources.ts'

/** The operator's settings, checked. A reload makes a new one. */
export type Config = {
  /** The values of a section; with a schema only its keys, typed. A key that is optional and not set is undefined. */
  get(section: string): Readonly<Record<string, unknown>>
  get<S extends TObject>(section: string, schema: S): Readonly<Static<S>>
  /** Where a value comes from. */
  sourceOf(section: string, key: string): Source
  /** What environment or file say of a switch: then it is locked, and `where` says by whom. */
  declared(sw: { readonly section: string; readonly key: string }): { value: boolean; where: string } | undefined
  readonly paths: Paths
  /** The file that was read. */
  readonly file: string | undefined
}

type Found = { readonly value: unknown; readonly text: string; readonly source: Source }

/**
 * Reads and checks the configuration: options win over the environment, then the file, then defaults.
 * Throws ConfigErrors that name every mistake with its place.
 */
export function readConfig(
  input: ConfigInput & { readonly schemas: readonly SectionSchemas[]; readonly switches?: readonly SwitchKey[] },
): Config {
  const switches = input.switches ?? []
  const known = declarations([coreSections, ...input.schemas], switches)
  const sources = readSources(input, switches)
  const mistakes = [...sources.mistakes]
  const found = new Map<string, Found>()
  for (const level of sources.levels.toReversed()) {
    const { values, wrong } = checkLevel(level, known)
    mistakes.push(...wrong)
    for (const [place, value] of values) found.set(place, value)
  }
  const sections = new Map<string, Record<string, unknown>>()
  for (const [section, keys] of known) {
    const values: Record<string, unknown> = {}
    for (const declared of keys.values()) {
      const here = found.get(placeOf(section, declared.key))
      if (!here && declared.schema.default === undefined && !declared.optional) {
        const text = `${label(section, declared.key)}: must be set; allowed: ${allowed(declared.schema)}`
        mistakes.push({ source: { kind: 'default' }, text })
      }
      values[declared.key] = here ? here.value : declared.schema.default
    }
    sections.set(section, values)
  }
  if (mistakes.length > 0) throw new ConfigErrors(mistakes)
  deriveServer(sections.get('server') as Record<string, unknown>)
  return configOf(sections, found, sources.file, sources.data)
}

const placeOf = (section: string, key: string) => `${section}.${key}`
const label = (section: string, key: string) => (section === '' ? key : `[${section}] ${key}`)

/** Checks the entries of one level of precedence. One key with two different values there is a mistake. */
function checkLevel(entries: readonly Entry[], known: Declarations): { values: Map<string, Found>; wrong: Mistake[] } {
  const values = new Map<string, Found>()
  const wrong: Mistake[] = []
  const unknownSections = new Set<string>()
  for (const { section, key, text, source } of entries) {
    const keys = known.get(section)
    const declared = keys?.get(key)
    if (!declared) {
      // One line for an unknown section, not one for each of its keys.
      if (!keys && unknownSections.has(section)) continue
      unknownSections.add(section)
      wrong.push({ source, text: unknown(section, key, known) })
      continue
    }
    const place = placeOf(section, declared.key)
    const before = values.get(place)
    const value = coerce(declared.schema, text)
    if (!value) wrong.push({ source, text: badValue(section, key, text, declared) })
    else if (before && before.text !== text) {
      wrong.push({
        source,
        text: `${label(section, key)}: ${describeSource(before.source)} sets another value already`,
      })
    } else values.set(place, { value: value.value, text, source })
  }
  return { values, wrong }
}

function badValue(section: string, key: string, text: string, { schema }: Declared): string {
  const shown = schema.secret ? 'the value' : `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`
  return `${label(section, key)}: ${shown} is not allowed; allowed: ${allowed(schema)}`
}

function unknown(section: string, key: string, known: Declarations): string {
  const elsewhere = [...known].find(([, keys]) => keys.has(key))?.[0]
  const hint = elsewhere === undefined ? undefined : `; did you mean ${label(elsewhere, key)}?`
  const keys = known.get(section)
  if (!keys && section !== '')
    return `[${section}]: unknown section${suggestion(section, known.keys()) || (hint ?? '')}`
  const where = section === '' ? ' outside any section' : ''
  return `${label(section, key)}: unknown key${where}${hint ?? suggestion(key, keys?.keys() ?? [])}`
}

/** ROOT_URL follows from address and port, DOMAIN from ROOT_URL, where they are not declared. */
function deriveServer(server: Record<string, unknown>): void {
  const addr = String(server.HTTP_ADDR)
  const host = ['0.0.0.0', '::', '[::]'].includes(addr) ? 'localhost' : addr.includes(':') ? `[${addr}]` : addr
  const url = String(server.ROOT_URL) || `http://${host}:${server.HTTP_PORT}`
  server.ROOT_URL = url.replace(/\/*$/, '/')
  server.DOMAIN ||= URL.canParse(url) ? new URL(url).hostname : host
}

function configOf(
  sections: Map<string, Record<string, unknown>>,
  found: Map<string, Found>,
  file: string | undefined,
  data: string,
): Config {
  for (const values of sections.values()) Object.freeze(values)
  const valuesOf = (section: string) => sections.get(section) ?? {}
  const get = (section: string, schema?: TObject) => {
    const values = valuesOf(section)
    if (!schema) return values
    return Object.fromEntries(Object.keys(schema.properties).map((key) => [key, values[key.toUpperCase()]]))
  }
  return {
    get: get as Config['get'],
    sourceOf: (section, key) => found.get(placeOf(section, key))?.source ?? { kind: 'default' },
    declared({ section, key }) {
      const here = found.get(placeOf(section, key))
      return here && { value: here.value === true, where: describeSource(here.source) }
    },
    paths: pathsBelow(data, String(valuesOf('repository').ROOT), String(valuesOf('storage').PATH)),
    file,
  }
}
