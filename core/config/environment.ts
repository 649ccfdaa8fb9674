import { readFileSync } from 'node:fs'
import type { Reading } from './ini.ts'
import type { Entry, Mistake, Source } from './mistakes.ts'

const prefix = 'SWITCHYARD__'
const fromFile = '__FILE'

/** A key that may also be written by its bare name in the environment. */
export type BareName = { readonly name: string; readonly section: string; readonly key: string }

/**
 * Reads `SWITCHYARD__SECTION__KEY` and the bare names. In a section `_0x2E_` stands for a dot and `_0x2D_` for a
 * hyphen; with the suffix `__FILE` the value is the content of the file that is named, without its last line end.
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  bareNames: readonly BareName[],
): Reading {
  const entries: Entry[] = []
  const mistakes: Mistake[] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !name.startsWith(prefix)) continue
    const source: Source = { kind: 'env', name }
    const target = targetOf(name)
    if (!target) {
      mistakes.push({ source, text: 'is not of the form SWITCHYARD__SECTION__KEY' })
      continue
    }
    const content = target.file ? contentOf(value) : { text: value }
    if ('wrong' in content) mistakes.push({ source, text: content.wrong })
    else entries.push({ section: target.section, key: target.key, text: content.text, source })
  }
  for (const { name, section, key } of bareNames) {
    const text = env[name]
    if (text !== undefined) entries.push({ section, key, text, source: { kind: 'env', name } })
  }
  return { entries, mistakes }
}

function targetOf(name: string): { section: string; key: string; file: boolean } | undefined {
  const rest = name.slice(prefix.length)
  const cut = rest.indexOf('__')
  if (cut < 0) return undefined
  const file = rest.toUpperCase().endsWith(fromFile) && rest.length - fromFile.length > cut
  const key = rest.slice(cut + 2, file ? -fromFile.length : undefined).toUpperCase()
  if (key === '') return undefined
  const section = rest
    .slice(0, cut)
    .replace(/_0x2e_/gi, '.')
    .replace(/_0x2d_/gi, '-')
    .toLowerCase()
  return { section, key, file }
}

function contentOf(path: string): { text: string } | { wrong: string } {
  try {
    return { text: readFileSync(path, 'utf8').replace(/\r?\n$/, '') }
  } catch (error) {
    return { wrong: `cannot read the file that it names: ${(error as Error).message}` }
  }
}
