import { invalid, unprocessable } from './problems.ts'
import { fieldNameOf, ruleNamed } from './rules.ts'
import type { Shape } from './shapes.ts'

/**
 * Turns what a client sent into what a schema says, in two steps as the contract has them: first the types of the
 * whole body, then the rules of its fields, of which the first that is broken is reported. Both are compiled once.
 */
export type Bind = (value: unknown, where: string) => unknown
/** Throws at the first broken rule. */
export type Check = (value: unknown) => void

/** How deep a value may be nested where the schema leaves it free. */
const maxDepth = 64

const jsonKind = (value: unknown) =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value

function mismatch(value: unknown, where: string, wanted: string): never {
  const kind = jsonKind(value)
  const what = kind === 'number' ? `number ${String(value)}` : kind
  throw unprocessable(
    `[]: json: cannot unmarshal ${what} into ${where === '' ? 'value' : `field ${where}`} of type ${wanted}`,
  )
}

/** A text that PostgreSQL can keep: no NUL, no half of a surrogate pair. */
export function cleanText(value: string, where: string): string {
  if (value.includes('\0')) throw invalid(fieldNameOf(where.replace(/.*\./, '')), 'must not contain NUL characters')
  return value.isWellFormed() ? value : value.toWellFormed()
}

/** A free value, copied without what could harm: NUL, `__proto__`, endless nesting. */
function copyFree(value: unknown, where: string, depth = 0): unknown {
  if (typeof value === 'string') return cleanText(value, where)
  if (value === null || typeof value !== 'object') return value
  if (depth > maxDepth) throw unprocessable('[]: json: exceeded max depth')
  if (Array.isArray(value)) return value.map((item) => copyFree(item, where, depth + 1))
  const copy: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value))
    if (key !== '__proto__') copy[cleanText(key, where)] = copyFree(inner, where, depth + 1)
  return copy
}

const rfc3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i

/** Whether a text is a moment in RFC 3339. */
export const isMoment = (value: string) => rfc3339.test(value) && !Number.isNaN(Date.parse(value))

/** The refusal of a text that is no moment. */
export const notMoment = (value: string) =>
  `parsing time "${value.slice(0, 64)}" as "2006-01-02T15:04:05Z07:00": cannot parse "${value.slice(0, 64)}"`

function bindText(shape: Shape): Bind {
  const moment = shape.format === 'date-time'
  return (value, where) => {
    if (typeof value !== 'string') return mismatch(value, where, 'string')
    if (moment && value !== '' && !isMoment(value)) throw unprocessable(`[]: ${notMoment(value)}`)
    // An empty moment is an absent one, as an empty query parameter is.
    return moment && value === '' ? undefined : cleanText(value, where)
  }
}

const bindInteger: Bind = (value, where) => (Number.isSafeInteger(value) ? value : mismatch(value, where, 'int64'))
const bindNumber: Bind = (value, where) => (typeof value === 'number' ? value : mismatch(value, where, 'float64'))
const bindBoolean: Bind = (value, where) => (typeof value === 'boolean' ? value : mismatch(value, where, 'bool'))

function bindArray(shape: Shape, find: Find): Bind {
  const item = shape.items ? bindOf(shape.items, find) : copyFree
  return (value, where) => {
    if (!Array.isArray(value)) return mismatch(value, where, 'array')
    return value.filter((one) => one !== null).map((one) => item(one, where))
  }
}

/** An object with free keys: only its own texts are taken, in a fresh object. */
function bindMap(shape: Shape, find: Find): Bind {
  const inner = typeof shape.additionalProperties === 'object' ? bindOf(shape.additionalProperties, find) : copyFree
  return (value, where) => {
    if (jsonKind(value) !== 'object') return mismatch(value, where, 'map')
    const bound: Record<string, unknown> = {}
    for (const [key, one] of Object.entries(value as object))
      if (key !== '__proto__' && one !== null) bound[cleanText(key, where)] = inner(one, `${where}.${key}`)
    return bound
  }
}

function bindObject(shape: Shape, find: Find): Bind {
  const fields = new Map<string, { key: string; bind: Bind }>()
  const defaults: [string, unknown][] = []
  for (const [key, inner] of Object.entries(shape.properties ?? {})) {
    fields.set(key.toLowerCase(), { key, bind: bindOf(inner, find) })
    if (inner.default !== undefined) defaults.push([key, inner.default])
  }
  return (value, where) => {
    if (jsonKind(value) !== 'object') return mismatch(value, where, 'object')
    const bound: Record<string, unknown> = {}
    for (const key of Object.keys(value as object)) {
      const field = fields.get(key) ?? fields.get(key.toLowerCase())
      const sent = (value as Record<string, unknown>)[key]
      if (field === undefined || sent === null || sent === undefined) continue
      const result = field.bind(sent, where === '' ? field.key : `${where}.${field.key}`)
      if (result !== undefined) bound[field.key] = result
    }
    for (const [key, standard] of defaults) bound[key] ??= standard
    return bound
  }
}

