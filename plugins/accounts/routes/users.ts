import { type Access, accountAccess, list, notFound, type Route, route, Type, unauthorized } from '#core/http'
import { type AccountRow, type Actor, ghostRecord, hostRecord, type Look } from '#core/identity'
import { Config } from '#core/plugin'
import { accountsConfig } from '../config.ts'
import type { AccountsUse } from '../needs.ts'
import { searchUsers } from '../queries.ts'
import { ByName, Users } from '../schemas.ts'

export const UserAnswer = Type.Ref('User')
type Caller = { readonly actor: Actor; readonly base: string }

/** For whom users are shown. */
export const lookOf = (use: AccountsUse, { actor, base }: Caller): Look => ({
  as: actor,
  base,
  noReply: use.identity.noReplyDomain(),
})

/** The record of one account. */
export async function oneUser(use: AccountsUse, account: AccountRow, caller: Caller) {
  const [record] = await use.identity.records.present([account], lookOf(use, caller))
  return record
}

/** Whoever may look for users, as the operator decided. */
const explorer: Access<Record<never, never>> = {
  name: 'users page',
  refusals: [401, 404],
  admit({ actor, service }) {
    const settings = service(Config).get('service.explore', accountsConfig['service.explore'])
    if (settings.DISABLE_USERS_PAGE) throw notFound()
    if (settings.REQUIRE_SIGNIN_VIEW && !actor.account) {
      throw unauthorized('you must be signed in to search for users')
    }
    return {}
  },
}

/** Users whom nobody is, by the ids that they are searched by. */
const systemUsers = new Map([
  [-1, ghostRecord],
  [-2, hostRecord],
])

/** Finding users and showing them. */
export function userRoutes(use: AccountsUse): Route[] {
  return [
    route({
      method: 'GET',
      path: '/users/search',
      operationId: 'userSearch',
      tag: 'user',
      summary: 'Searches users that the caller may know of.',
      access: explorer,
      scope: ['user'],
      query: Type.Object({
        q: Type.Optional(
          Type.String({ description: 'Part of name or full name, or of an address that is not hidden.' }),
        ),
        uid: Type.Optional(Type.Integer({ description: 'Only the user with this id.' })),
      }),
      paging: 'link',
      answers: { 200: Type.Object({ ok: Type.Boolean(), data: Users }) },
      handle: async ({ actor, base, query, page }) => {
        const wrap = (data: readonly unknown[]) => ({ ok: true, data })
        const system = systemUsers.get(query.uid ?? 0)
        if (system) return list([system(base)], 1, wrap)
        const { rows, total } = await searchUsers(use.identity, actor, query, page)
        return list(use.identity.records.show(rows, lookOf(use, { actor, base })), total, wrap)
      },
    }),
    route({
      method: 'GET',
      path: '/users/{username}',
      operationId: 'userGet',
      tag: 'user',
      summary: 'Shows a user, or an organisation of that name.',
      access: accountAccess.visible,
      scope: ['user'],
      params: ByName,
      answers: { 200: UserAnswer },
      handle: ({ account, actor, base }) => oneUser(use, account, { actor, base }),
    }),
  ]
}
