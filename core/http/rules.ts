import { isNameShaped } from '../identity/index.ts'

/** The rules that a field of a body may name, by the word that a refusal says. Empty values never reach them. */
type Rule = (value: unknown) => boolean

const text =
  (test: (value: string) => boolean): Rule =>
  (value) =>
    typeof value === 'string' && test(value)

/** An absolute http or https address with a host, and a numeric port if any. */
function isUrl(value: string): boolean {
  if (!/^https?:\/\/[^\s/?#]+/i.test(value)) return false
  try {
    return new URL(value).hostname !== ''
  } catch {
    return false
  }
}

const isEmail = (value: string) =>
  value.length <= 254 &&
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(value) &&
  !value.startsWith('-')

/** What `git check-ref-format --allow-onelevel` accepts. */
function isRefName(value: string): boolean {
  for (const character of value) {
    const code = character.charCodeAt(0)
    if (code <= 0x20 || code === 0x7f || '~^:?*[\\'.includes(character)) return false
  }
  if (value === '@' || value.includes('..') || value.includes('@{') || value.includes('//')) return false
  if (value.startsWith('/') || value.startsWith('-') || value.endsWith('/') || value.endsWith('.')) return false
  return value.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
}

const rules = new Map<string, Rule>([
  ['invalid username', text(isNameShaped)],
  ['Url', text(isUrl)],
  ['Email', text(isEmail)],
  ['AlphaDash', text((value) => /^[A-Za-z0-9_-]*$/.test(value))],
  ['AlphaDashDot', text((value) => /^[A-Za-z0-9_.-]*$/.test(value))],
  ['GitRefName', text(isRefName)],
])

/** The rule of that name. */
export function ruleNamed(name: string): Rule {
  const rule = rules.get(name)
  if (rule === undefined) throw new Error(`there is no rule ${name}; there are ${[...rules.keys()].join(', ')}`)
  return rule
}

/** CamelCase of a key as the contract writes field names: `new_username` is `NewUsername`, `redirect_uris` has its own. */
export function fieldNameOf(key: string): string {
  return key.replace(/(^|[_-])([a-z0-9])/g, (_all, _dash, letter: string) => letter.toUpperCase())
}
