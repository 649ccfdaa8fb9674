import { Kind, OptionalKind, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Sections and their keys, as one owner declares them. Several owners may share a section, never a key. */
export type SectionSchemas = Readonly<Record<string, TObject>>

/** A switch as far as the configuration knows it: a boolean key, its bare name and its other spellings. */
export type SwitchKey = {
  readonly section: string
  readonly key: string
  readonly aliases?: readonly string[]
  readonly description?: string
}

/** A declared key. `key` differs from the name it was found by where that is an alias. */
export type Declared = { readonly key: string; readonly schema: TSchema; readonly optional: boolean }
export type Declarations = ReadonlyMap<string, ReadonlyMap<string, Declared>>

/** All sections and keys that may be declared. Throws where two owners declare one key: that is a bug of theirs. */
export function declarations(schemas: readonly SectionSchemas[], switches: readonly SwitchKey[]): Declarations {
  const sections = new Map<string, Map<string, Declared>>()
  const keysOf = (name: string) => {
    const section = name.toLowerCase()
    const known = sections.get(section) ?? new Map<string, Declared>()
    sections.set(section, known)
    return known
  }
  for (const owner of schemas) {
    for (const [section, object] of Object.entries(owner)) {
      const keys = keysOf(section)
      for (const [name, schema] of Object.entries(object.properties)) {
        const key = name.toUpperCase()
        if (keys.has(key)) throw new Error(`[${section}] ${key} is declared by two owners`)
        keys.set(key, { key, schema, optional: OptionalKind in schema })
      }
    }
  }
  for (const { section, key, aliases = [], description } of switches) {
    const keys = keysOf(section)
    const schema = Type.Boolean({ default: false, ...(description ? { description } : {}) })
    const declared = keys.get(key) ?? { key, schema, optional: false }
    for (const name of [key, ...aliases]) if (!keys.has(name)) keys.set(name, declared)
  }
  return sections
}

const truths = new Map([
  ...['true', 'yes', 'on', '1'].map((text) => [text, true] as const),
  ...['false', 'no', 'off', '0'].map((text) => [text, false] as const),
])

/** Turns text into what the schema asks for; undefined where it cannot be. */
export function coerce(schema: TSchema, text: string): { readonly value: unknown } | undefined {
  const value = convert(schema, text.trim())
  return value !== undefined && Value.Check(schema, value) ? { value } : undefined
}

function convert(schema: TSchema, text: string): unknown {
  switch (schema[Kind]) {
    case 'Boolean':
      return truths.get(text.toLowerCase())
    case 'Integer':
      return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
    case 'Number':
      return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
    case 'Literal':
      return String(schema.const).toLowerCase() === text.toLowerCase() ? schema.const : undefined
    case 'Union':
      return (schema.anyOf as TSchema[]).map((member) => coerce(member, text)).find((found) => found)?.value
    case 'Array': {
      const parts = text.split(',').map((part) => part.trim())
      const items = parts.filter((part) => part !== '').map((part) => convert(schema.items as TSchema, part))
      return items.includes(undefined) ? undefined : items
    }
    default:
      return text
  }
}

/** What a key takes, for messages: `true or false`, `a whole number from 0 to 65535`. `allowed` in the schema wins. */
export function allowed(schema: TSchema): string {
  if (typeof schema.allowed === 'string') return schema.allowed
  switch (schema[Kind]) {
    case 'Boolean':
      return 'true or false'
    case 'Integer':
    case 'Number':
      return `a ${schema[Kind] === 'Integer' ? 'whole ' : ''}number${rangeOf(schema)}`
    case 'Literal':
      return String(schema.const) === '' ? 'empty' : String(schema.const)
    case 'Union':
      return (schema.anyOf as TSchema[]).map(allowed).join(' | ')
    case 'Array':
      return `a comma list of: ${allowed(schema.items as TSchema)}`
    default:
      return schema.format === 'duration' ? 'a duration such as 10m or 8h0m0s' : 'text'
  }
}

function rangeOf({ minimum, maximum }: TSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return `, ${minimum} or more`
  return maximum === undefined ? '' : `, ${maximum} or less`
}
