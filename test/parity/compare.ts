import type { Plain } from './plain.ts'
import type { CallOptions, Json } from './play.ts'
import { fits } from './recording.ts'

export type Difference = {
  /** The step as the recording calls it, for example `GET /user as alice`. */
  readonly step: string
  /** `status`, `headers.link`, `body[0].name`, or `scenario` when it broke off. */
  readonly path: string
  readonly ours: Json | undefined
  readonly reference: Json | undefined
}

/**
 * A difference that is wanted, and why. It must occur. With `ours`, it must be exactly that.
 * The words of `why` name the rule, for example `contract 00: unknown ref is 404`.
 */
export type Explained = {
  readonly step: string | RegExp
  readonly path: string | RegExp
  readonly ours?: Json
  readonly why: string
}

/** `errors`: every error is `{message, url}`, also where the reference says nothing, or says it as text. */
export type Rules = { readonly errors: boolean }
export const ourRules: Rules = { errors: true }

/** Where our answers to a scenario differ from the recorded ones. */
export function compare(
  ours: readonly Plain[],
  recorded: readonly Plain[],
  options: readonly CallOptions[],
  rules: Rules = ourRules,
): Difference[] {
  const found = recorded.flatMap((reference, i) => {
    const step = ours[i]
    return step ? compareStep(step, reference, options[i] ?? {}, rules) : []
  })
  if (ours.length === recorded.length) return found
  const missing = { step: recorded[ours.length]?.what ?? 'the end', path: 'scenario' }
  return [...found, { ...missing, ours: ours.length, reference: recorded.length }]
}

function compareStep(ours: Plain, reference: Plain, options: CallOptions, rules: Rules): Difference[] {
  const found: Difference[] = []
  const report = (path: string, mine: Json | undefined, theirs: Json | undefined) =>
    found.push({ step: reference.what, path, ours: mine, reference: theirs })
  if (ours.status !== reference.status) {
    report('status', ours.status, reference.status)
    return found
  }
  for (const name of new Set([...Object.keys(ours.headers), ...Object.keys(reference.headers)])) {
    const [mine, theirs] = [ours.headers[name], reference.headers[name]]
    if (theirs === undefined ? meaningful.test(name) : !fits(mine, theirs)) report(`headers.${name}`, mine, theirs)
  }
  if (options.bodiless) return found
  if (reference.status >= 400) compareErrors(ours, reference, options, rules, report)
  else compareValue(ours.body, reference.body, 'body', report)
  return found
}

/** Headers that change what a client does when they are there; others are ours to add. */
const meaningful = /^(link|location|content-disposition|etag|x-(?!content-type-options|frame-options).*)$/

type Report = (path: string, ours: Json | undefined, reference: Json | undefined) => unknown

function compareErrors(ours: Plain, reference: Plain, options: CallOptions, rules: Rules, report: Report): void {
  const mine = isRecord(ours.body) ? ours.body : {}
  const theirs = isRecord(reference.body) ? reference.body : {}
  // The reference says a few refusals without an address; there ours may do without it too.
  const wanted = typeof theirs.message === 'string' ? ['message'] : ['message', 'url']
  for (const key of new Set([...(rules.errors ? wanted : []), ...Object.keys(theirs)])) {
    if (mine[key] === undefined) report(`body.${key}`, isRecord(ours.body) ? undefined : ours.body, theirs[key])
    else if (key !== 'message' && key !== 'url') compareValue(mine[key], theirs[key], `body.${key}`, report)
  }
  if (!options.text || typeof theirs.message !== 'string') return
  // What a parser says behind this mark is its own affair.
  if (theirs.message.startsWith('[]: ') && String(mine.message).startsWith('[]: ')) return
  if (!fits(mine.message, theirs.message)) report('body.message', mine.message, theirs.message)
}

function compareValue(ours: Json | undefined, reference: Json | undefined, path: string, report: Report): void {
  if (ours === undefined || reference === undefined) {
    if (ours !== reference) report(path, ours, reference)
  } else if (Array.isArray(ours) && Array.isArray(reference)) {
    if (ours.length !== reference.length) report(`${path}.length`, ours.length, reference.length)
    const shorter = Math.min(ours.length, reference.length)
    for (let i = 0; i < shorter; i++) compareValue(ours[i], reference[i], `${path}[${i}]`, report)
  } else if (isRecord(ours) && isRecord(reference)) {
    const keys = new Set([...Object.keys(reference), ...Object.keys(ours)])
    for (const key of keys) compareValue(ours[key], reference[key], `${path}.${key}`, report)
  } else if (!fits(ours, reference)) report(path, ours, reference)
}

const isRecord = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const covers = (pattern: string | RegExp, text: string) =>
  typeof pattern === 'string' ? pattern === text : pattern.test(text)

/** Differences that nobody explained, and explanations that explain nothing. */
export function judge(differences: readonly Difference[], explained: readonly Explained[]): string[] {
  const used = new Set<Explained>()
  const open = differences.filter((difference) => {
    const reason = explained.find(
      ({ step, path, ours }) =>
        covers(step, difference.step) &&
        covers(path, difference.path) &&
        (ours === undefined || JSON.stringify(ours) === JSON.stringify(difference.ours)),
    )
    if (reason) used.add(reason)
    return !reason
  })
  const idle = explained.filter((reason) => !used.has(reason))
  return [
    ...open.map(({ step, path, ours, reference }) => `${step}: ${path}: ${show(ours)} | reference ${show(reference)}`),
    ...idle.map(({ step, path, why }) => `explained, but does not occur: ${step}: ${path}: ${why}`),
  ]
}

function show(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
