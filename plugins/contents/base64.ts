import { unprocessable } from '#core/http'

const sound = /^[A-Za-z0-9+/\r\n]*(?:=[\r\n]*){0,2}$/
const letter = /[A-Za-z0-9+/]/
const isLineEnd = (character: string | undefined) => character === '\n' || character === '\r'

/** The bytes of a text in base64; line ends are ignored. 422 with the place of the first fault. */
export function decodeBase64(text: string): Buffer {
  const lineEnds = sound.test(text) ? countLineEnds(text) : -1
  if (lineEnds < 0 || (text.length - lineEnds) % 4 !== 0) {
    const fault = faultIn(text)
    if (fault !== undefined) throw unprocessable(`illegal base64 data at input byte ${fault}`)
  }
  return Buffer.from(text, 'base64')
}

function countLineEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1
  for (let at = text.indexOf('\r'); at >= 0; at = text.indexOf('\r', at + 1)) count += 1
  return count
}

/** Where clients are told that the text goes wrong: in groups of four letters, the last one filled up with `=`. */
function faultIn(text: string): number | undefined {
  let inGroup = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string
    if (isLineEnd(character)) continue
    if (letter.test(character)) {
      inGroup = (inGroup + 1) % 4
      continue
    }
    return character === '=' && inGroup >= 2 ? faultInPadding(text, at, inGroup) : at
  }
  return inGroup === 0 ? undefined : text.length - inGroup
}

function faultInPadding(text: string, first: number, inGroup: number): number | undefined {
  const skip = (from: number) => {
    let at = from
    while (isLineEnd(text[at])) at += 1
    return at
  }
  let at = skip(first + 1)
  if (inGroup === 2) {
    if (at >= text.length) return text.length
    if (text[at] !== '=') return at - 1
    at = skip(at + 1)
  }
  return at < text.length ? at : undefined
}
