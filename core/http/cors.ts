import type { FastifyReply, FastifyRequest } from 'fastify'

/** [cors]: which pages of other origins may call the host. */
export type CorsSettings = {
  /** `*`, host names, names with a leading `*.`, or whole origins. */
  readonly allowDomain: readonly string[]
  readonly methods: readonly string[]
  readonly maxAgeSeconds: number
  readonly allowCredentials: boolean
  /** Headers that may be sent beside the contract's own. */
  readonly headers: readonly string[]
}

const ownHeaders = ['authorization', 'x-gitea-otp', 'content-type', 'user-agent']

function originTest(allowed: readonly string[]): (origin: string) => boolean {
  const entries = allowed.map((entry) => entry.trim().toLowerCase()).filter((entry) => entry !== '')
  if (entries.includes('*')) return () => true
  return (origin) => {
    const whole = origin.toLowerCase()
    const host = whole.replace(/^https?:\/\//, '').replace(/:\d+$/, '')
    return entries.some((entry) =>
      entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : entry === whole || entry === host,
    )
  }
}

/**
 * Compiles the cross-origin rules. The function writes the headers of an answer; for a preflight it sends the whole
 * answer and tells so.
 */
export function createCors(settings: CorsSettings): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const isAllowed = originTest(settings.allowDomain)
  const methods = settings.methods.map((method) => method.toUpperCase())
  const headers = new Set([...ownHeaders, ...settings.headers.map((header) => header.toLowerCase())])

  const allow = (reply: FastifyReply, origin: string) => {
    reply.header('access-control-allow-origin', origin)
    if (settings.allowCredentials) reply.header('access-control-allow-credentials', 'true')
  }
  const preflight = (request: FastifyRequest, reply: FastifyReply, origin: string, method: string) => {
    const asked = String(request.headers['access-control-request-headers'] ?? '')
    const wanted = asked
      .split(',')
      .map((header) => header.trim())
      .filter((header) => header !== '')
    const granted =
      isAllowed(origin) &&
      methods.includes(method.toUpperCase()) &&
      wanted.every((header) => headers.has(header.toLowerCase()))
    if (granted) {
      allow(reply, origin)
      reply.header('access-control-allow-methods', method.toUpperCase())
      if (wanted.length > 0) reply.header('access-control-allow-headers', wanted.join(', '))
      reply.header('access-control-max-age', settings.maxAgeSeconds)
    }
    reply.header('vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers').code(200).send('')
  }
  return (request, reply) => {
    const { origin } = request.headers
    const method = request.headers['access-control-request-method']
    if (request.method === 'OPTIONS' && origin !== undefined && typeof method === 'string') {
      preflight(request, reply, origin, method)
      return true
    }
    reply.header('vary', 'Origin')
    if (origin !== undefined && isAllowed(origin)) allow(reply, origin)
    return false
  }
}
