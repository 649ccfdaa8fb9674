import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { jsonType, type Refuser } from './errors.ts'
import { pathTest } from './mount-path.ts'
import { Problem } from './problems.ts'

/** A path that the host serves, and the methods that it takes there. */
export type KnownPath = { readonly path: string; readonly methods: readonly string[] }

/** Answers what no route takes: 405 with `Allow` where the path is known, else 404. */
export function createStrangerAnswer(known: readonly KnownPath[], refuser: Refuser) {
  const tests = known.map(({ path, methods }) => ({
    test: pathTest(path),
    methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods,
  }))
  return (request: FastifyRequest, reply: FastifyReply) => {
    const path = (request.url.split('?', 1)[0] ?? '').replace(/\/{2,}/g, '/')
    const allowed = new Set(tests.flatMap(({ test, methods }) => (test.test(path) ? methods : [])))
    // HEAD is answered wherever GET is, so that a method that is allowed cannot be refused here.
    if (allowed.size === 0 || allowed.has(request.method)) return refuser.write(reply, new Problem(404, 'not found'))
    const allow = [...allowed].sort().join(', ')
    return refuser.write(reply, new Problem(405, 'method not allowed', {}, { allow }))
  }
}

const malformed: Readonly<Record<string, readonly [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the headers of the request are too large'],
  HPE_INVALID_METHOD: [405, 'Method Not Allowed', 'method not allowed'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request took too long to arrive'],
}

/** Answers what is not HTTP at all, before any request exists. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket, refuser: Refuser): void {
  // Node's own record of an answer under way on this connection: bytes put into its middle would corrupt it.
  const underway = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage
  if (error.code === 'ECONNRESET' || !socket.writable || underway?.headersSent) {
    socket.destroy()
    return
  }
  const [status, reason, message] = malformed[error.code ?? ''] ?? [400, 'Bad Request', 'the request is malformed']
  const body = refuser.bodyOf(message)
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: ${jsonType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/** How long a refused client may go on sending a body that nobody reads. */
const patience = 5000

/** Closes the connection of a client that goes on sending long after it was refused. */
export function cutOffUnread(request: IncomingMessage): void {
  if (request.complete) return
  const timer = setTimeout(() => request.destroy(), patience)
  timer.unref()
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => clearTimeout(timer))
}

/** Node answers an unknown `Expect` with an empty 417; ours says why. */
export function answerExpectations(server: Server, refuser: Refuser): void {
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(417, { 'content-type': jsonType })
    response.end(refuser.bodyOf('this expectation cannot be met'))
  })
}
