import type { AccountRow } from '../identity/index.ts'
import { forbidden, unauthorized } from './problems.ts'
import type { Access, Approach } from './route.ts'

/** Who calls, where the access made sure that somebody is signed in. */
export type ByAccount = { readonly me: AccountRow }

/** The account that calls; 401 for anonymous callers. */
export function signedInAccount({ actor }: Pick<Approach, 'actor'>): AccountRow {
  if (actor.account === undefined) throw unauthorized()
  return actor.account
}

/** Everybody, signed in or not. */
export const anyone: Access<Record<never, never>> = { name: 'anyone', refusals: [], admit: () => ({}) }

/** Whoever is signed in. */
export const signedIn: Access<ByAccount> = {
  name: 'signed in',
  refusals: [401],
  admit: (approach) => ({ me: signedInAccount(approach) }),
}

/** Site administrators. */
export const siteAdmin: Access<ByAccount> = {
  name: 'site admin',
  refusals: [401, 403],
  admit(approach) {
    const me = signedInAccount(approach)
    if (!me.is_admin) throw forbidden('user should be the site admin')
    return { me }
  },
}
