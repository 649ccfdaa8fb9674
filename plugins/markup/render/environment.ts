import type { Env } from 'markdown-it'

/** What the rules of the parser know of the rendering that they work for. */
export type Environment = {
  /** False in the plain modes: no heading ids, no mentions, links as written. */
  readonly rendered: boolean
  /** Ends the ids of footnotes, so that those of two comments on one page differ. */
  readonly idSuffix: string
  /** The text as it came, for the places of task boxes. */
  readonly source: string
  /**
   * The value of `data-g`, by which the last step knows markup that we made from markup that people wrote: it starts
   * with a secret of this one rendering.
   *
   * @param names class names, separated by blanks
   */
  mark(names: string): string
}

/** The environment of a parser state; every call of the parser passes one. */
export const environmentOf = (env: Env | undefined) => env as unknown as Environment
