import type { Socket } from 'node:net'
import { unescape as decode } from 'node:querystring'
import type { Writable } from 'node:stream'
import multipart from '@fastify/multipart'
import fastify, { type FastifyBaseLogger, type FastifyInstance, type HTTPMethods, LogController } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { anyone } from './access.ts'
import { checkRoutes } from './boot.ts'
import { type CorsSettings, createCors } from './cors.ts'
import { describe } from './describe.ts'
import { mountDocs } from './docs.ts'
import { createRefuser, type Refuser } from './errors.ts'
import { createGate, type Gatekeeper } from './gate.ts'
import { apiRoot, type MountedRoute, mountRoute } from './mount.ts'
import type { Paging } from './pager.ts'
import { badRequest } from './problems.ts'
import { type MountedRaw, mountRaw } from './raw.ts'
import type { Approach } from './route.ts'
import type { TSchema } from './schema.ts'
import { createRecords, createWire } from './shapes.ts'
import { answerExpectations, answerMalformed, createStrangerAnswer, cutOffUnread } from './strangers.ts'

export type App = FastifyInstance

/** What the operator decided, as far as this room must know. */
export type HttpFacts = {
  /** With its slash at the end. */
  readonly rootUrl: string
  /** Version of the API that the description tells. */
  readonly version: string
  readonly paging: Paging
  /** Largest body in bytes of a route that says nothing else. */
  readonly bodyLimit: number
  /** Absolute links follow the request's Host; false: they follow ROOT_URL. */
  readonly detectPublicUrl: boolean
  /** Whether the description and its page are served. */
  readonly swagger: boolean
  readonly cors?: CorsSettings
  /** Value of X-Frame-Options; '' for none. */
  readonly frameOptions?: string
  /** Networks whose X-Forwarded-* headers are believed, for example `127.0.0.1/8`. None unless told. */
  readonly trustedProxies?: readonly string[]
}

export type HttpOptions = {
  readonly routes: readonly MountedRoute[]
  readonly raw?: readonly MountedRaw[]
  /** Records that stand in for all others of their names (with the fields of presenters), or that no route names. */
  readonly records?: readonly TSchema[]
  readonly keeper: Gatekeeper
  readonly service: Approach['service']
  readonly facts: HttpFacts
  /** REQUIRE_SIGNIN_VIEW, asked at each request; false unless given. */
  readonly requireSigninView?: () => boolean
  /** A logger, or the level of the room's own, which writes JSON lines to `stream` (stdout). Silent unless told. */
  readonly log?: FastifyBaseLogger | { readonly level: string; readonly stream?: Writable }
  /** For tests: an answer that is not as its route declares becomes a loud 500. */
  readonly validateAnswers?: boolean
}

const minute = 60_000
/** An upload of a large push over a slow line must fit in here; a stalled one is cut by `idle`. */
const wholeRequest = 60 * minute
const idle = 10 * minute
const wholeHead = 20_000

const secrets = /^(?:token|access_token|code|client_secret|password)$/i

/** Hides credentials in addresses before they are logged, however their names are spelled. */
export function withoutSecrets(url: string): string {
  const mark = url.indexOf('?')
  if (mark < 0) return url
  const pairs = url.slice(mark + 1).split('&')
  const shown = pairs.map((pair) => {
    const [name = ''] = pair.split('=', 1)
    return secrets.test(decode(name)) ? `${name}=[hidden]` : pair
  })
  return `${url.slice(0, mark)}?${shown.join('&')}`
}

const hidden = [
  'req.headers.authorization',
  'req.headers.cookie',
  'headers.authorization',
  'headers.cookie',
  '*.password',
  '*.token',
]

function loggerOf(log: HttpOptions['log']) {
  if (log === undefined) return { logger: false as const }
  if ('info' in log) return { loggerInstance: log }
  return {
    logger: {
      level: log.level,
      redact: { paths: hidden, censor: '[hidden]' },
      ...(log.stream && { stream: log.stream }),
    },
  }
}

let counted = 0
const started = `${process.pid.toString(36)}-${Date.now().toString(36)}`
/** Names a request in the log and in answers of 500; unique among the processes of a host. */
const nextId = () => `${started}-${(counted++).toString(36)}`

