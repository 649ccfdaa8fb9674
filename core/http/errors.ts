import type { FastifyReply, FastifyRequest } from 'fastify'
import { Hindered } from '../identity/index.ts'
import { Refusal, type RefusalKind } from '../plugin/index.ts'
import { bare, Problem } from './problems.ts'
import { Redirect } from './route.ts'
import { endWork } from './visit.ts'

const statusOf: Record<RefusalKind, number> = {
  'bad-request': 400,
  invalid: 422,
  unauthenticated: 401,
  'not-found': 404,
  forbidden: 403,
  conflict: 409,
  'too-large': 413,
  locked: 423,
  unavailable: 503,
}

const spoken: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new Problem(422, '[]: Unsupported Content-Type'),
  FST_ERR_BAD_URL: new Problem(400, 'the address of the request is malformed'),
  FST_ERR_MAX_PARAM_LENGTH: new Problem(404, 'not found'),
  FST_REQ_FILE_TOO_LARGE: new Problem(413, 'request body is too large'),
}

/** The refusal that an error means, or undefined: then it is a fault of ours. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error
  if (error instanceof Hindered) return bare(403, error.message)
  if (error instanceof Refusal) return new Problem(statusOf[error.kind] ?? 400, error.message)
  const { code, statusCode } = (error ?? {}) as { code?: string; statusCode?: number }
  if (code !== undefined && spoken[code]) return spoken[code]
  // A refusal of fastify or one of its plugins: its status is right, its text is for developers.
  if (code?.startsWith('FST_') && statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new Problem(statusCode, 'the request cannot be understood')
  return undefined
}

export const jsonType = 'application/json;charset=utf-8'
const risky = /[<>&\u2028\u2029]/
const riskyAll = /[<>&\u2028\u2029]/g
const escapeOne = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** JSON text as the contract has it: harmless inside HTML, ended by a newline. */
export const wireJson = (json: string) => `${risky.test(json) ? json.replace(riskyAll, escapeOne) : json}\n`

/** Writes refusals: `{"message", "url"}`, where `url` leads to the description of the API. */
export function createRefuser(rootUrl: string) {
  const url = `${rootUrl}api/swagger`
  const subpath = new URL(rootUrl).pathname.replace(/\/$/, '')
  const write = (reply: FastifyReply, problem: Problem) => {
    const body = { message: problem.message, ...(problem.bare ? {} : { url }), ...problem.extra }
    return reply
      .code(problem.status)
      .headers(problem.headers)
      .header('content-type', jsonType)
      .send(wireJson(JSON.stringify(body)))
  }
  return {
    /** The body of a refusal, for answers that no request object exists for. */
    bodyOf: (message: string) => wireJson(JSON.stringify({ message, url })),
    write,
    /** Answers whatever a handler or the gate threw. Faults of ours are logged, and told without a word of why. */
    answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
      endWork(request.visit)
      if (error instanceof Redirect) return redirect(reply, error.status, subpath + error.location)
      const problem = problemOf(error)
      if (problem) return write(reply, problem)
      if (reply.raw.destroyed || (request.raw.destroyed && !request.raw.complete)) {
        // What was done for it was broken off: no fault, unless the log says otherwise.
        request.log.info({ err: error, method: request.method }, 'the client went away')
      } else {
        request.log.error({ err: error, method: request.method }, 'a request failed')
      }
      return write(reply, new Problem(500, `the host could not answer this request; its log names it ${request.id}`))
    },
  }
}

export type Refuser = ReturnType<typeof createRefuser>

function redirect(reply: FastifyReply, status: number, location: string) {
  return reply
    .code(status)
    .header('location', location)
    .header('content-type', jsonType)
    .send(wireJson(JSON.stringify({ message: 'moved', location })))
}
