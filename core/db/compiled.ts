import type { Compilable, CompiledQuery, Kysely } from 'kysely'

/** Stands for a parameter while a query is compiled. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

type Compiled<Row> = CompiledQuery<Row> & { readonly parameters: readonly unknown[] }

/**
 * A query whose text is the same at every use: built and compiled once, later only its parameters are filled in.
 * Building the text of a long select takes longer than sending it, so the reads of nearly every request use this.
 *
 * @param names the parameters; `build` gets something for each that it may hand to `where` as if it were the value
 */
export function compileOnce<P extends Readonly<Record<string, unknown>>, Row>(
  names: readonly (keyof P & string)[],
  build: (parameters: P) => Compilable<Row>,
): (db: Kysely<never>, values: P) => Promise<Row[]> {
  let compiled: Compiled<Row> | undefined
  return async (db, values) => {
    compiled ??= build(Object.fromEntries(names.map((name) => [name, new Placeholder(name)])) as unknown as P).compile()
    const parameters = compiled.parameters.map((value) => (value instanceof Placeholder ? values[value.name] : value))
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters })
    return rows
  }
}
