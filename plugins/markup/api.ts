import type { Actor } from '#core/identity'
import { service } from '#core/plugin'

/** How a text is read. `file` takes the renderer by the name of the file. */
export const markupModes = ['', 'markdown', 'gfm', 'comment', 'wiki', 'file'] as const
export type MarkupMode = (typeof markupModes)[number]

export type MarkupRequest = {
  readonly text: string
  readonly mode: MarkupMode
  /** `/owner/name` or `/owner/name/src/branch/main/dir`: where relative links start. */
  readonly context?: string
  /** The repository that a request is about; it stands in for a context that names none. */
  readonly repository?: { readonly owner: string; readonly name: string }
  /** For the mode `file`. */
  readonly filePath?: string
  /** The host's address, without slash at the end. */
  readonly base: string
  /** Whoever reads: only people whom they can see become links. */
  readonly viewer: Actor
}

/** Turns text into HTML that is safe to show. */
export type Markup = {
  /**
   * Renders in a thread of its own, so that no text can hold up the process.
   *
   * Throws a Refusal: `invalid` for a file that nothing renders and for a text that takes too long, `unavailable`
   * when too many texts wait already.
   */
  render(request: MarkupRequest): Promise<string>
  /** Whether a file of this name has a renderer. */
  canRender(filePath: string): boolean
}

export const Markup = service<Markup>('markup.markup')
