import { Refusal, type RefusalKind } from '../plugin/index.ts'

const label = '[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?'
const characters = /^[a-zA-Z0-9.!#$%&'*+\-/=?^_`{|}~]+@[0-9A-Za-z.-]+$/
const host = new RegExp(`^${label}(?:\\.${label})*$`)
const longest = 254

/** What is wrong with an address, in the contract's words; undefined when nothing is. */
export function emailFault(address: string): string | undefined {
  if (address.length > longest) return `e-mail invalid [email: ${address}]`
  if (!characters.test(address)) return `e-mail address contains unsupported character [email: ${address}]`
  const at = address.lastIndexOf('@')
  const local = address.slice(0, at)
  const atoms = !local.startsWith('-') && local.split('.').every((atom) => atom !== '')
  return atoms && host.test(address.slice(at + 1)) ? undefined : `e-mail invalid [email: ${address}]`
}

/** @throws Refusal of a kind (invalid unless told) when the address is malformed */
export function checkEmail(address: string, kind: RefusalKind = 'invalid'): void {
  const fault = emailFault(address)
  if (fault) throw new Refusal(kind, fault)
}

/** Whether a text is a well-formed address with a dotted host: the rule of request bodies (`[Email]: Email`). */
export const isEmailShaped = (address: string) => emailFault(address) === undefined && /@.*\./.test(address)

/** `*` stands for any text, `?` for one character; case does not matter. */
function globMatches(glob: string, text: string): boolean {
  const source = glob.trim().replace(/[\\^$.|+()[\]{}]/g, '\\$&')
  return new RegExp(`^${source.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i').test(text)
}

/** Judges an address's domain: an allow list, when there is one, decides alone; otherwise the block list does. */
export function isDomainAllowed(address: string, allow: readonly string[], block: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  if (allow.length > 0) return allow.some((glob) => globMatches(glob, domain))
  return !block.some((glob) => globMatches(glob, domain))
}

/** Why an address of an unwanted domain is refused or warned of. */
export const domainConflict = (address: string) =>
  `the domain of user email ${address} conflicts with EMAIL_DOMAIN_ALLOWLIST or EMAIL_DOMAIN_BLOCKLIST`

export const emailTaken = (address: string, kind: RefusalKind = 'invalid') =>
  new Refusal(kind, `e-mail already in use [email: ${address}]`)
