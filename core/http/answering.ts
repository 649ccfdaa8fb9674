import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Texts } from './bind-text.ts'
import { jsonType, wireJson } from './errors.ts'
import { linkOf, type Paging, pageOf } from './pager.ts'
import type { Answer, List, Route } from './route.ts'
import type { Shape } from './shapes.ts'

/** How the answers of one status are written. */
export type Writer = {
  readonly wire: 'json' | 'text' | 'bytes' | 'empty'
  /** For json: the schema that serializes, known to fastify by its identity. */
  readonly schema: Shape | undefined
}

/** What answering needs to know of one route. */
export type Answering = {
  readonly writers: ReadonlyMap<number, Writer>
  /** The status of a plain return value. */
  readonly standard: number
  readonly paging: Route['paging'] | undefined
}

export type AnswerFacts = {
  readonly rootUrl: string
  readonly paging: Paging
  /** In tests: every answer must be as declared. */
  readonly validate: boolean
}

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && 'answer' in value && value.answer === true
const isList = (value: unknown): value is List<unknown> =>
  typeof value === 'object' && value !== null && 'list' in value && value.list === true

/** Reads what a route declares for its answers. */
export function answeringOf(
  route: Pick<Route, 'answers' | 'paging'>,
  wireOf: (schema: Route['answers'][number]) => Shape,
): Answering {
  const writers = new Map<number, Writer>()
  for (const [status, schema] of Object.entries(route.answers)) {
    const wire = (schema.wire ?? 'json') as Writer['wire']
    writers.set(Number(status), { wire, schema: wire === 'json' ? wireOf(schema) : undefined })
  }
  const success = [...writers.keys()].filter((status) => status < 400)
  return { writers, standard: Math.min(...success, 599), paging: route.paging }
}

/** Names the headers that pages of other origins may read; those that a handler named are kept. */
const exposeHeaders = 'access-control-expose-headers'

function pageHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  given: Answering,
  total: number,
  facts: AnswerFacts,
): void {
  if (given.paging === undefined) return
  reply.header('x-total-count', total)
  const query = request.query as Texts
  const path = request.url.split('?', 1)[0] ?? ''
  const link =
    given.paging === 'link'
      ? linkOf(`${facts.rootUrl}${path.replace(/^\/+/, '')}`, query, pageOf(query, facts.paging), total)
      : undefined
  if (link !== undefined) reply.header('link', link)
  const exposed = [link === undefined ? 'X-Total-Count' : 'Link, X-Total-Count', reply.getHeader(exposeHeaders)]
  reply.header(exposeHeaders, exposed.filter(Boolean).join(', '))
}

function jsonText(
  request: FastifyRequest,
  reply: FastifyReply,
  writer: Writer,
  value: unknown,
  facts: AnswerFacts,
): string {
  const schema = writer.schema
  if (schema === undefined) return wireJson(JSON.stringify(value ?? null))
  if (facts.validate) checkAnswer(request, schema, value)
  // Compiled at the first answer and remembered: hundreds of serializers at boot would cost seconds.
  const serialize = reply.getSerializationFunction(schema as never) ?? reply.compileSerializationSchema(schema as never)
  return wireJson(serialize(value as never))
}

/** Throws when an answer is not what its route declares. For tests. */
function checkAnswer(request: FastifyRequest, schema: Shape, value: unknown): void {
  const validate = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema)
  const plain = value === undefined ? undefined : JSON.parse(JSON.stringify(value))
  if (validate(plain)) return
  const faults = JSON.stringify((validate as { errors?: unknown }).errors)
  throw new Error(
    `${request.method} ${request.url} answered what it does not declare: ${faults} in ${JSON.stringify(plain)?.slice(0, 2000)}`,
  )
}

const streamOf = (value: unknown) =>
  value instanceof Readable || (typeof value === 'object' && value !== null && 'pipe' in value)
    ? (value as Readable)
    : undefined

function sendBytes(request: FastifyRequest, reply: FastifyReply, wire: Writer['wire'], value: unknown) {
  if (!reply.hasHeader('content-type'))
    reply.header('content-type', wire === 'text' ? 'text/plain; charset=utf-8' : 'application/octet-stream')
  const stream = streamOf(value)
  if (stream === undefined || request.method !== 'HEAD') return reply.send(value ?? '')
  stream.destroy()
  return reply.send()
}

/** Answers with what a handler returned. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  given: Answering,
  result: unknown,
  facts: AnswerFacts,
) {
  let value = result
  let status = given.standard
  if (isAnswer(value)) {
    status = value.status ?? status
    reply.headers(value.headers)
    value = value.body
  }
  const declared = given.writers.get(status)
  if (declared === undefined && facts.validate)
    throw new Error(`${request.method} ${request.url} answered ${status}, which it does not declare`)
  // Outside tests an undeclared status is still answered, in the shape of the usual one, so that nothing leaks.
  const writer = declared ?? given.writers.get(given.standard) ?? { wire: 'empty', schema: undefined }
  reply.code(status)
  if (isList(value)) {
    pageHeaders(request, reply, given, value.total, facts)
    value = value.wrap ? value.wrap(value.items ?? []) : value.items
  }
  if (writer.wire === 'empty') return reply.send()
  // A stream is what it is, also where the usual answer is JSON: some operations answer in several formats.
  if (writer.wire !== 'json' || streamOf(value)) return sendBytes(request, reply, writer.wire, value)
  const text = jsonText(request, reply, writer, value, facts)
  if (!reply.hasHeader('content-type')) reply.header('content-type', jsonType)
  return reply.send(text)
}
