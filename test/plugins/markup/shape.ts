/** HTML in the one form in which two renderers' answers can be compared. */

const textOf = (html: string) => html.replaceAll(/&#34;|&quot;/g, '"').replaceAll('&#39;', "'")

/** Words of code are coloured with other classes; only what is coloured counts, not how. */
const isColour = (name: string, tag: string) => /^\/?span$/.test(name) && !tag.includes('style')

function attributesOf(text: string): string[] {
  return [...text.matchAll(/([\w:-]+)(?:="([^"]*)")?/g)]
    .map(
      ([, key, value = '']) =>
        `${key}="${textOf(value)
          .replace(/\bchroma\b/, 'hljs')
          .replaceAll(': ', ':')}"`,
    )
    .filter((attribute) => !attribute.startsWith('aria-label='))
    .sort()
}

/**
 * The order of attributes, blanks between tags, ways of quoting, pictures drawn in SVG, implied `tbody`, spoken labels
 * and the colours of code do not count.
 */
export function shapeOf(html: string): string {
  const out: string[] = []
  let code = 0
  for (const [, tag, text] of html.replaceAll(/<svg.*?<\/svg>|<\/?tbody>/gs, '').matchAll(/<([^>]*)>|([^<]+)/g)) {
    if (tag === undefined) {
      out.push(textOf(text ?? ''))
      continue
    }
    const name = /^\/?[\w-]+/.exec(tag)?.[0].toLowerCase() ?? ''
    if (name === 'code') code++
    else if (name === '/code') code--
    if (code === 0 || !isColour(name, tag)) {
      out.push(`<${[name, ...attributesOf(tag.slice(name.length).replace(/\/$/, ''))].join(' ')}>`)
    }
  }
  return out.join('').replaceAll(/\s+/g, ' ').replaceAll('> ', '>').replaceAll(' <', '<').trim()
}
