import type { Entry, Mistake, Source } from './mistakes.ts'

/** What a text declares and what is wrong with it; both may be there at once. */
export type Reading = { readonly entries: readonly Entry[]; readonly mistakes: readonly Mistake[] }

/**
 * Reads `key = value` lines below `[section]` headers; keys before the first header belong to the section ''.
 * A value in "…", '…' or `…` is taken as it stands. Lines that begin with `;` or `#` are comments.
 */
export function parseIni(text: string, file: string): Reading {
  const entries: Entry[] = []
  const mistakes: Mistake[] = []
  let section = ''
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim()
    const source: Source = { kind: 'file', file, line: index + 1 }
    if (line === '' || line.startsWith(';') || line.startsWith('#')) continue
    if (line.startsWith('[')) {
      const header = /^\[([^[\]]*)\]$/.exec(line)
      if (header) section = header[1]?.trim().toLowerCase() ?? ''
      else mistakes.push({ source, text: `"${line}" is not a section; it is written [name] on a line of its own` })
      continue
    }
    const equals = line.indexOf('=')
    const key = line.slice(0, Math.max(equals, 0)).trim()
    if (key === '') {
      mistakes.push({ source, text: `"${line}" is neither KEY = value nor [section] nor a comment` })
      continue
    }
    const value = readValue(line.slice(equals + 1).trim())
    if ('wrong' in value) mistakes.push({ source, text: `${key}: ${value.wrong}` })
    else entries.push({ section, key: key.toUpperCase(), text: value.text, source })
  }
  return { entries, mistakes }
}

function readValue(written: string): { text: string } | { wrong: string } {
  const quote = written[0]
  if (quote === '"' || quote === "'" || quote === '`') {
    const end = written.indexOf(quote, 1)
    if (end < 0) return { wrong: `the quote ${quote} is not closed` }
    if (end < written.length - 1) return { wrong: `there is text after the closing ${quote}` }
    return { text: written.slice(1, end) }
  }
  // Other readers of this format cut here, some do not. Guessing would change a password in silence.
  if (/\s[;#]/.test(written)) return { wrong: 'write the comment on a line of its own, or put the value in quotes' }
  return { text: written }
}
