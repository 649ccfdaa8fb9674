import type { Json, Played, Step } from './play.ts'

/** A step without what differs from play to play. */
export type Plain = {
  readonly what: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

const headers = [
  'access-control-expose-headers',
  'cache-control',
  'content-disposition',
  'content-range',
  'content-security-policy',
  'content-type',
  'etag',
  'link',
  'location',
  'www-authenticate',
  'x-content-type-options',
  'x-frame-options',
  'x-gitea-object-type',
  'x-gitea-warning',
  'x-hasmore',
  'x-page',
  'x-pagecount',
  'x-perpage',
  'x-total',
  'x-total-count',
]
const headersOfRedirects = ['location']
const headersOfErrors = ['www-authenticate', 'x-gitea-warning']

/** Headers that say the same with other spaces, letters or order. */
const loose: Readonly<Record<string, (value: string) => string>> = {
  'content-type': (value) => value.toLowerCase().replaceAll(' ', ''),
  'access-control-expose-headers': (value) =>
    value
      .toLowerCase()
      .split(/\s*,\s*/)
      .sort()
      .join(', '),
}

/** The address of a picture is a digest of an e-mail address, the SSH address is the operator's. */
const opaque = /^(avatar_url|ssh_url)$/
const identifier = /^(id|.*_id)$/

/** Replaces what differs from play to play: addresses, suffixes, ids and the present time. */
export function plainSteps(played: Played): Plain[] {
  const clean = cleaner(played)
  const seen = new Map<string, number>()
  return played.steps.map((step) => {
    const plain = plainStep(step, clean)
    const count = (seen.get(plain.what) ?? 0) + 1
    seen.set(plain.what, count)
    return count === 1 ? plain : { ...plain, what: `${plain.what} #${count}` }
  })
}

type Clean = (text: string) => string

function plainStep(step: Step, clean: Clean): Plain {
  const { status, options } = step
  const names = status >= 400 ? headersOfErrors : status >= 300 ? headersOfRedirects : headers
  const kept = names.flatMap((name) => {
    const value = step.headers[name]
    return value === undefined ? [] : [[name, clean(loose[name]?.(value) ?? value)]]
  })
  const bodiless = options.bodiless || (status >= 300 && status < 400)
  const answered = options.unordered ? sorted(step.body) : step.body
  const body = bodiless ? null : plainValue(answered, '', clean, options.ignore ?? [])
  return {
    what: nameOf(clean(step.what)),
    status,
    headers: Object.fromEntries(kept),
    body,
  }
}

/** What a step is called in recordings and explanations. */
function nameOf(what: string): string {
  return what
    .replace(/\/\d+(?=[/? ]|$)/g, '/{id}')
    .replace(/[0-9a-f]{64}/g, '{digest}')
    .replace(/[0-9a-f]{40}/g, '{sha}')
    .replace(/(fingerprint|uid|priority_owner_id|starredBy)=[^&x ][^& ]*/g, '$1={text}')
}

/** Lists in the order in which their items were made. */
function sorted(body: Json): Json {
  const id = (item: Json) => (typeof item === 'object' && item !== null && !Array.isArray(item) ? Number(item.id) : 0)
  const order = (list: Json[]) => list.toSorted((a, b) => id(a) - id(b) || (String(a) < String(b) ? -1 : 1))
  if (Array.isArray(body)) return order(body)
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, Array.isArray(value) ? order(value) : value]),
  )
}

function plainValue(value: Json, key: string, clean: Clean, ignore: readonly string[]): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => plainValue(item, key, clean, ignore))
    // The reference lists the files of a commit in any order.
    return key === 'files' ? items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([name]) => !ignore.includes(name))
      .sort()
    const isRepository = 'full_name' in value && 'clone_url' in value
    return Object.fromEntries(
      entries.map(([name, inner]) => [
        name,
        isRepository && name === 'size' ? '{size}' : plainValue(inner, name, clean, ignore),
      ]),
    )
  }
  if (typeof value === 'number') return identifier.test(key) && value > 0 ? '{id}' : value
  if (typeof value !== 'string') return value
  return opaque.test(key) && value !== '' ? '{text}' : clean(value)
}

function cleaner({ base, suffix, from, to }: Played): Clean {
  const host = base.replace(/^https?:\/\//, '')
  const time = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
  return (text) =>
    text
      .replaceAll(encodeURIComponent(base), '{base}')
      .replaceAll(base, '{base}')
      .replaceAll(host, '{host}')
      .replaceAll(suffix, 'SFX')
      .replaceAll(suffix.toUpperCase(), 'SFX')
      .replace(time, (found, fraction: string | undefined, zone: string) => {
        const at = Date.parse(found)
        if (at < from - 60_000 || at > to + 60_000) return found
        return `{time${fraction ? '.fraction' : ''}${zone === 'Z' ? '' : ' with zone'}}`
      })
}
