/** Where a value was declared. */
export type Source =
  | { readonly kind: 'option'; readonly name: string }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly file: string; readonly line: number }
  | { readonly kind: 'default' }

/** One declared value, as text and not yet checked. `section` is lower-case, `key` is upper-case. */
export type Entry = {
  readonly section: string
  readonly key: string
  readonly text: string
  readonly source: Source
}

/** Something the operator has to correct. */
export type Mistake = { readonly source: Source; readonly text: string }

/** `data/app.ini:12`, `environment DISABLE_STARS`, `option --http`, `default`. */
export function describeSource(source: Source): string {
  if (source.kind === 'file') return `${source.file}:${source.line}`
  if (source.kind === 'env') return `environment ${source.name}`
  return source.kind === 'option' ? `option ${source.name}` : 'default'
}

/** Every mistake in the configuration at once; the message has one line for each. */
export class ConfigErrors extends Error {
  readonly mistakes: readonly Mistake[]
  constructor(mistakes: readonly Mistake[]) {
    const lines = mistakes.map(({ source, text }) => `  ${describeSource(source)}: ${text}`)
    super(
      `the configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${lines.join('\n')}`,
    )
    this.name = 'ConfigErrors'
    this.mistakes = mistakes
  }
}
