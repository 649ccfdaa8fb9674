import { parseBuffer } from 'editorconfig'
import { matches } from './glob.ts'

/** Names in lower case mean the same in any case, and so do the values of these. */
const anyCase = new Set([
  'charset',
  'end_of_line',
  'indent_size',
  'indent_style',
  'insert_final_newline',
  'tab_width',
  'trim_trailing_whitespace',
])

/** Steps that matching may take for one answer, some tens of milliseconds; sections beyond are not looked at. */
const patience = 1_500_000

/**
 * What an .editorconfig says about a file: property → value as text; later sections win, `unset` takes away. Its
 * globs are matched here: those of the library can be made to take seconds.
 *
 * @param path of the file, from the folder of the .editorconfig
 */
export function definitionFor(config: Buffer, path: string): Record<string, string> {
  const said = new Map<string, string>()
  const file = path.replace(/^\/+/, '')
  let steps = 0
  for (const [section, properties] of parseBuffer(config)) {
    steps += (section?.length ?? 0) * file.length
    if (steps > patience) break
    if (section === null || !matches(section, file)) continue
    for (const [name, value] of Object.entries(properties)) {
      const key = name.toLowerCase()
      said.set(key, anyCase.has(key) ? value.toLowerCase() : value)
    }
  }
  if (said.get('indent_style') === 'tab' && !said.has('indent_size'))
    said.set('indent_size', said.get('tab_width') ?? 'tab')
  return Object.fromEntries([...said].filter(([name, value]) => value !== 'unset' && name !== '__proto__'))
}
