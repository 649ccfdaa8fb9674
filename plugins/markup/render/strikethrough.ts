import type { Delimiter, MarkdownIt, StateInline } from 'markdown-it'

const tilde = 0x7e
/** Stands for one tilde in the list of delimiters, so that `~` never closes `~~`. */
const single = 0x1007e
const double = 0x2007e

/** `~one~` and `~~two~~`, as in GitHub's dialect; the parser's own rule knows only two. */
export function strikethrough(md: MarkdownIt): void {
  md.inline.ruler.at('strikethrough', tokenize)
  md.inline.ruler2.at('strikethrough', (state) => {
    pair(state, state.delimiters)
    for (const meta of state.tokens_meta) if (meta?.delimiters) pair(state, meta.delimiters)
    return true
  })
}

function tokenize(state: StateInline, silent: boolean): boolean {
  if (silent || state.src.charCodeAt(state.pos) !== tilde) return false
  const run = state.scanDelims(state.pos, true)
  const token = state.push('text', '', 0)
  token.content = '~'.repeat(run.length)
  state.pos += run.length
  if (run.length > 2) return true
  state.delimiters.push({
    marker: run.length === 1 ? single : double,
    length: 0,
    token: state.tokens.length - 1,
    end: -1,
    open: run.can_open,
    close: run.can_close,
  })
  return true
}

function pair(state: StateInline, delimiters: readonly Delimiter[]): void {
  for (const start of delimiters) {
    if ((start.marker !== single && start.marker !== double) || start.end === -1) continue
    const end = delimiters[start.end]
    const opening = state.tokens[start.token]
    const closing = end && state.tokens[end.token]
    if (!opening || !closing) continue
    Object.assign(opening, { type: 's_open', tag: 'del', nesting: 1, content: '' })
    Object.assign(closing, { type: 's_close', tag: 'del', nesting: -1, content: '' })
  }
}
