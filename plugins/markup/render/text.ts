import { emojiByName, labelOfEmoji } from './emoji.ts'
import { escapeHtml } from './html.ts'
import { encodePath, type Places, type RepositoryNames, resolveLink } from './links.ts'

/** What the words of a text may refer to. */
export type Surroundings = {
  readonly base: string
  readonly places: Places
  readonly repository: RepositoryNames | undefined
  /** `#1` is a link; elsewhere only `owner/name#1` is. */
  readonly shortReferences: boolean
  /** Names of existing users that the text may mention, in lower case. */
  readonly people: ReadonlySet<string>
}

type Found = RegExpExecArray
type Matcher = {
  readonly pattern: RegExp
  /** The HTML for a match, or undefined to leave it as text. */
  readonly html: (found: Found, here: Surroundings) => string | undefined
}

const before = String.raw`(?<=^|[\s(\['"])`
const after = String.raw`(?=$|[\s)\]'"]|[:;,.?!](?:\s|$))`
const keyword = String.raw`(?:(close[sd]?|fix(?:e[sd])?|resolve[sd]?|reopen(?:s|ed)?)(:?\s+))?`

const generated = (href: string, inner: string, className = '') =>
  `<a href="${escapeHtml(href)}" data-markdown-generated-content=""${className ? ` class="${className}"` : ''}` +
  ` rel="nofollow">${inner}</a>`

const reference = (here: Surroundings, repo: RepositoryNames, sign: string, index: string, text: string) =>
  generated(`${here.base}/${repo.owner}/${repo.name}/${sign === '!' ? 'pulls' : 'issues'}/${index}`, text, 'ref-issue')

const withKeyword = (word: string | undefined, gap: string | undefined, html: string) =>
  word ? `<span class="issue-keyword">${word}</span>${gap ?? ''}${html}` : html

