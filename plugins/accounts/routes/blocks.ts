import { accountAccess, Empty, list, notFound, type Route, route, signedIn, Type } from '#core/http'
import type { AccountsUse } from '../needs.ts'
import { ByName, Users } from '../schemas.ts'
import { blockedBy } from '../service/follows.ts'
import { lookOf } from './users.ts'

const one = {
  path: '/user/blocks/{username}',
  tag: 'user',
  access: accountAccess.signedIn,
  scope: ['user'],
  publicOnly: 'refuse',
  params: ByName,
  answers: { 204: Empty },
} as const

/** Whom the caller wants to have nothing to do with. Hidden users can be blocked, too: they may be a nuisance. */
export function blockRoutes(use: AccountsUse): Route[] {
  const { blocks, records } = use.identity
  return [
    route({
      method: 'GET',
      path: '/user/blocks',
      operationId: 'userListBlocks',
      tag: 'user',
      summary: 'Lists whom the caller blocks.',
      access: signedIn,
      scope: ['user'],
      publicOnly: 'refuse',
      paging: 'link',
      answers: { 200: Users },
      handle: async ({ me, actor, base, page }) => {
        const { rows, total } = await blockedBy(use.identity, me.id, page)
        return list(records.show(rows, lookOf(use, { actor, base })), total)
      },
    }),
    route({
      ...one,
      method: 'GET',
      operationId: 'userCheckUserBlock',
      summary: 'Tells whether the caller blocks a user.',
      handle: async ({ me, account }) => {
        if (!(await blocks.has(me.id, account.id))) throw notFound()
      },
    }),
    route({
      ...one,
      method: 'PUT',
      operationId: 'userBlockUser',
      summary: 'Blocks a user. Follows, stars, watches and roles between the two end.',
      query: Type.Object({
        note: Type.Optional(Type.String({ maxLength: 4096, description: 'Why; for the caller.' })),
      }),
      refusals: [400, 422],
      handle: ({ me, account, query }) => use.db.tx((tx) => blocks.add(tx, me.id, account, query.note)),
    }),
    route({
      ...one,
      method: 'DELETE',
      operationId: 'userUnblockUser',
      summary: 'Ends a block.',
      refusals: [400, 422],
      handle: ({ me, account }) => use.db.tx((tx) => blocks.remove(tx, me.id, account.id)),
    }),
  ]
}
