import type { MarkdownIt, Token } from 'markdown-it'
import { environmentOf } from './environment.ts'

const box = /^\[([ xX])\](?=\s)\s*/

/** `- [ ] thing`: a check box. `data-source-position` is the byte at which its bracket stands in the text. */
export function tasks(md: MarkdownIt): void {
  md.core.ruler.before('inline', 'tasks', (state) => {
    const { mark, source } = environmentOf(state.env)
    const placeOf = createPlaces(source)
    for (const [at, item] of state.tokens.entries()) {
      const inline = state.tokens[at + 2]
      if (item.type !== 'list_item_open' || inline?.type !== 'inline') continue
      const found = box.exec(inline.content)
      if (!found) continue
      inline.content = inline.content.slice(found[0].length)
      item.attrSet('data-g', mark('task-list-item'))
      item.meta = { box: boxHtml(mark(''), placeOf(inline), found[1] !== ' ') }
    }
    return true
  })
  md.renderer.rules.list_item_open = (tokens, at, options, _env, renderer) =>
    renderer.renderToken(tokens, at, options) + String(tokens[at]?.meta?.box ?? '')
}

const boxHtml = (mark: string, place: number, checked: boolean) =>
  `<input data-g="${mark}" type="checkbox" disabled data-source-position="${place}"${checked ? ' checked' : ''}>`

/** Finds the byte of the bracket in a token's first line. The places asked for only grow, so the whole is linear. */
function createPlaces(source: string) {
  const starts = [0]
  for (const found of source.matchAll(/\r\n|\r|\n/g)) starts.push(found.index + found[0].length)
  let index = 0
  let bytes = 0
  return (token: Token): number => {
    const line = starts[token.map?.[0] ?? 0] ?? 0
    const bracket = source.indexOf('[', line)
    const place = Math.max(index, bracket < 0 ? line : bracket)
    bytes += Buffer.byteLength(source.slice(index, place))
    index = place
    return bytes
  }
}
