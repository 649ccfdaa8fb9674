/** Carries the type of an option's value; never present at run time. */
declare const carries: unique symbol

/** One option. Its long name is its key in `options`, written with hyphens: `mustChangePassword` is `--must-change-password`. */
export type Option<T = unknown> = {
  readonly kind: 'text' | 'number' | 'flag'
  readonly summary: string
  /** One letter. */
  readonly short?: string
  /** Other long names, with hyphens; not shown in help. */
  readonly aliases?: readonly string[]
  readonly required?: boolean
  readonly default?: unknown
  readonly choices?: readonly string[]
  readonly [carries]?: T
}

/** One word after the options: needed, or not, or all that remain. */
export type Argument<T = unknown> = {
  readonly kind: 'needed' | 'optional' | 'rest'
  readonly summary: string
  readonly [carries]?: T
}

/** Where a command writes. Lines need no line end. */
export type Io = {
  out(line: string): void
  err(line: string): void
}

/** A subcommand of `switchyard`. */
export type Command = {
  /** The words that call it: `['admin', 'user', 'create']`. */
  readonly name: readonly string[]
  readonly summary: string
  readonly options?: Readonly<Record<string, Option>>
  /** In the order in which they are written. */
  readonly arguments?: Readonly<Record<string, Argument>>
  /** What to type, without the leading `switchyard`; shown in help. */
  readonly examples?: readonly string[]
  /** Throws a CommandError, or any error whose message is written for the operator: exit status 1. */
  readonly run: (input: never, io: Io) => Promise<void> | void
}

type Values<D> = {
  readonly [K in keyof D]: D[K] extends Option<infer T> ? T : D[K] extends Argument<infer T> ? T : never
}

/** Declares a command; infers the type of `input` from its options and arguments, which share one record. */
export function command<
  const O extends Readonly<Record<string, Option>> = Record<never, never>,
  const A extends Readonly<Record<string, Argument>> = Record<never, never>,
>(
  declared: Omit<Command, 'options' | 'arguments' | 'run'> & {
    readonly options?: O
    readonly arguments?: A
    readonly run: (input: Values<O> & Values<A>, io: Io) => Promise<void> | void
  },
): Command {
  return declared
}

type More<T> = {
  readonly short?: string
  readonly aliases?: readonly string[]
  readonly required?: boolean
  readonly default?: T
  readonly choices?: readonly string[]
}
type Given<M, T> = M extends { readonly required: true } | { readonly default: T } ? T : T | undefined

/** An option with a text; undefined when not given, unless it is required or has a default. */
export function text<const M extends More<string> = Record<never, never>>(
  summary: string,
  more?: M,
): Option<Given<M, string>> {
  return { kind: 'text', summary, ...more }
}

/** An option with a whole number, 0 or more. */
export function number<const M extends More<number> = Record<never, never>>(
  summary: string,
  more?: M,
): Option<Given<M, number>> {
  return { kind: 'number', summary, ...more }
}

/** `--name`, `--name=true`, `--name=false`, `--no-name`; undefined when not given and without a default. */
export function flag<const M extends More<boolean> = Record<never, never>>(
  summary: string,
  more?: M,
): Option<Given<M, boolean>> {
  return { kind: 'flag', summary, ...more }
}

/** A word that must be given. */
export const needed = (summary: string): Argument<string> => ({ kind: 'needed', summary })
/** A word that may be given. */
export const optional = (summary: string): Argument<string | undefined> => ({ kind: 'optional', summary })
/** All words that remain, possibly none. */
export const rest = (summary: string): Argument<readonly string[]> => ({ kind: 'rest', summary })

/** A refusal in words for the operator: printed as `Command error: …`, without a stack. */
export class CommandError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode = 1) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}
