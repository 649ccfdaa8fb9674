/**
 * Tokens: the three ways in which plugins meet, each a value that carries a type.
 *
 * - service: one plugin (or core) provides it, others use it;
 * - point: one owner reads a live list, many plugins contribute to it;
 * - event: a fact about something that happened, heard by any number of listeners.
 *
 * A token is declared once, in the `api.ts` of its owner, and imported from there.
 */

/** Carries the type of a token; never present at run time. */
declare const carries: unique symbol

export type Service<T> = { readonly kind: 'service'; readonly id: string; readonly [carries]?: T }
export type Maybe<T> = { readonly kind: 'maybe'; readonly service: Service<T> }
export type Point<T> = { readonly kind: 'point'; readonly id: string; readonly [carries]?: T }
export type Event<T> = { readonly kind: 'event'; readonly id: string; readonly [carries]?: T }

/** Names a service. `id` reads `owner.noun`, for example `stars.stars`. */
export function service<T>(id: string): Service<T> {
  return { kind: 'service', id }
}

/** A need that may go unmet: the plugin then finds `undefined` and does without. */
export function maybe<T>(token: Service<T>): Maybe<T> {
  return { kind: 'maybe', service: token }
}

/** Names a list that many plugins fill and one owner reads. */
export function point<T>(id: string): Point<T> {
  return { kind: 'point', id }
}

/** Names a kind of event. `id` reads `noun.happened`, for example `repository.deleted`; T must survive JSON. */
export function event<T>(id: string): Event<T> {
  return { kind: 'event', id }
}

/** What a plugin asks for: a record of tokens. */
export type Needs = Readonly<Record<string, Service<unknown> | Maybe<unknown> | Point<unknown>>>

/** What a plugin finds: the same record, with the live values behind the tokens. */
export type Use<N extends Needs> = {
  readonly [K in keyof N]: N[K] extends Service<infer T>
    ? T
    : N[K] extends Maybe<infer T>
      ? T | undefined
      : N[K] extends Point<infer T>
        ? readonly T[]
        : never
}
