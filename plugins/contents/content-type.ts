import { git } from '#core/repos'

/** Beginnings of files whose kind browsers may know: nothing among them runs in the page that shows it. */
const beginnings: readonly (readonly [type: string, begin: string, at?: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF8'],
  ['image/bmp', 'BM'],
  ['image/x-icon', '\0\0\x01\0'],
  ['image/webp', 'WEBPVP', 8],
  ['image/avif', 'ftypavif', 4],
  ['audio/wave', 'WAVE', 8],
  ['audio/mpeg', 'ID3'],
  ['audio/midi', 'MThd\0\0\0\x06'],
  ['application/ogg', 'OggS\0'],
  ['video/avi', 'AVI ', 8],
  ['video/webm', '\x1aE\xdf\xa3'],
  ['video/mp4', 'ftyp', 4],
  ['application/pdf', '%PDF-'],
  ['application/x-gzip', '\x1f\x8b\x08'],
  ['application/zip', 'PK\x03\x04'],
  ['font/woff', 'wOFF'],
  ['font/woff2', 'wOF2'],
  ['font/ttf', '\0\x01\0\0'],
]
const preambles = [
  ['<?xml', '?>'],
  ['<!--', '-->'],
  ['<!DOCTYPE svg', '>'],
] as const

/** Whether a text is a picture in SVG: that element comes first, behind comments and declarations. */
function isSvg(text: string): boolean {
  let rest = text.replace(/^\ufeff/, '').trimStart()
  for (;;) {
    const preamble = preambles.find(([begin]) => rest.startsWith(begin))
    if (!preamble) return /^<svg[\s>]/.test(rest)
    const end = rest.indexOf(preamble[1])
    if (end < 0) return false
    rest = rest.slice(end + preamble[1].length).trimStart()
  }
}

/**
 * The content type of a file by its first bytes, never by its name: a page someone uploaded is text like any other.
 *
 * @param head at least the first 8000 bytes, or all of a smaller file
 */
export function contentTypeOf(head: Buffer): string {
  const start = head.toString('latin1', 0, 32)
  for (const [type, begin, at = 0] of beginnings) if (start.startsWith(begin, at)) return type
  if (start.startsWith('\xff\xfe')) return 'text/plain; charset=utf-16le'
  if (start.startsWith('\xfe\xff')) return 'text/plain; charset=utf-16be'
  if (!git.isText(head)) return 'application/octet-stream'
  if (isSvg(head.toString('utf8', 0, 4096))) return 'image/svg+xml'
  return 'text/plain; charset=utf-8'
}
