import { type AccountRow, type Actor, type Found, Identity, isPublicOnly, noSuchName } from '../identity/index.ts'
import { type ByAccount, signedInAccount, siteAdmin } from './access.ts'
import { forbidden, notFound } from './problems.ts'
import { movedUrl } from './repository-access.ts'
import { type Access, type Approach, Redirect } from './route.ts'
import { Type } from './schema.ts'

/** Path parameters of every route about an account. */
export const AccountPath = Type.Object({ username: Type.String({ description: 'Name of the user.' }) })

/** What a handler of a `/users/{username}` route finds. */
export type AboutAccount = { readonly account: AccountRow }

type Finder = (identity: Identity, actor: Actor, name: string) => Promise<Found>
const visible: Finder = (identity, actor, name) => identity.findVisible(actor, name)
const whateverVisibility: Finder = (identity, actor, name) => identity.findAny(actor, name)

/** The account that a path parameter names. Old names redirect; hidden accounts look missing. */
export async function accountOf(approach: Approach, find: Finder = visible, param = 'username'): Promise<AccountRow> {
  const { actor, params, url, service } = approach
  const name = params[param] ?? ''
  const found = await find(service(Identity), actor, name)
  if (found.kind === 'moved') throw new Redirect(307, movedUrl(url, [name], [found.name]))
  if (found.kind === 'hidden') throw notFound(noSuchName(name))
  const { account } = found
  if (isPublicOnly(actor) && account.visibility !== 'public' && account.id !== actor.account?.id) {
    throw forbidden(`token scope is limited to public ${account.kind === 'organization' ? 'orgs' : 'users'}`)
  }
  return account
}

/** Who may call a route about `{username}`. */
export const accountAccess = {
  /** Whoever may see the account. */
  visible: {
    name: 'account visible',
    refusals: [403, 404],
    admit: async (approach) => ({ account: await accountOf(approach) }),
  } satisfies Access<AboutAccount>,
  /** Anybody signed in, about private accounts, too: the contract answers here for them as well. */
  signedIn: {
    name: 'account signed in',
    refusals: [401, 403, 404],
    admit: async (approach) => {
      const me = signedInAccount(approach)
      return { me, account: await accountOf(approach, whateverVisibility) }
    },
  } satisfies Access<AboutAccount & ByAccount>,
  /** The account itself or a site administrator. Anonymous callers get 403 here, as the contract has it. */
  self: {
    name: 'account self',
    refusals: [403, 404],
    admit: async (approach) => {
      const account = await accountOf(approach)
      const me = approach.actor.account
      if (!me || !(me.is_admin || me.id === account.id)) {
        throw forbidden('doer should be the site admin or be same as the contextUser')
      }
      return { me, account }
    },
  } satisfies Access<AboutAccount & ByAccount>,
  /** A site administrator, about an account that he names. */
  site: {
    name: 'account site admin',
    refusals: [401, 403, 404],
    admit: async (approach) => ({ ...(await siteAdmin.admit(approach)), account: await accountOf(approach) }),
  } satisfies Access<AboutAccount & ByAccount>,
}
