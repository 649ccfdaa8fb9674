import sanitizeHtml from 'sanitize-html'

const tags = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'section', 'article', 'center', 'hr', 'br', 'wbr', 'span'],
  ...['b', 'i', 'u', 's', 'em', 'strong', 'small', 'mark', 'del', 'ins', 'strike', 'sub', 'sup', 'q', 'cite', 'dfn'],
  ...['abbr', 'code', 'tt', 'samp', 'kbd', 'var', 'pre', 'time', 'progress', 'bdi', 'bdo', 'ruby', 'rp', 'rt'],
  ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote', 'details', 'summary', 'figure', 'figcaption'],
  ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
  ...['a', 'img', 'picture', 'source', 'video', 'input'],
]

const cell = ['align', 'valign', 'colspan', 'rowspan', 'width', 'height', 'scope', 'abbr']
const attributes: Record<string, string[]> = {
  '*': ['data-g', 'id', 'title', 'lang', 'dir', 'align', 'style', 'tabindex', 'aria-label', 'aria-hidden'],
  a: ['href', 'name'],
  img: ['src', 'alt', 'width', 'height', 'border', 'hspace', 'vspace'],
  source: ['src', 'srcset', 'type', 'media', 'width', 'height'],
  video: ['src', 'poster', 'controls', 'loop', 'muted', 'width', 'height'],
  input: ['type', 'disabled', 'checked', 'data-source-position'],
  ol: ['start', 'type'],
  ul: ['type'],
  li: ['value'],
  table: ['border', 'width', 'cellpadding', 'cellspacing'],
  th: cell,
  td: cell,
  col: ['span', 'width'],
  colgroup: ['span', 'width'],
  blockquote: ['cite'],
  q: ['cite'],
  del: ['cite', 'datetime'],
  ins: ['cite', 'datetime'],
  time: ['datetime'],
  details: ['open'],
  progress: ['value', 'max'],
}

const colors = [/^#[0-9a-f]{3,8}$/i, /^[a-z]{3,20}$/i, /^(?:rgb|hsl)a?\([\d.,%\s/]{1,40}\)$/i]
const styles = {
  '*': {
    color: colors,
    'background-color': colors,
    'text-align': [/^(?:left|right|center|justify)$/],
    'font-weight': [/^(?:bold|normal|[1-9]00)$/],
    'font-style': [/^(?:italic|normal)$/],
  },
}

const schemes = [
  ...['http', 'https', 'mailto', 'tel', 'sms', 'ftp', 'ftps', 'sftp', 'ssh', 'git', 'svn', 'magnet', 'irc', 'ircs'],
  ...['xmpp', 'matrix', 'sip', 'sips', 'geo', 'news', 'nntp', 'webcal'],
]

/** Addresses without comma, each with a width or density. The library writes complaints about others to the console. */
const sourceSet = /^\s*[^\s,]+(?:\s+\d{1,5}(?:\.\d{1,3})?[wx])?(?:\s*,\s*[^\s,]+(?:\s+\d{1,5}(?:\.\d{1,3})?[wx])?)*\s*$/

/** The types of the library lag behind it. */
type Options = sanitizeHtml.IOptions & { readonly allowedEmptyAttributes: string[] }

/**
 * Makes HTML safe by keeping only what is known to be harmless: no scripts, no handlers, no classes of the writer's
 * choice, no link or picture of a scheme that can run code, no style beyond colours and weights.
 *
 * @param secret how the values of our own `data-g` start in this rendering; others are taken away
 */
export function sanitize(html: string, secret: string): string {
  const ours = (mark: string | undefined) => mark?.startsWith(`${secret} `) === true
  const options: Options = {
    allowedTags: tags,
    allowedAttributes: attributes,
    allowedStyles: styles,
    allowedSchemes: schemes,
    allowedSchemesAppliedToAttributes: ['href', 'src', 'cite', 'poster'],
    // An empty link still leads somewhere: to where relative links start.
    allowedEmptyAttributes: ['alt', 'href', 'data-g'],
    nonTextTags: ['script', 'style', 'noscript', 'iframe', 'noembed', 'noframes', 'xmp', 'template'],
    nestingLimit: 100,
    transformTags: {
      '*': (tagName, given) => {
        const { 'data-g': mark, srcset, ...attribs } = given
        if (mark !== undefined && ours(mark)) attribs['data-g'] = mark
        if (srcset !== undefined && sourceSet.test(srcset)) attribs.srcset = srcset
        return { tagName, attribs }
      },
    },
    exclusiveFilter: (frame) => frame.tag === 'input' && !ours(frame.attribs['data-g']),
  }
  return sanitizeHtml(html, options)
}
