import { accountAccess, answer, Empty, list, type Route, route, siteAdmin, Type } from '#core/http'
import type { AccountsUse } from '../needs.ts'
import { listUsers } from '../queries.ts'
import { ByName, CreateUserOption, EditUserOption, RenameUserOption, UserFilters, Users } from '../schemas.ts'
import { checkUser, createUser, editUser } from '../service/administration.ts'
import { lookOf, oneUser, UserAnswer } from './users.ts'

const one = { tag: 'admin', access: accountAccess.site, scope: ['admin'], params: ByName } as const

/** What site administrators do with users. */
export function administrationRoutes(use: AccountsUse): Route[] {
  const { accounts, records } = use.identity
  return [
    route({
      method: 'GET',
      path: '/admin/users',
      operationId: 'adminSearchUsers',
      tag: 'admin',
      summary: 'Lists all users; bots and organisations are not among them.',
      access: siteAdmin,
      scope: ['admin'],
      query: UserFilters,
      paging: 'link',
      answers: { 200: Users },
      refusals: [422],
      handle: async ({ actor, base, query, page }) => {
        const { rows, total } = await listUsers(use.identity, query, page)
        return list(records.show(rows, lookOf(use, { actor, base })), total)
      },
    }),
    route({
      method: 'POST',
      path: '/admin/users',
      operationId: 'adminCreateUser',
      tag: 'admin',
      summary: 'Makes a user.',
      access: siteAdmin,
      scope: ['admin'],
      body: CreateUserOption,
      answers: { 201: UserAnswer },
      refusals: [400],
      handle: async ({ body, actor, base }) => {
        const { account, warning } = await createUser(use, body)
        return answer(201, await oneUser(use, account, { actor, base }), warning ? { 'x-gitea-warning': warning } : {})
      },
    }),
    route({
      ...one,
      method: 'PATCH',
      path: '/admin/users/{username}',
      operationId: 'adminEditUser',
      summary: 'Changes a user; what is not given stays.',
      body: EditUserOption,
      answers: { 200: UserAnswer },
      refusals: [400],
      handle: async ({ account, body, actor, base }) =>
        oneUser(use, await editUser(use, account, body), { actor, base }),
    }),
    route({
      ...one,
      method: 'DELETE',
      path: '/admin/users/{username}',
      operationId: 'adminDeleteUser',
      summary: 'Deletes a user who owns nothing any more; with purge, also what he owns.',
      query: Type.Object({
        purge: Type.Optional(
          Type.Boolean({ description: 'Deletes his repositories, comments and the like with him.' }),
        ),
      }),
      answers: { 204: Empty },
      refusals: [422],
      handle: ({ me, account, query }) =>
        use.db.tx((tx) => accounts.remove(tx, account.id, { by: me.id, purge: query.purge ?? false })),
    }),
    route({
      ...one,
      method: 'POST',
      path: '/admin/users/{username}/rename',
      operationId: 'adminRenameUser',
      summary: 'Gives a user another name. The old one redirects to it.',
      body: RenameUserOption,
      answers: { 204: Empty },
      handle: async ({ account, body }) => {
        checkUser(account)
        await use.db.tx((tx) => accounts.rename(tx, account.id, body.new_username))
      },
    }),
  ]
}
