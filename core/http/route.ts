import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { Actor, ScopeCategory } from '../identity/index.ts'
import type { Service } from '../plugin/index.ts'

/**
 * Token scopes needed, all of them; read or write follows from the method. A refusal names the first that is lacking,
 * and those of an inner list together. `none` for the open metadata.
 */
export type Scopes = readonly (ScopeCategory | readonly ScopeCategory[])[] | 'none'

/**
 * A route is data: what it is called, who may call it, what it takes and what it answers.
 * The room mounts it once, composes its gate from `access` and `scope`, and describes it in Swagger.
 */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /api/v1, as the contract writes it; `{filepath+}` takes the rest of the path, slashes included. */
  readonly path: string
  /** Where find-my-way needs another spelling than `path`, for example `/git/commits/:sha.:type`. */
  readonly mount?: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  /** Who may call it and which object it is about; a route without one does not boot. */
  readonly access: Access
  readonly scope: Scopes
  /** `refuse`: public-only tokens get 403; otherwise the handler or the access filters. */
  readonly publicOnly?: 'refuse'
  /** False: answers even while its plugin is off. */
  readonly governed?: false
  /** True: not described in Swagger. */
  readonly hidden?: true
  readonly deprecated?: true
  readonly params?: TObject
  readonly query?: TObject
  /** A JSON or form body; or `raw`: the handler reads `call.raw`. */
  readonly body?: TSchema | 'raw'
  /** With `raw`: names of the form fields that carry files; for Swagger. */
  readonly files?: readonly string[]
  /** Largest body in bytes; the host's own limit unless told. With `raw` the handler counts. */
  readonly bodyLimit?: number
  /** `link`: page, limit, X-Total-Count and Link; `total`: without Link; answers then are `list(items, total)`. */
  readonly paging?: 'link' | 'total'
  /** Answers by status; a plain return value gets the smallest success. */
  readonly answers: Readonly<Record<number, TSchema>>
  /** Refusals that this operation can give beyond those that its access implies; for Swagger. */
  readonly refusals?: readonly number[]
  readonly handle: (call: never) => Promise<unknown> | unknown
}

/** What the gate knows when it judges: nothing of the body has been read yet. */
export type Approach = {
  readonly actor: Actor
  readonly method: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | string[] | undefined>>
  /** Path and query as sent, for redirects. */
  readonly url: string
  /** Core services, for accesses that look objects up. */
  readonly service: <T>(token: Service<T>) => T
}

/** Who may call a route. `S` is what the gate finds and hands to the handler, for example `{ repo }`. */
export type Access<S = unknown> = {
  /** Shown in the access table, for example `repository write code`. */
  readonly name: string
  /** Refusals that the gate itself can give; for Swagger. */
  readonly refusals: readonly number[]
  /** Answers what the handler needs, or throws a Problem or a Redirect. */
  readonly admit: (approach: Approach) => Promise<S> | S
}

/** Thrown by the gate where an old name has a new place. */
export class Redirect extends Error {
  readonly status: 301 | 303 | 307
  /** From the host's root, as routes see it: the path of ROOT_URL is put before it. */
  readonly location: string
  constructor(status: 301 | 303 | 307, location: string) {
    super(location)
    this.status = status
    this.location = location
  }
}

/**
 * What a handler is given: what its access found, and this. Take fields by name: a spread copy lacks those that are
 * made on demand, and an access must not find anything under one of these names.
 */
export type Call<P, Q, B, S> = S & {
  readonly actor: Actor
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Normalised paging: `page` from 1, `limit` within the host's maximum, `offset` in rows. */
  readonly page: { readonly page: number; readonly limit: number; readonly offset: number }
  /** The request's body as a stream, for `body: 'raw'`. */
  readonly raw: NodeJS.ReadableStream
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  /** Address of the client, behind trusted proxies only. */
  readonly remoteAddress: string
  /** Host part of absolute links, from ROOT_URL or the request. No trailing slash. */
  readonly base: string
  /** Ends when the client goes away. */
  readonly signal: AbortSignal
  /** For `body: 'raw'`: whether the body is multipart, */
  readonly isMultipart: boolean
  /** and then its parts, one after the other. A file must be read before the next part comes. */
  parts(limits: { fileSize: number; files?: number }): AsyncIterable<Part>
}

/** One part of a multipart body. Reading a file that is larger than the limit fails with 413. */
export type Part =
  | { readonly type: 'field'; readonly fieldname: string; readonly value: unknown }
  | {
      readonly type: 'file'
      readonly fieldname: string
      readonly filename: string
      readonly mimetype: string
      readonly file: NodeJS.ReadableStream
    }

/** An answer that is more than a body. `body` may be a stream or a Buffer where the schema is `Bytes` or `Text`. */
export type Answer = {
  readonly answer: true
  readonly status: number | undefined
  readonly body: unknown
  readonly headers: Record<string, string>
}

/** Answers with another status than the first declared, or with headers. */
export function answer(status: number | undefined, body?: unknown, headers: Record<string, string> = {}): Answer {
  return { answer: true, status, body, headers }
}

/** One page of a list and how many items there are in all. */
export type List<T> = {
  readonly list: true
  readonly items: readonly T[] | null
  readonly total: number
  readonly wrap?: (items: readonly T[]) => unknown
}

/** Answers one page of a list; the pager writes the headers. `wrap` puts the items into an envelope. */
export function list<T>(items: readonly T[] | null, total: number, wrap?: (items: readonly T[]) => unknown): List<T> {
  return wrap ? { list: true, items, total, wrap } : { list: true, items, total }
}

type Given<T> = T extends TSchema ? Static<T> : Record<string, never>

/** Infers the types of a route's handler from its schemas and its access. */
export function route<
  S,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | 'raw' | undefined = undefined,
>(
  r: Omit<Route, 'access' | 'params' | 'query' | 'body' | 'handle'> & {
    access: Access<S>
    params?: P
    query?: Q
    body?: B
    handle: (call: Call<Given<P>, Given<Q>, Given<B>, S>) => Promise<unknown> | unknown
  },
): Route {
  return r as unknown as Route
}
