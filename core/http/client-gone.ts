import type { FastifyReply } from 'fastify'

/**
 * A signal that ends when the client goes away before it has its answer. Fastify's own signal follows the request's
 * stream, which also closes when the body was read to its end.
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const { raw } = reply
  // It may have gone before anybody asked; then nobody tells us any more.
  if (raw.destroyed && !raw.writableFinished) gone.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
