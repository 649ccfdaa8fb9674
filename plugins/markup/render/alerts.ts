import type { MarkdownIt, Token } from 'markdown-it'
import { environmentOf } from './environment.ts'

const head = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|$)/i

/** Quotes that start with a line `[!NOTE]` (tip, important, warning, caution): boxes with a title. */
export function alerts(md: MarkdownIt): void {
  md.core.ruler.before('inline', 'alerts', (state) => {
    const { mark } = environmentOf(state.env)
    const tokens: Token[] = []
    for (const [at, token] of state.tokens.entries()) {
      tokens.push(token)
      const inline = state.tokens[at + 2]
      const found = token.type === 'blockquote_open' && inline?.type === 'inline' ? head.exec(inline.content) : null
      if (!found || !inline) continue
      const kind = (found[1] ?? '').toLowerCase()
      token.attrSet('data-g', mark(`attention-header attention-${kind}`))
      const title = new state.Token('html_block', '', 0)
      title.meta = { ours: true }
      const word = kind.charAt(0).toUpperCase() + kind.slice(1)
      title.content = `<p dir="auto"><strong data-g="${mark(`attention-${kind}`)}">${word}</strong></p>\n`
      tokens.push(title)
      inline.content = inline.content.slice(found[0].length)
      if (inline.content === '') hide(state.tokens.slice(at + 1, at + 4))
    }
    state.tokens = tokens
    return true
  })
}

function hide(tokens: readonly Token[]): void {
  for (const token of tokens)
    Object.assign(token, { type: 'text', content: '', children: null, hidden: true, nesting: 0 })
}