function newServer({ facts, log }: HttpOptions, refuser: Refuser, subpath: string): FastifyInstance {
  const app = fastify({
    ...loggerOf(log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: nextId,
    trustProxy: facts.trustedProxies?.length ? [...facts.trustedProxies] : false,
    exposeHeadRoutes: false,
    bodyLimit: facts.bodyLimit,
    requestTimeout: wholeRequest,
    connectionTimeout: idle,
    // Without Host a request is refused by a hook, as JSON.
    http: { headersTimeout: wholeHead, requireHostHeader: false },
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      caseSensitive: true,
      maxParamLength: 16_384,
    },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, strict: false } },
    frameworkErrors: (error, request, reply) => void refuser.answerError(error, request, reply),
    clientErrorHandler: (error, socket) => answerMalformed(error, socket as Socket, refuser),
    // A proxy may hand requests on with or without the path of ROOT_URL.
    rewriteUrl: (request) => {
      const url = request.url ?? '/'
      return subpath !== '' && (url === subpath || url.startsWith(`${subpath}/`))
        ? url.slice(subpath.length) || '/'
        : url
    },
  }) as unknown as FastifyInstance
  // Bodies are read after the gate, by the route that wants them; the parser only lets them pass.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  return app
}

/** Headers and bookkeeping that every request has in common. */
const everyRequest = fastifyPlugin<Pick<HttpOptions, 'facts'>>(
  (app, { facts }, done) => {
    const cors = facts.cors ? createCors(facts.cors) : undefined
    const frame = facts.frameOptions ?? 'SAMEORIGIN'
    app.decorateRequest('visit', null)
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-content-type-options', 'nosniff')
      if (frame !== '') reply.header('x-frame-options', frame)
      if (request.headers.host === undefined && request.raw.httpVersionMinor > 0)
        done(badRequest('the Host header is missing'))
      else if (!cors?.(request, reply)) done()
    })
    app.addHook('onResponse', (request, reply, done) => {
      cutOffUnread(request.raw)
      if (request.log.level !== 'silent')
        request.log.info(
          {
            method: request.method,
            url: withoutSecrets(request.url),
            status: reply.statusCode,
            ms: Math.round(reply.elapsedTime * 10) / 10,
            user: request.visit?.actor.account?.id,
            from: request.ip,
          },
          'answered',
        )
      done()
    })
    done()
  },
  { name: 'every-request' },
)

/**
 * Builds the HTTP side of the host from the declarations of all plugins. Nothing listens yet; tests may `inject`.
 *
 * @throws BootError naming the plugin and the route whose declaration cannot be served
 */
export async function createApp(options: HttpOptions): Promise<App> {
  const { routes, raw = [], keeper, service } = options
  const validate = options.validateAnswers === true
  checkRoutes(routes, raw)
  const refuser = createRefuser(options.facts.rootUrl)
  const subpath = new URL(options.facts.rootUrl).pathname.replace(/\/$/, '')
  const app = newServer(options, refuser, subpath)
  const requireSigninView = options.requireSigninView ?? (() => false)
  const facts = { ...options.facts, service, validate, requireSigninView }
  await app.register(multipart)
  await app.register(everyRequest, { facts: options.facts })
  app.setErrorHandler((error, request, reply) => refuser.answerError(error, request, reply))

  const records = createRecords(options.records)
  const wire = createWire(records, validate)
  for (const mounted of routes) mountRoute(mounted, { app, keeper, facts, records, wire })
  for (const schema of wire.shared()) app.addSchema(schema)
  mountRaw(app, raw, keeper, facts, refuser.answerError)
  if (facts.swagger) {
    const { version } = facts
    const gate = createGate({ access: anyone, scope: 'none' }, keeper, facts)
    await mountDocs(app, () => describe(routes, records), { version, basePath: `${subpath}${apiRoot}`, subpath }, gate)
  }
  const answerStranger = createStrangerAnswer(knownPaths(routes, raw), refuser)
  app.setNotFoundHandler(answerStranger)
  // Below the root of the API nothing falls through to a page that takes any two names, as /{owner}/{repo} does.
  for (const url of [apiRoot, `${apiRoot}/*`])
    app.route({ method: app.supportedMethods as HTTPMethods[], url, handler: answerStranger })
  await app.ready()
  answerExpectations(app.server, refuser)
  return app
}

function knownPaths(routes: readonly MountedRoute[], raw: readonly MountedRaw[]) {
  return [
    ...routes.map(({ route }) => ({ path: `${apiRoot}${route.path}`, methods: [route.method] })),
    ...raw.map(({ route }) => ({ path: route.path, methods: [route.method].flat() })),
  ]
}
