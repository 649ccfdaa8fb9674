import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Actor } from '../identity/index.ts'
import type { Gate } from '../plugin/index.ts'
import { baseOf, type CallFacts } from './call.ts'
import { clientGone } from './client-gone.ts'
import { problemOf } from './errors.ts'
import { createGate, type GateFacts, type Gatekeeper } from './gate.ts'
import { mountPath } from './mount-path.ts'
import { refuseCutOff } from './read-body.ts'
import type { Visit } from './request.ts'
import type { Access, Answer, Scopes } from './route.ts'
import { endWork } from './visit.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What the handler of a raw route is given. */
export type RawCall<S = unknown> = S & {
  readonly actor: Actor
  readonly method: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | string[] | undefined>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Path and query as sent. */
  readonly url: string
  readonly remoteAddress: string
  /** Start of absolute links, without a slash at its end. */
  readonly base: string
  /** The body, untouched, of whatever content type. Nobody counts its bytes but the handler. */
  readonly raw: NodeJS.ReadableStream
  /** Ends when the client goes away. */
  readonly signal: AbortSignal
}

/**
 * A route outside the REST API: git's, pictures, health. It passes the same gate as a REST route, its body is left
 * alone, and it answers with `answer(status, body, headers)` where the body is a stream, a Buffer, a text or nothing.
 */
export type RawRoute = {
  readonly method: Method | readonly Method[]
  /** From the host's root: `/{owner}/{repo}/info/refs`; `{rest+}` takes the rest of the path. */
  readonly path: string
  /** Where find-my-way needs another spelling than `path`. */
  readonly mount?: string
  readonly access: Access
  readonly scope: Scopes
  readonly publicOnly?: 'refuse'
  /** False: answers even while its plugin is off. */
  readonly governed?: false
  /** True: anonymous callers pass although REQUIRE_SIGNIN_VIEW is set. */
  readonly open?: true
  /** Refusals as `text/plain`, for clients that print them; JSON unless told. */
  readonly refusals?: 'text'
  /** Answers of 401 ask for a password with this realm, as git clients need it. */
  readonly realm?: string
  readonly handle: (call: never) => Promise<Answer> | Answer
}

/** The routes that a plugin has outside the REST API. */
export type RawRoutes = readonly RawRoute[]
export type MountedRaw = { readonly plugin: string; readonly route: RawRoute; readonly door?: Gate }

/** Infers the type of a raw route's handler from its access. */
export function rawRoute<S>(
  r: Omit<RawRoute, 'access' | 'handle'> & {
    access: Access<S>
    handle: (call: RawCall<S>) => Promise<Answer> | Answer
  },
): RawRoute {
  return r as unknown as RawRoute
}

/** Who makes a request, for code that has only fastify's request in hand. */
export function actorOf(request: FastifyRequest): Actor {
  if (request.visit === null) throw new Error('this request has not passed a gate')
  return request.visit.actor
}

function callOf(request: FastifyRequest, reply: FastifyReply, visit: Visit, facts: CallFacts): RawCall {
  return {
    ...visit.found,
    actor: visit.actor,
    method: request.method,
    params: visit.params as RawCall['params'],
    query: request.query as RawCall['query'],
    headers: request.headers,
    url: request.url,
    remoteAddress: request.ip,
    base: baseOf(request, facts),
    raw: request.raw,
    signal: clientGone(reply),
  }
}

/** The refusals of one raw route: what they are is decided by the room, how they are written by the route. */
function refusalWriter(route: RawRoute, answerError: ErrorAnswer): ErrorAnswer {
  return (error, request, reply) => {
    endWork(request.visit)
    const problem = problemOf(error)
    if (problem?.status === 401 && route.realm !== undefined)
      reply.header('www-authenticate', `Basic realm="${route.realm}"`)
    if (problem === undefined || route.refusals !== 'text') return answerError(error, request, reply)
    reply.code(problem.status).headers(problem.headers).header('content-type', 'text/plain; charset=utf-8')
    return reply.send(`${problem.message}\n`)
  }
}

type ErrorAnswer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply

/** Mounts the raw routes of all plugins. */
export function mountRaw(
  app: FastifyInstance,
  routes: readonly MountedRaw[],
  keeper: Gatekeeper,
  facts: GateFacts & CallFacts,
  answerError: ErrorAnswer,
): void {
  for (const { route, door } of routes) {
    const { url, wild } = mountPath(route.path, route.mount)
    const asked = typeof route.method === 'string' ? [route.method] : route.method
    const method: HTTPMethods[] = asked.includes('GET') ? [...asked, 'HEAD'] : [...asked]
    const { access, scope, publicOnly, governed, open } = route
    const handle = route.handle as (call: RawCall) => Promise<Answer> | Answer
    const gate = createGate(
      {
        access,
        scope,
        ...(publicOnly && { publicOnly }),
        ...(governed === false && { governed }),
        ...(open && { open }),
        ...(wild !== undefined && { wild }),
        ...(door && { door }),
      },
      keeper,
      facts,
    )
    app.route({
      method,
      url,
      onRequest: gate,
      errorHandler: refusalWriter(route, answerError),
      async handler(request, reply) {
        const visit = request.visit as Visit
        try {
          refuseCutOff(request)
          const { status, body, headers } = await handle(callOf(request, reply, visit, facts))
          reply.code(status ?? 200).headers(headers)
          return body === undefined ? reply.send() : reply.send(body)
        } finally {
          endWork(visit)
        }
      },
    })
  }
}
