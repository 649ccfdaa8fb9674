import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Texts } from './bind-text.ts'
import { clientGone } from './client-gone.ts'
import { type Page, type Paging, pageOf } from './pager.ts'
import type { Visit } from './request.ts'

/** What the host tells a call about itself. */
export type CallFacts = {
  readonly rootUrl: string
  readonly paging: Paging
  /** Absolute links follow the request's Host; false: they follow ROOT_URL. */
  readonly detectPublicUrl: boolean
}

const hostName = /^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-fA-F:.]+\](:\d{1,5})?$/

/** Start of absolute links for this caller, without a slash at its end. */
export function baseOf(request: FastifyRequest, facts: CallFacts): string {
  const own = facts.rootUrl.replace(/\/$/, '')
  const host = request.host
  if (!facts.detectPublicUrl || !hostName.test(host)) return own
  const forwarded = request.headers['x-forwarded-proto']
  const scheme = forwarded === 'https' || forwarded === 'http' ? forwarded : request.protocol
  return `${scheme}://${host}${new URL(facts.rootUrl).pathname.replace(/\/$/, '')}`
}

/**
 * What a handler is given, beside what its access found. What costs something is made when it is first asked for;
 * a class, so that this needs no closures per request.
 */
export class CallOfRequest {
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #facts: CallFacts
  #page: Page | undefined
  #signal: AbortSignal | undefined
  readonly actor: Visit['actor']
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    visit: Visit,
    facts: CallFacts,
    query: unknown,
    body: unknown,
  ) {
    this.#request = request
    this.#reply = reply
    this.#facts = facts
    this.actor = visit.actor
    this.params = visit.params
    this.query = query
    this.body = body
  }
  get page(): Page {
    this.#page ??= pageOf(this.#request.query as Texts, this.#facts.paging)
    return this.#page
  }
  get raw() {
    return this.#request.raw
  }
  get headers() {
    return this.#request.headers
  }
  get method() {
    return this.#request.method
  }
  /** Path and query as sent. */
  get url() {
    return this.#request.url
  }
  get remoteAddress() {
    return this.#request.ip
  }
  get base(): string {
    return baseOf(this.#request, this.#facts)
  }
  get signal(): AbortSignal {
    this.#signal ??= clientGone(this.#reply)
    return this.#signal
  }
  /** The parts of a multipart body, one after the other; each file must be read before the next part comes. */
  parts(limits: { fileSize: number; files?: number }) {
    return this.#request.parts({ limits: { fields: 100, fieldSize: 65_536, files: 16, ...limits } })
  }
  /** Whether the body is multipart, for routes that take a file either way. */
  get isMultipart(): boolean {
    return this.#request.isMultipart()
  }
}
