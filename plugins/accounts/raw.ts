import {
  type AboutAccount,
  type Access,
  accountOf,
  answer,
  anyone,
  notFound,
  type RawRoute,
  Redirect,
  rawRoute,
} from '#core/http'
import { Identity } from '#core/identity'
import { createPictures } from '#core/storage'
import type { AccountsUse } from './needs.ts'
import { identicon, sideOf } from './service/pictures.ts'

const cached = { 'cache-control': 'public, max-age=21600' }
const mostKeys = 1000

/** Whoever may see the account whose name stands before an ending such as `.keys`. */
const ofFile: Access<AboutAccount> = {
  name: 'account visible',
  refusals: [404],
  async admit(approach) {
    const { actor, params, service, url } = approach
    const name = params.username ?? ''
    const found = await service(Identity).findVisible(actor, name)
    if (found.kind !== 'moved') return { account: await accountOf(approach) }
    const [path = ''] = url.split('?')
    throw new Redirect(307, `${path.slice(0, path.lastIndexOf('/'))}/${encodeURIComponent(found.name)}.keys`)
  },
}

/** What is served outside the API: the keys of users as text, and their pictures. */
export function publicRoutes(use: AccountsUse): RawRoute[] {
  return [keysRoute(use), ...pictureRoutes(use)]
}

function keysRoute({ identity }: AccountsUse): RawRoute {
  return rawRoute({
    method: 'GET',
    path: '/{username}.keys',
    access: ofFile,
    scope: 'none',
    refusals: 'text',
    handle: async ({ account }) => {
      const { rows } = await identity.keys.list({ accountId: account.id }, { limit: mostKeys, offset: 0 })
      const lines = [
        '# This host is no key server: the keys are as the user added them.',
        ...rows.map((key) => key.content),
      ]
      return answer(200, `${lines.join('\n')}\n`, { 'content-type': 'text/plain; charset=utf-8' })
    },
  })
}

function pictureRoutes(use: AccountsUse): RawRoute[] {
  const pictures = createPictures(use.storage, 'avatars')

  const generated = (hash: string, size: unknown, headers: Headers) => {
    const side = sideOf(size)
    const etag = `"${hash}-${side}"`
    const facts = { ...cached, etag }
    if (headers['if-none-match'] === etag) return answer(304, undefined, facts)
    return answer(200, identicon(hash, side), { ...facts, 'content-type': 'image/png' })
  }
  const uploaded = async (digest: string, headers: Headers) => {
    const found = await pictures.get(digest)
    if (!found) throw notFound()
    const facts = { ...cached, 'last-modified': found.modified.toUTCString() }
    if (headers['if-modified-since'] === facts['last-modified']) return answer(304, undefined, facts)
    return answer(200, found.bytes, { ...facts, 'content-type': found.type })
  }

  return [
    rawRoute({
      method: 'GET',
      path: '/avatars/{hash}',
      access: anyone,
      scope: 'none',
      open: true,
      handle({ params: { hash = '' }, query, headers }) {
        if (/^[0-9a-f]{32}$/.test(hash)) return generated(hash, query.size, headers)
        return uploaded(hash, headers)
      },
    }),
    rawRoute({
      method: 'GET',
      path: '/assets/img/avatar_default.png',
      access: anyone,
      scope: 'none',
      open: true,
      handle: ({ query, headers }) => generated('0'.repeat(32), query.size, headers),
    }),
  ]
}

type Headers = Readonly<Record<string, string | string[] | undefined>>
