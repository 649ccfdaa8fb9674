import { slugOf } from './headings.ts'
import { highlight } from './highlight.ts'
import { type Attributes, escapeHtml, piecesOf, tagHtml, voidElements } from './html.ts'
import { resolveLink } from './links.ts'
import { type Surroundings, textHtml } from './text.ts'

export type Decoration = {
  /** How our own `data-g` values start. */
  readonly secret: string
  readonly headingIds: boolean
  /** Undefined: plain, so links and words stay as they are. */
  readonly surroundings: Surroundings | undefined
}

/** In these, words are not looked at. */
const literal = new Set(['a', 'code', 'pre', 'kbd', 'samp'])
const heading = /^h[1-6]$/

/** Turns safe HTML into ours: classes, ids, links under their context, mentions, colours of code. */
export function decorate(html: string, options: Decoration): string {
  const { surroundings } = options
  const out: string[] = []
  const titles = options.headingIds ? headingIds(out) : undefined
  const open: string[] = []
  let literals = 0
  let code: { language: string; text: string } | undefined
  /** For each link that is open: whether it leads anywhere, and so is kept. */
  const kept: boolean[] = []

  const start = (name: string, attributes: Attributes) => {
    const language = takeMark(attributes, options)
    tidyLinks(name, attributes, surroundings)
    if (name === 'img') return void out.push(imageHtml(attributes, surroundings, open.includes('a')))
    if (!voidElements.has(name)) open.push(name)
    if (literal.has(name)) literals++
    if (name === 'a') kept.push(['href', 'name', 'id'].some((key) => attributes.get(key)))
    if (name === 'a' && !kept.at(-1)) return
    if (name === 'code' && language) code = { language, text: '' }
    titles?.start(name, attributes)
    out.push(tagHtml(name, attributes))
  }

  const text = (words: string) => {
    titles?.text(words)
    if (code) code.text += words
    else out.push(surroundings && literals === 0 ? textHtml(words, surroundings) : escapeHtml(words))
  }

  const end = (name: string) => {
    if (voidElements.has(name)) return
    open.pop()
    if (literal.has(name)) literals--
    if (name === 'a' && !kept.pop()) return
    if (name === 'code' && code) {
      out.push(highlight(code.text, code.language) ?? escapeHtml(code.text))
      code = undefined
    }
    titles?.end(name)
    out.push(`</${name}>`)
  }

  for (const piece of piecesOf(html)) {
    if (piece.kind === 'open') start(piece.name, piece.attributes)
    else if (piece.kind === 'close') end(piece.name)
    else text(piece.text)
  }
  return out.join('')
}

/** Gives headings without an id one made of their words, which are known only when the heading ends. */
function headingIds(out: string[]) {
  let title: { at: number; attributes: Attributes; name: string; words: string } | undefined
  return {
    /** Before the tag is written. */
    start(name: string, attributes: Attributes) {
      if (heading.test(name) && !attributes.has('id')) title = { at: out.length, attributes, name, words: '' }
    },
    text(words: string) {
      if (title) title.words += words
    },
    end(name: string) {
      if (title?.name !== name) return
      const slug = slugOf(title.words)
      if (slug) title.attributes.set('id', `user-content-${slug}`)
      out[title.at] = tagHtml(name, title.attributes)
      title = undefined
    },
  }
}

/** Turns our mark into classes, outside the plain modes, and answers the language of a code block. */
function takeMark(attributes: Attributes, { secret, surroundings }: Decoration): string | undefined {
  const mark = attributes.get('data-g')
  if (mark === undefined) return undefined
  attributes.delete('data-g')
  const classes = mark.slice(secret.length + 1)
  if (classes && surroundings) attributes.set('class', classes)
  return /(?:^| )language-(\S+)/.exec(classes)?.[1]
}

/**
 * Sends relative links to where they lead. Ids that people choose get a prefix, so that they cannot stand in for an id
 * of the page around them.
 */
function tidyLinks(name: string, attributes: Attributes, surroundings: Surroundings | undefined): void {
  for (const key of ['id', 'name']) {
    const id = attributes.get(key)
    if (id !== undefined) attributes.set(key, prefixed(id))
  }
  if (surroundings && name !== 'img' && attributes.has('src')) relocate(attributes, 'src', surroundings.places.images)
  if (surroundings && attributes.has('srcset')) relocateSet(attributes, surroundings.places.images)
  const href = attributes.get('href')
  if (name !== 'a' || href === undefined) return
  if (surroundings) {
    if (href.startsWith('#')) attributes.set('href', href.length > 1 ? `#${prefixed(href.slice(1))}` : href)
    else relocate(attributes, 'href', surroundings.places.links)
  }
  attributes.set('rel', 'nofollow')
}

const prefixed = (id: string) => (/^(?:fn:|fnref:)?user-content-/.test(id) ? id : `user-content-${id}`)

function relocate(attributes: Attributes, key: string, start: string): void {
  attributes.set(key, resolveLink(attributes.get(key) ?? '', start))
}

function relocateSet(attributes: Attributes, start: string): void {
  const sources = (attributes.get('srcset') ?? '').split(',').map((source) => {
    const [link = '', ...size] = source.trim().split(/\s+/)
    return [resolveLink(link, start), ...size].join(' ')
  })
  attributes.set('srcset', sources.join(', '))
}

/** A picture. Outside the plain modes it loads late, and a click shows it alone. */
function imageHtml(attributes: Attributes, surroundings: Surroundings | undefined, linked: boolean): string {
  if (!surroundings) return tagHtml('img', attributes)
  attributes.set('loading', 'lazy')
  const src = attributes.get('src')
  if (src === undefined) return tagHtml('img', attributes)
  attributes.set('src', resolveLink(src, surroundings.places.images))
  const image = tagHtml('img', attributes)
  if (linked) return image
  const href = escapeHtml(resolveLink(src, surroundings.places.links))
  return `<a href="${href}" target="_blank" rel="nofollow noopener">${image}</a>`
}
