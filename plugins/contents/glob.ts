/** What a pattern of .editorconfig is made of. */
type Node =
  | { readonly kind: 'letter'; readonly letter: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'run'; readonly slashes: boolean }
  | { readonly kind: 'set'; readonly letters: string; readonly not: boolean }
  | { readonly kind: 'range'; readonly from: number; readonly to: number }
  | { readonly kind: 'either'; readonly branches: readonly (readonly Node[])[] }

/** Longer patterns match nothing. */
const longest = 1024

/**
 * Whether a path matches a pattern of .editorconfig: `*`, `**`, `?`, `[ab]`, `[!ab]`, `{a,b}`, `{1..9}`. Patterns come
 * from strangers, so this follows all possibilities at once: its time is their length times the path's, at worst.
 *
 * @param path from the folder of the file, without a slash in front
 */
export function matches(pattern: string, path: string): boolean {
  if (pattern.length > longest || path.length > longest) return false
  const anchored = pattern.includes('/')
  const nodes = parse(pattern.replace(/^\//, ''))
  const letters = [...path]
  const start = new Uint8Array(letters.length + 1)
  start[0] = 1
  // A pattern without a slash is about the name in whatever folder.
  if (!anchored) for (const [index, letter] of letters.entries()) if (letter === '/') start[index + 1] = 1
  return follow(nodes, letters, start)[letters.length] === 1
}

type Places = Uint8Array

function follow(nodes: readonly Node[], letters: readonly string[], start: Places): Places {
  return nodes.reduce((places, node) => (places.includes(1) ? step(node, letters, places) : places), start)
}

/** Where one can be behind a node, having been at `places` before it. */
function step(node: Node, letters: readonly string[], places: Places): Places {
  const next = new Uint8Array(places.length)
  if (node.kind === 'either') {
    for (const branch of node.branches) {
      for (const [at, is] of follow(branch, letters, places).entries()) if (is) next[at] = 1
    }
    return next
  }
  if (node.kind === 'range') {
    for (const [at, is] of places.entries()) if (is) for (const end of numbersAt(letters, at, node)) next[end] = 1
    return next
  }
  // Counted by hand: this is the innermost loop of all.
  for (let at = 0; at < letters.length; at += 1) {
    if (node.kind === 'run') {
      if (places[at]) next[at] = 1
      if (next[at] && (node.slashes || letters[at] !== '/')) next[at + 1] = 1
    } else if (places[at] && takes(node, letters[at] as string)) next[at + 1] = 1
  }
  if (node.kind === 'run' && places[letters.length]) next[letters.length] = 1
  return next
}

function takes(node: Exclude<Node, { kind: 'run' | 'range' | 'either' }>, letter: string): boolean {
  if (node.kind === 'letter') return node.letter === letter
  if (letter === '/') return false
  return node.kind === 'any' || node.letters.includes(letter) !== node.not
}

/** Ends of the whole numbers that begin at a place and lie within a range. */
function numbersAt(letters: readonly string[], at: number, { from, to }: { from: number; to: number }): number[] {
  const ends: number[] = []
  let text = ''
  for (let end = at; end < letters.length && text.length < 16; end += 1) {
    text += letters[end]
    if (!/^[+-]?\d*$/.test(text)) break
    if (/\d$/.test(text) && Number(text) >= from && Number(text) <= to) ends.push(end + 1)
  }
  return ends
}

function parse(pattern: string): Node[] {
  const letters = [...pattern]
  const closing = pairs(letters)
  const within = (from: number, to: number): Node[] => {
    const nodes: Node[] = []
    for (let at = from; at < to; at += 1) {
      const letter = letters[at] as string
      const close = closing.get(at)
      if (letter === '\\' && at + 1 < to) nodes.push({ kind: 'letter', letter: letters[++at] as string })
      else if (letter === '?') nodes.push({ kind: 'any' })
      else if (letter === '*') {
        const slashes = letters[at + 1] === '*'
        while (letters[at + 1] === '*') at += 1
        nodes.push({ kind: 'run', slashes })
      } else if (letter === '[' && close !== undefined) {
        nodes.push(setOf(letters.slice(at + 1, close).join('')))
        at = close
      } else if (letter === '{' && close !== undefined) {
        nodes.push(braces(at, close, within))
        at = close
      } else nodes.push({ kind: 'letter', letter })
    }
    return nodes
  }
  const braces = (open: number, close: number, inside: typeof within): Node => {
    const range = /^([+-]?\d{1,15})\.\.([+-]?\d{1,15})$/.exec(letters.slice(open + 1, close).join(''))
    if (range) return { kind: 'range', from: Number(range[1]), to: Number(range[2]) }
    const borders = [open, ...commas(letters, open, close, closing), close]
    // Braces around one thing only are letters.
    if (borders.length === 2)
      return { kind: 'either', branches: [[brace('{'), ...inside(open + 1, close), brace('}')]] }
    const branches = borders.slice(1).map((border, index) => inside((borders[index] as number) + 1, border))
    return { kind: 'either', branches }
  }
  return within(0, letters.length)
}

const brace = (letter: string): Node => ({ kind: 'letter', letter })

function setOf(text: string): Node {
  const not = text.startsWith('!') || text.startsWith('^')
  const body = not ? text.slice(1) : text
  const letters = body.replace(/(.)-(.)/gu, (all, first: string, last: string) => {
    const [from, to] = [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0]
    if (to < from || to - from > 512) return all
    return String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, index) => from + index))
  })
  return { kind: 'set', letters, not }
}

/** Opening brackets and braces with their ends; those without one are letters. */
function pairs(letters: readonly string[]): Map<number, number> {
  const found = new Map<number, number>()
  const open: number[] = []
  const lastBracket = letters.lastIndexOf(']')
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at]
    if (letter === '\\') at += 1
    else if (letter === '[' && at < lastBracket) {
      const close = letters.indexOf(']', at + 2)
      if (close < 0 || letters.slice(at, close).includes('/')) continue
      found.set(at, close)
      at = close
    } else if (letter === '{') open.push(at)
    else if (letter === '}' && open.length > 0) found.set(open.pop() as number, at)
  }
  return found
}

/** Commas of one pair of braces, without those of the braces inside. */
function commas(letters: readonly string[], open: number, close: number, closing: ReadonlyMap<number, number>) {
  const found: number[] = []
  for (let at = open + 1; at < close; at += 1) {
    if (letters[at] === '\\') at += 1
    else if (letters[at] === ',') found.push(at)
    else at = closing.get(at) ?? at
  }
  return found
}
