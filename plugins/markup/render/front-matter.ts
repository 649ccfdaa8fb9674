import { escapeHtml } from './html.ts'

type Field = { readonly name: string; readonly value: string | readonly string[] }

const fence = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m

/** What stands between two lines `---` at the start of a text, and the text with as many empty lines instead. */
export type FrontMatter = { readonly fields: readonly Field[]; readonly rest: string }

/**
 * Reads the front matter of a text: names with plain values or lists. Anything beyond that is left in the text, where
 * it shows as written.
 */
export function readFrontMatter(text: string): FrontMatter | undefined {
  if (!/^---[ \t]*\r?\n/.test(text)) return undefined
  const found = fence.exec(text)
  if (found?.index !== 0) return undefined
  const fields = readFields((found[1] ?? '').split(/\r?\n/))
  if (!fields) return undefined
  // The lines stay, empty, so that the places of task boxes stay right.
  return { fields, rest: found[0].replaceAll(/[^\n]/g, '') + text.slice(found[0].length) }
}

function readFields(lines: readonly string[]): Field[] | undefined {
  const fields: { name: string; value: string | string[] }[] = []
  for (const line of lines) {
    if (/^\s*(?:#.*)?$/.test(line)) continue
    const item = /^\s*-\s+(.*)$/.exec(line)
    const last = fields.at(-1)
    if (item && last && (last.value === '' || Array.isArray(last.value))) {
      last.value = [...(last.value === '' ? [] : last.value), unquote(item[1] ?? '')]
      continue
    }
    const pair = /^([\w.-][\w .-]*):(?:\s+(.*))?$/.exec(line)
    if (!pair) return undefined
    const value = (pair[2] ?? '').trim()
    const list = /^\[([^[\]{}]*)\]$/.exec(value)
    if (!list && /^[[{|>&*!]/.test(value)) return undefined
    fields.push({ name: pair[1] ?? '', value: list ? (list[1] ?? '').split(',').map(unquote) : unquote(value) })
  }
  return fields.length > 0 ? fields : undefined
}

const unquote = (value: string) => value.trim().replace(/^(["'])(.*)\1$/, '$2')

/** The fields as a table that opens on a click. */
export function frontMatterHtml(fields: readonly Field[], mark: string): string {
  const cell = (value: Field['value']) =>
    typeof value === 'string'
      ? escapeHtml(value)
      : `<table>\n<tbody>${value.map((one) => `<tr>\n<td>${escapeHtml(one)}</td>\n</tr>\n`).join('')}</tbody>\n</table>\n`
  const row = (tag: string, texts: readonly string[]) =>
    `<tr>\n${texts.map((text) => `<${tag}>${text}</${tag}>\n`).join('')}</tr>\n`
  const names = fields.map((field) => escapeHtml(field.name))
  const values = fields.map((field) => cell(field.value))
  return (
    `<details data-g="${mark}"><summary>${names.join(', ')}</summary><table>\n` +
    `<thead>\n${row('th', names)}</thead>\n<tbody>\n${row('td', values)}</tbody>\n</table>\n</details>`
  )
}
