import { coreSections } from '#core/config'
import { accountAccess, Empty, forbidden, list, notFound, type Route, route, signedIn, Type } from '#core/http'
import type { Actor, KeyFilter, SshKeyRow } from '#core/identity'
import { accountsConfig } from '../config.ts'
import type { AccountsUse } from '../needs.ts'
import { ByName, CreateKeyOption, PublicKey } from '../schemas.ts'
import { checkUser } from '../service/administration.ts'
import { wireTime } from '../service/times.ts'
import { lookOf } from './users.ts'

const Keys = Type.Array(PublicKey)
const ByFingerprint = Type.Object({
  fingerprint: Type.Optional(Type.String({ description: 'Only the key with this fingerprint, whoever has it.' })),
})
const ById = Type.Object({ id: Type.Integer({ description: 'Id of the key.' }) })

type Asked = { readonly actor: Actor; readonly base: string }

/** Records of keys. Whose a key is, its owner and administrators see. */
function createKeyRecords(use: AccountsUse) {
  return async (rows: readonly SshKeyRow[], { actor, base }: Asked) => {
    const root = use.config.get('server', coreSections.server).ROOT_URL
    const isOpen = (key: SshKeyRow) => actor.account?.is_admin === true || actor.account?.id === key.account_id
    const owners = await use.identity.accounts.byIds(rows.filter(isOpen).map((key) => key.account_id))
    const records = await use.identity.records.present([...owners.values()], lookOf(use, { actor, base }))
    const users = new Map(records.map((user) => [user.id, user]))
    return rows.map((key) => {
      const user = users.get(key.account_id)
      return {
        id: key.id,
        key: key.comment === '' ? key.content : `${key.content} ${key.comment}`,
        url: `${root}api/v1/user/keys/${key.id}`,
        title: key.title,
        fingerprint: key.fingerprint,
        created_at: wireTime(key.created_at),
        last_used_at: wireTime(key.last_used_at ?? key.created_at),
        ...(user && { user, key_type: 'user' }),
      }
    })
  }
}

type Listed = Asked & { readonly page: { limit: number; offset: number } }

const mine = { tag: 'user', access: signedIn, scope: ['user'], publicOnly: 'refuse' } as const
const administered = { tag: 'admin', access: accountAccess.site, scope: ['admin'] } as const

/** SSH keys of users. */
export function keyRoutes(use: AccountsUse): Route[] {
  const recordsOf = createKeyRecords(use)
  const { keys } = use.identity

  /** Refuses what the operator took from users. */
  const checkFeature = () => {
    const { USER_DISABLED_FEATURES: disabled } = use.config.get('admin', accountsConfig.admin)
    if (disabled.includes('manage_ssh_keys')) throw notFound('ssh keys setting is not allowed to be changed')
  }
  const add = async (accountId: number, body: { title: string; key: string }, asked: Asked) => {
    const key = await use.db.tx((tx) => keys.add(tx, accountId, { title: body.title, content: body.key }))
    return (await recordsOf([key], asked))[0]
  }
  const remove = async (accountId: number, id: number) => {
    if (await use.db.tx((tx) => keys.remove(tx, accountId, id))) return
    throw (await keys.byId(id)) ? forbidden('You do not have access to this key') : notFound()
  }
  const shown = async (filter: KeyFilter, asked: Listed) => {
    const { rows, total } = await keys.list(filter, asked.page)
    return list(await recordsOf(rows, asked), total)
  }

  return [
    route({
      ...mine,
      method: 'GET',
      path: '/user/keys',
      operationId: 'userCurrentListKeys',
      summary: "Lists the caller's keys, or finds the key that has a fingerprint, whosever it is.",
      query: ByFingerprint,
      paging: 'link',
      answers: { 200: Keys },
      handle(call) {
        const { fingerprint } = call.query
        return shown(fingerprint ? { fingerprint } : { accountId: call.me.id }, call)
      },
    }),
    route({
      ...mine,
      method: 'POST',
      path: '/user/keys',
      operationId: 'userCurrentPostKey',
      summary: 'Adds a key to the caller.',
      body: CreateKeyOption,
      answers: { 201: PublicKey },
      refusals: [404],
      handle(call) {
        checkFeature()
        return add(call.me.id, call.body, call)
      },
    }),
    route({
      ...mine,
      method: 'GET',
      path: '/user/keys/{id}',
      operationId: 'userCurrentGetKey',
      summary: 'Shows a key.',
      params: ById,
      answers: { 200: PublicKey },
      handle: async (call) => {
        const key = await keys.byId(call.params.id)
        if (!key) throw notFound()
        return (await recordsOf([key], call))[0]
      },
    }),
    route({
      ...mine,
      method: 'DELETE',
      path: '/user/keys/{id}',
      operationId: 'userCurrentDeleteKey',
      summary: 'Deletes a key of the caller.',
      params: ById,
      answers: { 204: Empty },
      refusals: [403],
      handle({ me, params }) {
        checkFeature()
        return remove(me.id, params.id)
      },
    }),
    route({
      method: 'GET',
      path: '/users/{username}/keys',
      operationId: 'userListKeys',
      tag: 'user',
      summary: 'Lists the keys of a user.',
      access: accountAccess.signedIn,
      scope: ['user'],
      params: ByName,
      query: Type.Object({
        fingerprint: Type.Optional(Type.String({ description: 'Only the key with this fingerprint.' })),
      }),
      paging: 'link',
      answers: { 200: Keys },
      handle(call) {
        const { fingerprint } = call.query
        return shown({ accountId: call.account.id, ...(fingerprint && { fingerprint }) }, call)
      },
    }),
    route({
      ...administered,
      method: 'POST',
      path: '/admin/users/{username}/keys',
      operationId: 'adminCreatePublicKey',
      summary: 'Adds a key to a user.',
      params: ByName,
      body: CreateKeyOption,
      answers: { 201: PublicKey },
      handle(call) {
        checkUser(call.account)
        return add(call.account.id, call.body, call)
      },
    }),
    route({
      ...administered,
      method: 'DELETE',
      path: '/admin/users/{username}/keys/{id}',
      operationId: 'adminDeleteUserPublicKey',
      summary: 'Deletes a key of a user.',
      params: Type.Object({ ...ByName.properties, ...ById.properties }),
      answers: { 204: Empty },
      handle: ({ account, params }) => remove(account.id, params.id),
    }),
  ]
}
