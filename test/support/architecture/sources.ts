import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

/** One line of `import` or `export … from`. */
export type Import = {
  readonly specifier: string
  /** Names that exist at run time; `*` for a whole module, `''` for an import only for its effects. */
  readonly values: readonly string[]
  /** Names, also those that are only types. */
  readonly names: readonly string[]
}

export type Source = { readonly path: string; readonly text: string }

/** A file of the program with what it imports. Paths are relative to the root, with `/`. */
export type Parsed = Source & {
  readonly imports: readonly Import[]
  /** The text without comments. */
  readonly code: string
  readonly lines: number
}

const program = ['core', 'plugins', 'config', 'bench']

/** All source files of the program below `root`. Generated code is left out. */
export function readSources(root: string): Source[] {
  return program
    .flatMap((top) => list(root, top))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

function list(root: string, folder: string): string[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) return entry.name === 'gen' || entry.name === 'node_modules' ? [] : list(root, path)
      return [path]
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

export function parse({ path, text }: Source): Parsed {
  const code = withoutComments(text)
  return { path, text, code, imports: path.endsWith('.ts') ? importsOf(code) : [], lines: text.split('\n').length - 1 }
}

/** Keeps strings as they are, so that `'//'` in one is no comment. */
function withoutComments(text: string): string {
  const token = /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
  return text.replace(token, (_, literal: string | undefined) => literal ?? '')
}

function importsOf(code: string): Import[] {
  const from = /^[ \t]*(import|export)\s+(type\s+)?([\w$*{][^'"`;=()]*?)\s*\bfrom\s*['"]([^'"]+)['"]/gm
  const effects = /^[ \t]*import\s*['"]([^'"]+)['"]/gm
  const lazy = /\bimport\(\s*['"]([^'"]+)['"]/g
  const plain = [...code.matchAll(from)].map(([, , type, clause = '', specifier = '']) => {
    const parts = clause
      .replace(/[{}]/g, ',')
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
    const names = parts.map(
      (part) =>
        part
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/)[0]
          ?.trim() ?? '',
    )
    const values = type
      ? []
      : parts.filter((part) => !part.startsWith('type ')).map((part) => part.split(/\s+as\s+/)[0] ?? '')
    return { specifier, names, values }
  })
  const rest = [...code.matchAll(effects)].map(([, specifier = '']) => ({ specifier, names: [], values: [''] }))
  const late = [...code.matchAll(lazy)].map(([, specifier = '']) => ({ specifier, names: ['*'], values: ['*'] }))
  return [...plain, ...rest, ...late]
}

/** Where a relative import leads, from the root; other specifiers as they are. */
export function target(source: Source, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(source.path), specifier) : specifier
}

/** The package of a bare specifier: `@scope/name/sub` is `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** `core/db/orm.ts` is in the room `db`; files right below core compose the rooms. */
export function roomOf(path: string): string | undefined {
  const [top, room] = dirname(path).split('/')
  return top === 'core' ? room : undefined
}

export function pluginOf(path: string): string | undefined {
  const [top, name] = path.split('/')
  return top === 'plugins' ? name : undefined
}
