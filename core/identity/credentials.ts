import { point } from '../plugin/index.ts'
import type { AccountRow } from './actor.ts'

/** What of a request may carry credentials. A query parameter that stands there twice counts the first time. */
export type CredentialFacts = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly query: Readonly<Record<string, string | string[] | undefined>>
}

/** The first value of a header or query parameter; '' when it is missing. */
export const firstOf = (value: string | string[] | undefined): string => (Array.isArray(value) ? value[0] : value) ?? ''

/**
 * Tokens that a plugin knows, for example those of a workflow run or of an OAuth2 application. Asked in turn for
 * every token that is no personal access token, wherever in the request it stood.
 */
export type CredentialSource = {
  readonly name: string
  /** The account behind a value and the scopes of its bearer (normal form, `all` for no confinement). */
  find(value: string): Promise<{ readonly account: AccountRow; readonly scopes: readonly string[] } | undefined>
}
export const CredentialSources = point<CredentialSource>('identity.credential-sources')

/** What an `Authorization` header says. Undefined: nothing that this host understands, so the caller is anonymous. */
export function parseAuthorization(
  header: string,
): { kind: 'token'; value: string } | { kind: 'basic'; user: string; password: string } | undefined {
  const [scheme = '', value, ...more] = header.trim().split(/\s+/)
  if (value === undefined || more.length > 0) return undefined
  const lower = scheme.toLowerCase()
  if (lower === 'token' || lower === 'bearer') return { kind: 'token', value }
  if (lower !== 'basic' || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined
  const text = Buffer.from(value, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { kind: 'basic', user: text.slice(0, colon), password: text.slice(colon + 1) }
}
