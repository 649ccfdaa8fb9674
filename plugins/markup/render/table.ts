import { parse } from 'csv-parse/sync'
import { escapeHtml } from './html.ts'

/** The mark between values: the candidate that cuts the first lines into most pieces, alike in each. */
function delimiterOf(text: string): string {
  const lines = text.slice(0, 10_000).split(/\r?\n/).slice(0, 10).filter(Boolean)
  let best = { delimiter: ',', score: 0 }
  for (const delimiter of [',', ';', '\t', '|']) {
    const counts = lines.map((line) => line.replaceAll(/"[^"]*"/g, '').split(delimiter).length - 1)
    const least = Math.min(...counts)
    const score = least > 0 ? least + 100 : Math.max(0, ...counts)
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

const rowsOf = (text: string, delimiter: string, quote: '"' | null): string[][] =>
  parse(text, { bom: true, delimiter, quote, relax_column_count: true, relax_quotes: true, skip_empty_lines: true })

/** A quote that is never closed is no quote. */
function rowsWithQuotes(text: string, delimiter: string): string[][] {
  try {
    return rowsOf(text, delimiter, '"')
  } catch (error) {
    if ((error as { code?: string }).code?.startsWith('CSV_')) return rowsOf(text, delimiter, null)
    throw error
  }
}

/** Values separated by commas (or tabs, semicolons, bars) as a table with numbered lines. */
export function tableHtml(text: string, extension: string): string {
  const rows = extension === '.tsv' ? rowsOf(text, '\t', null) : rowsWithQuotes(text, delimiterOf(text))
  const html = rows.map((row, at) => {
    const tag = at === 0 ? 'th' : 'td'
    const cells = row.map((value) => `<${tag}>${escapeHtml(value)}</${tag}>`)
    return `<tr><${tag} class="line-num">${at + 1}</${tag}>${cells.join('')}</tr>`
  })
  return `<table class="data-table">${html.join('')}</table>`
}