function bindAny(branches: readonly Bind[]): Bind {
  return (value, where) => {
    let failure: unknown
    for (const bind of branches) {
      try {
        return bind(value, where)
      } catch (error) {
        failure ??= error
      }
    }
    throw failure
  }
}

/** Finds the shape of a named record. */
export type Find = (name: string) => Shape
const simpleBinds: Record<string, Bind> = { integer: bindInteger, number: bindNumber, boolean: bindBoolean }

/** Compiles the first step: types. Values of the wrong JSON type throw 422. */
export function bindOf(shape: Shape, find: Find): Bind {
  if (shape.$ref) {
    // Compiled when it is first used, so that records may contain themselves.
    const name = shape.$ref
    let bind: Bind | undefined
    return (value, where) => {
      bind ??= bindOf(find(name), find)
      return bind(value, where)
    }
  }
  if (shape.anyOf) return bindAny(shape.anyOf.map((branch) => bindOf(branch, find)))
  if (Array.isArray(shape.type)) return bindAny(shape.type.map((type) => bindOf({ ...shape, type }, find)))
  if (shape.type === 'string') return bindText(shape)
  if (shape.type === 'array') return bindArray(shape, find)
  if (shape.properties) return bindObject(shape, find)
  if (shape.type === 'object') return bindMap(shape, find)
  return simpleBinds[shape.type ?? ''] ?? copyFree
}

const isZero = (value: unknown) =>
  value === undefined || value === '' || value === 0 || (Array.isArray(value) && value.length === 0)
/** Characters of a text, not its UTF-16 halves; items of a list. */
const sizeOf = (value: unknown) =>
  typeof value === 'string' ? [...value].length : Array.isArray(value) ? value.length : 0

/** The rules of one field, in the order in which they are reported. */
function fieldChecks(shape: Shape): [rule: string, ok: (value: unknown) => boolean][] {
  const checks: [string, (value: unknown) => boolean][] = []
  const named = shape.rule === undefined ? [] : Array.isArray(shape.rule) ? shape.rule : [shape.rule]
  for (const name of named as string[]) checks.push([name, ruleNamed(name)])
  const { enum: allowed, minimum, maximum } = shape
  if (shape.format === 'email') checks.push(['Email', ruleNamed('Email')])
  if (shape.format === 'uri') checks.push(['Url', ruleNamed('Url')])
  if (allowed) checks.push(['In', (value) => allowed.includes(value)])
  const least = Number(shape.minLength ?? shape.minItems ?? 0)
  if (least > 1) checks.push(['MinSize', (value) => sizeOf(value) >= least])
  const most = Number(shape.maxLength ?? shape.maxItems ?? Number.POSITIVE_INFINITY)
  if (most < Number.POSITIVE_INFINITY) checks.push(['MaxSize', (value) => sizeOf(value) <= most])
  if (minimum !== undefined || maximum !== undefined)
    checks.push([
      'Range',
      (value) => (value as number) >= Number(minimum ?? value) && (value as number) <= Number(maximum ?? value),
    ])
  if (shape.pattern) {
    const pattern = new RegExp(shape.pattern as string, 'u')
    checks.push(['Pattern', (value) => pattern.test(String(value))])
  }
  return checks
}

/** Compiles the second step: rules of an object's fields, those of nested objects behind their own. */
export function checkOf(shape: Shape, find: Find, within: readonly string[] = []): Check {
  if (shape.$ref)
    return within.includes(shape.$ref) ? () => {} : checkOf(find(shape.$ref), find, [...within, shape.$ref])
  if (shape.type === 'array' && shape.items) return checkItems(checkOf(shape.items, find, within))
  const required = new Set(shape.required ?? [])
  const fields = Object.entries(shape.properties ?? {}).map(([key, inner]) => ({
    key,
    name: typeof inner.fieldName === 'string' ? inner.fieldName : fieldNameOf(key),
    required: required.has(key) && inner.zero !== true && inner.type !== 'boolean',
    present: required.has(key) && inner.nullable !== true && inner.default === undefined,
    checks: fieldChecks(inner),
    inside: checkOf(inner, find, within),
  }))
  return (value) => {
    if (typeof value !== 'object' || value === null) return
    for (const field of fields) {
      const sent = (value as Record<string, unknown>)[field.key]
      if (sent === undefined ? field.present : field.required && isZero(sent)) throw invalid(field.name, 'Required')
      if (isZero(sent)) continue
      for (const [rule, ok] of field.checks) if (!ok(sent)) throw invalid(field.name, rule)
      field.inside(sent)
    }
  }
}

function checkItems(check: Check): Check {
  return (value) => {
    if (Array.isArray(value)) for (const item of value) check(item)
  }
}
