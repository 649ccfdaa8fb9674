import { Kind, type TSchema } from '@sinclair/typebox'
import { allowed, type Declared, declarations, type SectionSchemas, type SwitchKey } from './schema.ts'
import { coreSections } from './sections.ts'

const width = 100

const head = `; Settings of Switchyard. Made by "switchyard config" from what the host and its plugins declare.
;
; Take out the leading semicolon of a line to change a setting. Every setting can also be given in the environment:
; SWITCHYARD__SECTION__KEY=value, with _0x2E_ for a dot in a section; with the suffix __FILE the value is read from
; the file that is named. The environment wins over this file. A switch that is set in either is locked: the
; commands and the API cannot change it.`

/** The text of app.example.ini: every section and key with its default, all commented out. */
export function exampleConfig(schemas: readonly SectionSchemas[], switches: readonly SwitchKey[] = []): string {
  const sections = [...declarations([coreSections, ...schemas], switches)].sort(([a], [b]) => (a < b ? -1 : 1))
  const blocks = sections.map(([section, keys]) => {
    const own = [...keys].filter(([name, declared]) => name === declared.key)
    const lines = own.map(([name, declared]) => describe(name, declared))
    return `${section === '' ? '' : `[${section}]\n`}${lines.join('\n\n')}`
  })
  return `${[head, ...blocks].join('\n\n')}\n`
}

function describe(key: string, { schema, optional }: Declared): string {
  const needed = schema.default === undefined && !optional ? ' Must be set.' : ''
  const text = `${schema.description ?? ''} Allowed: ${allowed(schema)}.${needed}`.trim()
  return `${wrap(text)}\n;${`${key} = ${valueText(schema)}`.trimEnd()}`
}

function valueText(schema: TSchema): string {
  if (schema.default === undefined) return ''
  if (schema[Kind] === 'Array') return (schema.default as unknown[]).join(', ')
  return String(schema.default)
}

function wrap(text: string): string {
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) as string
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => `; ${line}`).join('\n')
}
