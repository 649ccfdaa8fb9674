import {
  type AboutAccount,
  type Access,
  accountAccess,
  type ByAccount,
  Empty,
  list,
  notFound,
  type Route,
  route,
  signedIn,
  Type,
  unauthorized,
} from '#core/http'
import type { Actor, TokenRow } from '#core/identity'
import type { AccountsUse } from '../needs.ts'
import { AccessToken, ByName, CreateAccessTokenOption, CurrentAccessToken } from '../schemas.ts'
import { checkUser } from '../service/administration.ts'
import { never, wireTime } from '../service/times.ts'

/** The user himself or a site administrator, with a password or a token inside Basic: a mere bearer makes no tokens. */
const withBasic: Access<AboutAccount & ByAccount> = {
  name: 'account self with basic',
  refusals: accountAccess.self.refusals,
  async admit(approach) {
    const found = await accountAccess.self.admit(approach)
    const { credential } = approach.actor
    if (credential.method === 'password' || (credential.method === 'token' && credential.sent === 'basic')) return found
    throw unauthorized('auth required')
  },
}

const timesOf = (token: TokenRow) => ({
  created_at: wireTime(token.created_at),
  last_used_at: wireTime(token.last_used_at ?? token.created_at),
})
const recordOf = (token: TokenRow) => ({
  id: token.id,
  name: token.name,
  sha1: '',
  token_last_eight: token.last_eight,
  scopes: token.scopes,
})

const ofUser = { tag: 'user', access: withBasic, scope: ['user'] } as const

/** Personal access tokens of a user, and the one that a request was made with. */
export function tokenRoutes(use: AccountsUse): Route[] {
  return [...userTokenRoutes(use), ...currentTokenRoutes(use)]
}

function userTokenRoutes({ db, identity: { tokens } }: AccountsUse): Route[] {
  return [
    route({
      ...ofUser,
      method: 'GET',
      path: '/users/{username}/tokens',
      operationId: 'userGetTokens',
      summary: 'Lists the tokens of a user, newest first.',
      params: ByName,
      paging: 'total',
      answers: { 200: Type.Array(AccessToken) },
      handle: async ({ account, page }) => {
        const { rows, total } = await tokens.list(account.id, page)
        return list(
          rows.map((token) => ({ ...recordOf(token), ...timesOf(token) })),
          total,
        )
      },
    }),
    route({
      ...ofUser,
      method: 'POST',
      path: '/users/{username}/tokens',
      operationId: 'userCreateToken',
      summary: 'Makes a token. Its value is shown this once.',
      params: ByName,
      body: CreateAccessTokenOption,
      answers: { 201: AccessToken },
      refusals: [400, 403],
      handle: async ({ account, body, actor }) => {
        checkUser(account)
        const wish = { name: body.name, scopes: body.scopes ?? [] }
        const { row, value } = await db.tx((tx) => tokens.create(tx, account.id, wish, actor.credential))
        return { ...recordOf(row), sha1: value, created_at: never, last_used_at: never }
      },
    }),
    route({
      ...ofUser,
      method: 'DELETE',
      path: '/users/{username}/tokens/{token}',
      operationId: 'userDeleteAccessToken',
      summary: 'Deletes a token of a user.',
      params: Type.Object({ ...ByName.properties, token: Type.String({ description: 'Id or name of the token.' }) }),
      answers: { 204: Empty },
      refusals: [404, 422],
      handle: async ({ account, params }) => {
        const isId = /^\d+$/.test(params.token)
        const which = isId ? { id: Number(params.token) } : { name: params.token }
        const isGone = await db.tx((tx) => tokens.remove(tx, account.id, which))
        if (!isGone) throw notFound(isId ? 'access token not found' : undefined)
      },
    }),
  ]
}

/** The token that stands in the header of a request, with its owner; under sudo that is the administrator. */
function sentToken({ account, credential, sudoBy }: Actor) {
  const owner = sudoBy ?? account
  if (credential.method !== 'token' || credential.sent !== 'header' || credential.tokenId === undefined)
    return undefined
  return owner && { owner, id: credential.tokenId }
}

function currentTokenRoutes({ db, identity: { tokens } }: AccountsUse): Route[] {
  const own = { path: '/token', tag: 'miscellaneous', access: signedIn, scope: 'none', refusals: [404] } as const
  const missing = () => notFound('invalid access token')
  return [
    route({
      ...own,
      method: 'GET',
      operationId: 'getCurrentToken',
      summary: 'Shows the token that the request was made with.',
      answers: { 200: CurrentAccessToken },
      handle: async ({ actor }) => {
        const sent = sentToken(actor)
        const token = sent && (await tokens.byId(sent.owner.id, sent.id))
        if (!sent || !token) throw missing()
        const user = { id: sent.owner.id, login: sent.owner.name }
        return { id: token.id, name: token.name, scopes: token.scopes, ...timesOf(token), user }
      },
    }),
    route({
      ...own,
      method: 'DELETE',
      operationId: 'deleteCurrentToken',
      summary: 'Deletes the token that the request was made with.',
      answers: { 204: Empty },
      handle: async ({ actor }) => {
        const sent = sentToken(actor)
        const isGone = sent && (await db.tx((tx) => tokens.remove(tx, sent.owner.id, { id: sent.id })))
        if (!isGone) throw missing()
      },
    }),
  ]
}
