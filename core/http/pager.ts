import { integerOf, type Texts } from './bind-text.ts'

/** How long a page is: `standard` unless the client says otherwise, never above `most`. */
export type Paging = { readonly standard: number; readonly most: number }
export type Page = { readonly page: number; readonly limit: number; readonly offset: number }

/** Far beyond any list, and small enough that an offset stays exact. */
const maxPage = 2 ** 31

const positive = (sent: Texts[string]) => {
  const value = integerOf(typeof sent === 'string' ? sent : (sent?.[0] ?? ''))
  return value !== undefined && value > 0 ? value : undefined
}

/** Which page a query asks for. */
export function pageOf(query: Texts, paging: Paging): Page {
  const page = Math.min(positive(query.page) ?? 1, maxPage)
  const limit = Math.min(positive(query.limit) ?? paging.standard, paging.most)
  return { page, limit, offset: (page - 1) * limit }
}

/** As the contract's clients expect a query: keys sorted, spaces as `+`. */
function encodeQuery(query: Texts, page: number): string {
  const pairs: string[][] = []
  for (const key of Object.keys({ ...query, page: '' }).sort()) {
    const sent = key === 'page' ? String(page) : query[key]
    for (const value of Array.isArray(sent) ? sent : [sent]) pairs.push([key, String(value ?? '')])
  }
  return new URLSearchParams(pairs).toString()
}

/**
 * The `Link` of a list, or undefined where everything is on one page.
 *
 * @param address the list's own address, absolute, without its query
 */
export function linkOf(address: string, query: Texts, { page, limit }: Page, total: number): string | undefined {
  const last = Math.ceil(total / limit)
  if (last <= 1) return undefined
  const current = Math.min(page, last)
  const links: string[] = []
  const add = (rel: string, target: number) => links.push(`<${address}?${encodeQuery(query, target)}>; rel="${rel}"`)
  if (current < last) {
    add('next', current + 1)
    add('last', last)
  }
  if (current > 1) {
    add('first', 1)
    add('prev', current - 1)
  }
  return links.join(',')
}
