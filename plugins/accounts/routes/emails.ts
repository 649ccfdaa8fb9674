import { Empty, list, type Route, route, signedIn, siteAdmin, Type } from '#core/http'
import type { AccountsUse } from '../needs.ts'
import { listEmails } from '../queries.ts'
import { CreateEmailOption, DeleteEmailOption, Email } from '../schemas.ts'

const Emails = Type.Array(Email)
const own = { access: signedIn, scope: ['user'], publicOnly: 'refuse', tag: 'user' } as const

/** The caller's addresses, and those of all for administrators. */
export function emailRoutes(use: AccountsUse): Route[] {
  const { addresses } = use.identity
  const ofCaller = async (accountId: number) =>
    (await addresses.list(accountId)).map(({ address, is_activated, is_primary }) => ({
      email: address,
      verified: is_activated,
      primary: is_primary,
      user_id: 0,
      username: '',
    }))
  const ofAll = async (q: string, page: { limit: number; offset: number }) => {
    const { rows, total } = await listEmails(use.db, q, page)
    return list(
      rows.map(({ address, is_activated, is_primary, user_id, username }) => ({
        email: address,
        verified: is_activated,
        primary: is_primary,
        user_id,
        username,
      })),
      total,
    )
  }
  return [
    route({
      ...own,
      method: 'GET',
      path: '/user/emails',
      operationId: 'userListEmails',
      summary: "Lists the caller's addresses.",
      answers: { 200: Emails },
      handle: ({ me }) => ofCaller(me.id),
    }),
    route({
      ...own,
      method: 'POST',
      path: '/user/emails',
      operationId: 'userAddEmail',
      summary: 'Adds addresses and answers all that the caller has then.',
      body: CreateEmailOption,
      answers: { 201: Emails },
      handle: async ({ me, body }) => {
        await use.db.tx((tx) => addresses.add(tx, me.id, body.emails ?? []))
        return ofCaller(me.id)
      },
    }),
    route({
      ...own,
      method: 'DELETE',
      path: '/user/emails',
      operationId: 'userDeleteEmail',
      summary: 'Deletes addresses; the primary one stays.',
      body: DeleteEmailOption,
      answers: { 204: Empty },
      refusals: [404],
      handle: ({ me, body }) => use.db.tx((tx) => addresses.remove(tx, me.id, body.emails ?? [])),
    }),
    route({
      method: 'GET',
      path: '/admin/emails',
      operationId: 'adminGetAllEmails',
      tag: 'admin',
      summary: 'Lists the addresses of all users.',
      access: siteAdmin,
      scope: ['admin'],
      paging: 'link',
      answers: { 200: Emails },
      handle: ({ page }) => ofAll('', page),
    }),
    route({
      method: 'GET',
      path: '/admin/emails/search',
      operationId: 'adminSearchEmails',
      tag: 'admin',
      summary: 'Searches the addresses of all users.',
      access: siteAdmin,
      scope: ['admin'],
      query: Type.Object({ q: Type.Optional(Type.String({ description: 'Part of address, name or full name.' })) }),
      paging: 'link',
      answers: { 200: Emails },
      handle: ({ query, page }) => ofAll(query.q ?? '', page),
    }),
  ]
}