/** In order of rank: where two match the same words, the earlier one has them. */
const matchers: readonly Matcher[] = [
  {
    pattern: /\bhttps?:\/\/[^\s<>"'`]+/gi,
    html: (found, here) => urlHtml(found[0], here),
  },
  {
    pattern: /\[\[([^[\]\n]{1,300})\]\]/g,
    html: (found, here) => wikiLinkHtml(found[1] ?? '', here),
  },
  {
    pattern: /(?<=^|[\s([])@(\w(?:[\w.-]*\w)?)(?=$|[\s)\]':;,.?!])/g,
    html: ([, name = ''], here) =>
      here.people.has(name.toLowerCase()) ? generated(`${here.base}/${name}`, `@${name}`) : undefined,
  },
  {
    pattern: new RegExp(
      `${before}${keyword}(?<=^|[\\s(\\['"])([\\w.-]{1,100})/([\\w.-]{1,100})([#!])(\\d{1,18})${after}`,
      'gi',
    ),
    html: ([, word, gap, owner = '', name = '', sign = '', index = ''], here) =>
      withKeyword(word, gap, reference(here, { owner, name }, sign, index, `${owner}/${name}${sign}${index}`)),
  },
  {
    pattern: new RegExp(`${before}${keyword}(?<=^|[\\s(\\['"])([#!])(\\d{1,18})${after}`, 'gi'),
    html: ([, word, gap, sign = '', index = ''], here) =>
      here.shortReferences && here.repository
        ? withKeyword(word, gap, reference(here, here.repository, sign, index, `${sign}${index}`))
        : undefined,
  },
  {
    pattern: /(?<=^|[\s(['";:,])([\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})(?=$|[\s)\]'";:,.?!])/g,
    html: ([address = '']) => generated(`mailto:${address}`, escapeHtml(address)),
  },
  {
    pattern: /:([\w+-]{1,60}):(?![\w:])/g,
    html: ([, name = '']) => {
      const emoji = emojiByName(name)
      return emoji && emojiHtml(emoji.sign, emoji.label)
    },
  },
  {
    pattern: /\p{RGI_Emoji}/gv,
    html: ([sign]) => emojiHtml(sign, labelOfEmoji(sign) ?? 'emoji'),
  },
]

const emojiHtml = (sign: string, label: string) =>
  `<span class="emoji" aria-label="${escapeHtml(label)}">${sign}</span>`

/** An address in the text. Marks that end a sentence are not part of it. */
function urlHtml(match: string, here: Surroundings): string {
  const url = withoutTail(match)
  const tail = escapeHtml(match.slice(url.length))
  const own = url.startsWith(`${here.base}/`) ? ownPageHtml(url, here) : undefined
  return (
    (own ??
      generated(
        url.replace(/^https?/i, (scheme) => scheme.toLowerCase()),
        escapeHtml(url),
      )) + tail
  )
}

function withoutTail(url: string): string {
  let opened = 0
  for (const one of url) opened += one === '(' ? 1 : one === ')' ? -1 : 0
  let end = url.length
  for (; end > 0; end--) {
    const last = url.charAt(end - 1)
    if (last === ')' && opened < 0) opened++
    else if (!/[.,;:!?\]*]/.test(last)) break
  }
  return url.slice(0, end)
}

/** Pages of this host that have a shorter name: issues, pull requests, commits. */
function ownPageHtml(url: string, here: Surroundings): string | undefined {
  const path = url.slice(here.base.length + 1)
  const commit = /^[\w.-]+\/[\w.-]+\/commit\/([0-9a-f]{40}(?:[0-9a-f]{24})?)$/.exec(path)
  if (commit) return `<a href="${escapeHtml(url)}" rel="nofollow"><code>${commit[1]?.slice(0, 10)}</code></a>`
  const issue = /^([\w.-]+)\/([\w.-]+)\/(?:issues|pulls)\/(\d{1,18})(#issuecomment-\d+)?$/.exec(path)
  if (!issue) return undefined
  const [, owner = '', name = '', index = '', comment] = issue
  const same = here.repository?.owner === owner && here.repository.name === name
  return generated(url, `${same ? '' : `${owner}/${name}`}#${index}${comment ? ' (comment)' : ''}`, 'ref-issue')
}

const scheme = /^[a-z][a-z\d+.-]*:/i

/** `[[Page]]`, `[[Text|Page]]`, `[[https://address|Text]]`, `[[picture.png]]`. */
function wikiLinkHtml(inner: string, { places }: Surroundings): string | undefined {
  const parts = inner.split('|').map((part) => part.trim())
  // Settings such as `alt=` belong to pictures; none is honoured.
  const [first = '', second = first] = parts.filter((part, at) => at === parts.length - 1 || !/^\w+=/.test(part))
  const [text, target] = scheme.test(first) ? [second, first] : [first, second]
  if (target === '' || (scheme.test(target) && !/^https?:/i.test(target))) return undefined
  const path = scheme.test(target) ? target : encodePath(target)
  const label = escapeHtml(text)
  const href = escapeHtml(resolveLink(path, places.links))
  const picture = `<img src="${escapeHtml(resolveLink(path, places.images))}" title="${label}" alt="${label}" loading="lazy">`
  const inside = /\.(?:png|jpe?g|gif|bmp|webp|svg|avif)$/i.test(target) ? picture : label
  return `<a href="${href}" rel="nofollow">${inside}</a>`
}

/** A piece of text as HTML: addresses, mentions, references and emoji become what they stand for. */
export function textHtml(text: string, here: Surroundings): string {
  const taken: { start: number; end: number; html: string }[] = []
  for (const { pattern, html } of matchers) {
    for (const found of text.matchAll(pattern)) {
      const written = html(found, here)
      if (written !== undefined) taken.push({ start: found.index, end: found.index + found[0].length, html: written })
    }
  }
  // The sort is stable: of two that start alike, the one of higher rank comes first.
  taken.sort((a, b) => a.start - b.start)
  let out = ''
  let at = 0
  for (const { start, end, html } of taken) {
    if (start < at) continue
    out += escapeHtml(text.slice(at, start)) + html
    at = end
  }
  return out + escapeHtml(text.slice(at))
}
