import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it'
import { environmentOf } from './environment.ts'

const dollar = 0x24
const wordCharacter = /[\p{L}\p{N}_]/u

/** `$a$`, `$$a$$` and blocks between lines of `$$`: marked as math, for a script on the page to typeset. */
export function math(md: MarkdownIt): void {
  md.inline.ruler.after('escape', 'math', inlineMath)
  md.block.ruler.after('fence', 'math', blockMath, { alt: ['paragraph', 'reference', 'blockquote', 'list'] })
  const { escapeHtml } = md.utils
  md.renderer.rules.math_inline = (tokens, at, _options, env) =>
    `<code data-g="${environmentOf(env).mark('language-math')}">${escapeHtml(tokens[at]?.content ?? '')}</code>`
  md.renderer.rules.math_block = (tokens, at, _options, env) => {
    const { mark } = environmentOf(env)
    const text = escapeHtml(tokens[at]?.content ?? '')
    return `<pre data-g="${mark('code-block is-loading')}"><code data-g="${mark('language-math display')}">\n${text}</code></pre>\n`
  }
}

function inlineMath(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state
  if (src.charCodeAt(pos) !== dollar || wordCharacter.test(src[pos - 1] ?? '')) return false
  const fence = src.charCodeAt(pos + 1) === dollar ? '$$' : '$'
  const start = pos + fence.length
  // Only the next dollar may close: looking further would cost a scan of the rest for every dollar.
  const end = src.indexOf('$', start)
  if (end < 0 || end === start || end + fence.length > posMax || !src.startsWith(fence, end)) return false
  if (wordCharacter.test(src[end + fence.length] ?? '')) return false
  const inner = src.slice(start, end)
  const text = (/^`[^`]+`$/.test(inner) ? inner.slice(1, -1) : inner).trim()
  if (!text || inner.includes('\n\n')) return false
  if (!silent) state.push('math_inline', 'code', 0).content = text
  state.pos = end + fence.length
  return true
}

const lineOf = (state: StateBlock, line: number) =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd()

function blockMath(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (lineOf(state, startLine) !== '$$') return false
  let line = startLine + 1
  while (line < endLine && lineOf(state, line) !== '$$') {
    if ((state.sCount[line] ?? 0) < state.blkIndent && !state.isEmpty(line)) return false
    line++
  }
  if (line >= endLine) return false
  if (silent) return true
  const token = state.push('math_block', 'pre', 0)
  token.content = state.getLines(startLine + 1, line, state.blkIndent, true)
  token.map = [startLine, line + 1]
  token.block = true
  state.line = line + 1
  return true
}
