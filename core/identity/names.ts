import { Refusal } from '../plugin/index.ts'

/** Longest name of a user or an organisation, in characters. */
export const maxNameLength = 40

const reserved = new Set(
  `. .. .well-known api metrics v2 assets attachments avatar avatars repo-avatars captcha login org repo user explore
  issues pulls milestones notifications favicon.ico manifest.json robots.txt sitemap.xml ssh_info swagger.v1.json
  openapi3.v1.json ghost gitea-actions`.split(/\s+/),
)
const patterns = ['*.keys', '*.gpg', '*.rss', '*.atom', '*.png']

/** Whether a text has the shape of an account's name; reserved names have it too. */
export function isNameShaped(name: string): boolean {
  return /^[0-9A-Za-z][-.\w]*$/.test(name) && !/[-._]{2}|[-._]$/.test(name)
}

/**
 * Judges a new name of a user or an organisation.
 *
 * @throws Refusal invalid, with the contract's text
 */
export function checkName(name: string): void {
  const refuse = (message: string) => {
    throw new Refusal('invalid', message)
  }
  const lower = name.toLowerCase()
  if (!isNameShaped(name)) {
    if (reserved.has(lower)) refuse(`name is reserved [name: ${lower}]`)
    refuse(`name is invalid [${name}]: must be valid alpha or numeric or dash(-_) or dot characters`)
  }
  if (name.length > maxNameLength) refuse(`name is invalid [${name}]: must be at most ${maxNameLength} characters`)
  if (reserved.has(lower)) refuse(`name is reserved [name: ${lower}]`)
  const pattern = patterns.find((known) => lower.endsWith(known.slice(1)))
  if (pattern) refuse(`name pattern is not allowed [pattern: ${pattern}]`)
}

/** The text of a refusal because another account has the name. */
export const nameTaken = (name: string) => new Refusal('invalid', `user already exists [name: ${name}]`)
