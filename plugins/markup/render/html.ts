/** The few ways in which this plugin reads and writes HTML. Reading works on the output of the sanitizer only. */

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** Makes text safe between tags and inside quoted attributes. */
export const escapeHtml = (text: string) => text.replaceAll(/[&<>"]/g, (one) => escapes[one] ?? one)

/** The text behind what `escapeHtml`, or the sanitizer, has written. */
export const decodeHtml = (html: string) =>
  html.replaceAll(/&(amp|lt|gt|quot);/g, (whole, name: string) => entities[name] ?? whole)

export type Attributes = Map<string, string>

/** A start tag of these attributes. An empty value is written as `name=""`. */
export function tagHtml(name: string, attributes: Attributes): string {
  let html = `<${name}`
  for (const [key, value] of attributes) html += ` ${key}="${escapeHtml(value)}"`
  return `${html}>`
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open'; readonly name: string; readonly attributes: Attributes }
  | { readonly kind: 'close'; readonly name: string }

/** Takes well-formed HTML apart: every `<` starts a tag, every attribute value is quoted and has no `<` or `>`. */
export function* piecesOf(html: string): Generator<Piece> {
  for (const [, tag, text] of html.matchAll(/<([^>]*)>|([^<]+)/g)) {
    if (text !== undefined) yield { kind: 'text', text: decodeHtml(text) }
    else if (tag?.startsWith('/')) yield { kind: 'close', name: tag.slice(1).trim() }
    else if (tag) yield openTag(tag)
  }
}

function openTag(tag: string): Piece {
  const name = /^[^\s/]*/.exec(tag)?.[0] ?? ''
  const attributes: Attributes = new Map()
  for (const [, key, value] of tag.slice(name.length).matchAll(/([^\s="/]+)(?:="([^"]*)")?/g)) {
    if (key) attributes.set(key, decodeHtml(value ?? ''))
  }
  return { kind: 'open', name, attributes }
}

/** Elements that have no end tag. */
export const voidElements: ReadonlySet<string> = new Set(['br', 'hr', 'img', 'input', 'wbr', 'source', 'col'])
