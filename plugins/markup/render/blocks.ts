import type { MarkdownIt, RendererRule, Token } from 'markdown-it'
import { environmentOf } from './environment.ts'

const color = /^(#(?:[0-9a-f]{3}|[0-9a-f]{6})|(?:rgb|hsl)a?\([\d.,%\s/]{1,40}\))$/i

/** Code blocks, table cells, text direction and raw HTML: how the pieces of the document are written. */
export function blocks(md: MarkdownIt): void {
  const { rules } = md.renderer
  const { escapeHtml } = md.utils
  const framed = (env: { mark(names: string): string }, inner: string, loading = false) =>
    `<div data-g="${env.mark('code-block-container code-overflow-scroll')}">` +
    `<pre data-g="${env.mark(loading ? 'code-block is-loading' : 'code-block')}">${inner}</pre></div>`

  rules.fence = (tokens, at, _options, env) => {
    const { content = '', info = '' } = tokens[at] ?? {}
    const scene = environmentOf(env)
    const language = /^[^\s{]+/.exec(info.trim())?.[0] ?? 'text'
    const classes = scene.mark(`hljs language-${language.replaceAll(/[^\w+#.-]/g, '')} display`)
    const loading = language === 'mermaid' || language === 'math'
    return framed(scene, `<code data-g="${classes}">${escapeHtml(content)}</code>`, loading)
  }
  rules.code_block = (tokens, at, _options, env) =>
    framed(environmentOf(env), `<code>${escapeHtml(tokens[at]?.content ?? '')}</code>`)
  rules.code_inline = (tokens, at, _options, env) => {
    const text = tokens[at]?.content ?? ''
    const { mark } = environmentOf(env)
    const swatch = color.test(text)
      ? `<span data-g="${mark('color-preview')}" style="background-color: ${escapeHtml(text)}"></span>`
      : ''
    return `<code>${escapeHtml(text)}${swatch}</code>`
  }
  rules.th_open = aligned
  rules.td_open = aligned
  rules.html_block = rules.html_inline = (tokens, at, _options, env) => rawHtml(tokens[at], environmentOf(env).rendered)
  md.core.ruler.push('directions', (state) => {
    let depth = 0
    for (const token of state.tokens) {
      if (token.type === 'paragraph_open') token.attrSet('dir', 'auto')
      if (!/^(?:bullet|ordered)_list_/.test(token.type)) continue
      if (token.nesting === 1 && depth === 0) token.attrSet('dir', 'auto')
      depth += token.nesting
    }
    return true
  })
}

/** Cells are aligned by attribute, because `style` is for what people write. */
const aligned: RendererRule = (tokens, at, options, _env, renderer) => {
  const token = tokens[at]
  const side = /text-align:(\w+)/.exec(String(token?.attrGet('style') ?? ''))?.[1]
  if (token && side) token.attrs = [['align', side]]
  return renderer.renderToken(tokens, at, options)
}

/** Outside the plain modes, tags that can never stand are shown as the text that they are. */
function rawHtml(token: Token | undefined, rendered: boolean): string {
  const html = token?.content ?? ''
  if (token?.meta?.ours || !rendered) return html
  return html.replaceAll(/<(?=\/?(?:script|style|html|head|body)\b|\?)/gi, '&lt;')
}
