import type { MarkdownIt, StateBlock } from 'markdown-it'

const meaning = /^:[ \t]+(?=\S)/

/** A line, and below it lines that start with `: `: a term and what it means. */
export function definitions(md: MarkdownIt): void {
  md.block.ruler.before('paragraph', 'definitions', (state, startLine, endLine, silent) => {
    if (silent || !isTerm(state, startLine, endLine)) return false
    const list = state.push('dl_open', 'dl', 1)
    let line = startLine
    let end = startLine
    while (isTerm(state, line, endLine)) {
      write(state, 'dt', lineOf(state, line), line, line + 1)
      line = nextLine(state, line + 1, endLine)
      while (line < endLine && isMeaning(state, line)) {
        end = line + 1
        while (end < endLine && isText(state, end) && !isMeaning(state, end)) end++
        const text = [lineOf(state, line).replace(meaning, '')]
        for (let more = line + 1; more < end; more++) text.push(lineOf(state, more))
        write(state, 'dd', text.join('\n'), line, end)
        line = end
      }
      line = nextLine(state, end, endLine)
    }
    state.push('dl_close', 'dl', -1)
    list.map = [startLine, end]
    state.line = end
    return true
  })
}

const lineOf = (state: StateBlock, line: number) =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd()

/** A line of this block that is neither empty nor code. */
function isText(state: StateBlock, line: number): boolean {
  const indent = (state.sCount[line] ?? 0) - state.blkIndent
  return !state.isEmpty(line) && indent >= 0 && indent < 4
}

const isMeaning = (state: StateBlock, line: number) => isText(state, line) && meaning.test(lineOf(state, line))

/** The line, or the next one when it is empty. */
const nextLine = (state: StateBlock, line: number, endLine: number) =>
  line < endLine && state.isEmpty(line) ? line + 1 : line

function isTerm(state: StateBlock, line: number, endLine: number): boolean {
  if (line >= endLine || !isText(state, line) || isMeaning(state, line)) return false
  const next = nextLine(state, line + 1, endLine)
  return next < endLine && isMeaning(state, next)
}

function write(state: StateBlock, tag: 'dt' | 'dd', text: string, from: number, to: number): void {
  state.push(`${tag}_open`, tag, 1).map = [from, to]
  const inline = state.push('inline', '', 0)
  inline.content = text
  inline.map = [from, to]
  inline.children = []
  state.push(`${tag}_close`, tag, -1)
}
