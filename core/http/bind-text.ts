import { cleanText, isMoment, notMoment } from './bind-value.ts'
import { invalid, unprocessable } from './problems.ts'
import { fieldNameOf } from './rules.ts'
import type { Shape } from './shapes.ts'

/** Names with texts, as a query or a form carries them: one text, or several where a name was repeated. */
export type Texts = Readonly<Record<string, string | readonly string[] | undefined>>
type ReadField = (sent: string | readonly string[], name: string) => unknown

/** `1`, `t`, `true` and `on` are true, in any case; everything else is false. */
export const isTrue = (value: string) => /^(1|t|true|on)$/i.test(value)

/** A whole number, or undefined for what is none or beyond what JavaScript counts exactly. */
export function integerOf(value: string): number | undefined {
  if (!/^[+-]?\d{1,16}$/.test(value)) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : undefined
}

const first = (sent: string | readonly string[]) => (typeof sent === 'string' ? sent : (sent[0] ?? ''))

function readText(shape: Shape, strict: boolean): ReadField {
  const allowed = strict ? undefined : shape.enum
  if (allowed)
    return (sent) => {
      const value = first(sent)
      return allowed.includes(value) ? value : undefined
    }
  if (shape.format !== 'date-time') return (sent, name) => cleanText(first(sent), name)
  return (sent) => {
    const value = first(sent)
    if (value === '') return undefined
    if (!isMoment(value)) throw unprocessable(strict ? `[]: ${notMoment(value)}` : notMoment(value))
    return value
  }
}

function readNumber(shape: Shape, strict: boolean): ReadField {
  const parse =
    shape.type === 'integer'
      ? integerOf
      : (value: string) => (value.trim() && Number.isFinite(+value) ? +value : undefined)
  return (sent, name) => {
    const value = first(sent)
    const number = parse(value)
    if (strict && number === undefined && value !== '') throw invalid(fieldNameOf(name), 'IntegerType')
    return number
  }
}

function readList(shape: Shape, strict: boolean): ReadField {
  const item = readerOf(shape.items ?? { type: 'string' }, strict)
  const split = shape.comma !== false && !strict
  return (sent, name) => {
    const all = typeof sent === 'string' ? [sent] : sent
    const texts = split ? all.flatMap((text) => text.split(',')) : all
    return texts.map((text) => (text === '' ? undefined : item(text, name))).filter((value) => value !== undefined)
  }
}

function readerOf(shape: Shape, strict: boolean): ReadField {
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type
  if (type === 'array') return readList(shape, strict)
  if (type === 'boolean') return (sent) => (first(sent) === '' ? undefined : isTrue(first(sent)))
  if (type === 'integer' || type === 'number') return readNumber(shape, strict)
  return readText(shape, strict)
}

/**
 * Compiles the reader of a query (`strict` false: what cannot be read is absent) or of a form (`strict`: 422).
 * Names match in any case; `name[]` is a spelling of a list's `name`. Structured fields cannot be sent this way.
 */
export function textsReader(shape: Shape, strict: boolean): (texts: Texts) => Record<string, unknown> {
  const fields = new Map<string, { key: string; read: ReadField }>()
  const defaults: [string, unknown][] = []
  // A form is checked by its rules afterwards; a query has no other place for this.
  const required = strict ? [] : (shape.required ?? [])
  for (const [key, inner] of Object.entries(shape.properties ?? {})) {
    if (inner.default !== undefined) defaults.push([key, inner.default])
    if (inner.type === 'object' || inner.$ref) continue
    const field = { key, read: readerOf(inner, strict) }
    fields.set(key.toLowerCase(), field)
    fields.set(`${key.toLowerCase()}[]`, field)
  }
  return (texts) => {
    const bound: Record<string, unknown> = {}
    for (const name in texts) {
      const field = fields.get(name) ?? fields.get(name.toLowerCase())
      const sent = texts[name]
      if (field === undefined || sent === undefined) continue
      const value = field.read(sent, field.key)
      if (value !== undefined) bound[field.key] = value
    }
    for (const [key, standard] of defaults) bound[key] ??= standard
    for (const key of required) if (bound[key] === undefined) throw invalid(fieldNameOf(key), 'Required')
    return bound
  }
}

/** Compiles the check of path parameters: what is declared Integer must be one, else nothing is there (undefined). */
export function paramsReader(shape: Shape | undefined): (params: Texts) => Record<string, unknown> | undefined {
  const integers = Object.entries(shape?.properties ?? {})
    .filter(([, inner]) => inner.type === 'integer')
    .map(([key]) => key)
  return (params) => {
    if (integers.length === 0) return params
    const bound: Record<string, unknown> = { ...params }
    for (const key of integers) {
      const value = integerOf(String(params[key] ?? ''))
      if (value === undefined) return undefined
      bound[key] = value
    }
    return bound
  }
}
