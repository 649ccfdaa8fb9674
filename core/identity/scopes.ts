import { Refusal } from '../plugin/index.ts'
import { type Actor, type ScopeCategory, scopeCategories } from './actor.ts'

export type ScopeLevel = 'read' | 'write'

const known = new Set(scopeCategories.flatMap((category) => [`read:${category}`, `write:${category}`]))

/**
 * Brings scopes into their normal form: duplicates and implied reads dropped, in the contract's order; all writes
 * together read `all`.
 *
 * @throws Refusal bad-request, naming the first scope that is unknown
 */
export function normalScopes(scopes: readonly string[]): string[] {
  const asked = new Set(scopes.map((scope) => scope.trim()).filter((scope) => scope !== ''))
  for (const scope of asked) {
    if (scope === 'all' || scope === 'public-only' || known.has(scope)) continue
    throw new Refusal('bad-request', `invalid access token scope provided: invalid access token scope: ${scope}`)
  }
  const levels = scopeCategories.flatMap((category) => {
    if (asked.has('all') || asked.has(`write:${category}`)) return [`write:${category}`]
    return asked.has(`read:${category}`) ? [`read:${category}`] : []
  })
  const all = levels.length === scopeCategories.length && levels.every((scope) => scope.startsWith('write:'))
  return [...(asked.has('public-only') ? ['public-only'] : []), ...(all ? ['all'] : levels)]
}

/** Whether scopes in normal form include a category at a level. Write includes read. */
export function covers(scopes: readonly string[], category: ScopeCategory, level: ScopeLevel): boolean {
  if (scopes.includes('all') || scopes.includes(`write:${category}`)) return true
  return level === 'read' && scopes.includes(`read:${category}`)
}

/** Whether everything that `child` may do, `parent` may do: what a token may mint. Both in normal form. */
export function coversAll(parent: readonly string[], child: readonly string[]): boolean {
  if (parent.includes('public-only') && !child.includes('public-only')) return false
  return scopeCategories.every((category) => {
    if (covers(child, category, 'write')) return covers(parent, category, 'write')
    return covers(child, category, 'read') ? covers(parent, category, 'read') : true
  })
}

/**
 * Judges a route's scopes. Only tokens are confined.
 *
 * @returns the text of the 403, or undefined when the actor may pass
 */
export function scopeRefusal(actor: Actor, required: readonly ScopeCategory[], level: ScopeLevel): string | undefined {
  if (actor.credential.method !== 'token') return undefined
  const { scopes } = actor.credential
  if (required.every((category) => covers(scopes, category, level))) return undefined
  const names = required.map((category) => `${level}:${category}`).join(' ')
  return `token does not have at least one of required scope(s), required=[${names}], token scope=${scopes.join(',')}`
}
