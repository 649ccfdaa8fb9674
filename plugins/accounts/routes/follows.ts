import { accountAccess, Empty, list, movedUrl, notFound, Redirect, type Route, route, signedIn, Type } from '#core/http'
import type { AccountRow, Actor } from '#core/identity'
import type { AccountsUse } from '../needs.ts'
import { ByName, Users } from '../schemas.ts'
import { follow, followedBy, followersOf, isFollowing, isOpenTo, unfollow } from '../service/follows.ts'
import { lookOf } from './users.ts'

type Asked = { actor: Actor; base: string; page: { limit: number; offset: number } }

const mine = {
  path: '/user/following/{username}',
  tag: 'user',
  access: accountAccess.signedIn,
  scope: ['user'],
  params: ByName,
  answers: { 204: Empty },
} as const
const listed = { tag: 'user', scope: ['user'], paging: 'link', answers: { 200: Users } } as const

/** Who follows whom. */
export function followRoutes(use: AccountsUse): Route[] {
  const { db, identity } = use
  const answerWith = async (read: typeof followersOf, account: AccountRow, { actor, base, page }: Asked) => {
    const { rows, total } = await read(identity, account.id, actor, page)
    return list(identity.records.show(rows, lookOf(use, { actor, base })), total)
  }
  return [
    route({
      ...listed,
      method: 'GET',
      path: '/user/followers',
      operationId: 'userCurrentListFollowers',
      summary: 'Lists the users who follow the caller.',
      access: signedIn,
      handle: (call) => answerWith(followersOf, call.me, call),
    }),
    route({
      ...listed,
      method: 'GET',
      path: '/user/following',
      operationId: 'userCurrentListFollowing',
      summary: 'Lists the users and organisations that the caller follows.',
      access: signedIn,
      handle: (call) => answerWith(followedBy, call.me, call),
    }),
    route({
      ...listed,
      method: 'GET',
      path: '/users/{username}/followers',
      operationId: 'userListFollowers',
      summary: 'Lists the users who follow an account, as far as the caller may know of them.',
      access: accountAccess.signedIn,
      params: ByName,
      handle: (call) => answerWith(followersOf, call.account, call),
    }),
    route({
      ...listed,
      method: 'GET',
      path: '/users/{username}/following',
      operationId: 'userListFollowing',
      summary: 'Lists the users and organisations that a user follows, as far as the caller may know of them.',
      access: accountAccess.signedIn,
      params: ByName,
      handle: (call) => answerWith(followedBy, call.account, call),
    }),
    route({
      ...mine,
      method: 'GET',
      operationId: 'userCurrentCheckFollowing',
      summary: 'Tells whether the caller follows an account.',
      handle: async ({ me, account }) => {
        if (!(await isFollowing(db, me.id, account.id))) throw notFound()
      },
    }),
    route({
      ...mine,
      method: 'PUT',
      operationId: 'userCurrentPutFollow',
      summary: 'Follows an account.',
      handle: ({ me, account }) => follow(db, identity, me, account),
    }),
    route({
      ...mine,
      method: 'DELETE',
      operationId: 'userCurrentDeleteFollow',
      summary: 'Stops following an account.',
      handle: ({ me, account }) => db.tx((tx) => unfollow(tx, me.id, account.id)),
    }),
    route({
      method: 'GET',
      path: '/users/{username}/following/{target}',
      operationId: 'userCheckFollowing',
      tag: 'user',
      summary: 'Tells whether a user follows an account.',
      access: accountAccess.signedIn,
      scope: ['user'],
      params: Type.Object({ ...ByName.properties, target: Type.String({ description: 'Who is followed, maybe.' }) }),
      answers: { 204: Empty },
      handle: async ({ account, actor, params: { target }, url }) => {
        const found = await identity.findAny(actor, target)
        if (found.kind === 'moved') throw new Redirect(307, movedUrl(url, [target], [found.name]))
        if (found.kind === 'hidden' || !isOpenTo(actor, found.account)) throw notFound()
        if (!(await isFollowing(db, account.id, found.account.id))) throw notFound()
      },
    }),
  ]
}
