import type { MarkdownIt, Token } from 'markdown-it'
import footnote from 'markdown-it-footnote'
import { type Environment, environmentOf } from './environment.ts'

/** `[^1]` and its note at the end of the text. Notes are named by label, not by number. */
export function footnotes(md: MarkdownIt): void {
  md.use(footnote)
  md.inline.ruler.disable('footnote_inline')
  const { rules } = md.renderer
  const name = (token: Token | undefined, env: Environment) => {
    const meta = token?.meta ?? {}
    const label = String(meta.label ?? Number(meta.id) + 1)
    return `user-content-${md.utils.escapeHtml(label)}${env.idSuffix}`
  }
  rules.footnote_ref = (tokens, at, _options, env) => {
    const id = name(tokens[at], environmentOf(env))
    const number = Number(tokens[at]?.meta?.id) + 1
    return `<sup id="fnref:${id}"><a href="#fn:${id}">${number} </a></sup>`
  }
  rules.footnote_block_open = () => '<div>\n<hr>\n<ol>\n'
  rules.footnote_block_close = () => '</ol>\n</div>\n'
  rules.footnote_open = (tokens, at, _options, env) => `<li id="fn:${name(tokens[at], environmentOf(env))}">\n`
  rules.footnote_anchor = (tokens, at, _options, env) =>
    // One way back is enough: all references to a note bear the same id.
    Number(tokens[at]?.meta?.subId ?? 0) > 0 ? '' : ` <a href="#fnref:${name(tokens[at], environmentOf(env))}">↩︎</a>`
}
