import type { MarkdownIt } from 'markdown-it'

const attributes = /[ \t]+\{([^{}\n]{1,200})\}[ \t]*$/

/** `# Title {#name}`: an id of the writer's choice. */
export function headings(md: MarkdownIt): void {
  md.core.ruler.before('inline', 'heading_ids', (state) => {
    for (const [at, token] of state.tokens.entries()) {
      const inline = state.tokens[at + 1]
      if (token.type !== 'heading_open' || !inline) continue
      const found = attributes.exec(inline.content.slice(-210))
      const id = found && /(?:^|\s)#([\w:.-]+)/.exec(found[1] ?? '')?.[1]
      if (!found || !id) continue
      inline.content = inline.content.slice(0, inline.content.length - found[0].length)
      token.attrSet('id', id)
    }
    return true
  })
}

/** The id of a heading with this text, or '' when nothing of it can be in an id. */
export function slugOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/gu, '-')
}
