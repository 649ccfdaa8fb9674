import type { FastifyInstance } from 'fastify'
import type { Face, Gate } from '../plugin/index.ts'
import { type AnswerFacts, answeringOf, sendAnswer } from './answering.ts'
import { type Texts, textsReader } from './bind-text.ts'
import type { Find } from './bind-value.ts'
import { type CallFacts, CallOfRequest } from './call.ts'
import { createGate, type GateFacts, type Gatekeeper } from './gate.ts'
import { mountPath } from './mount-path.ts'
import { bodyReader, refuseCutOff } from './read-body.ts'
import type { Visit } from './request.ts'
import type { Route } from './route.ts'
import type { Records, Wire } from './shapes.ts'
import { endWork } from './visit.ts'

/** A REST route with the plugin that owns it, and that plugin's door. `off`: its face, for the description. */
export type MountedRoute = { readonly plugin: string; readonly route: Route; readonly door?: Gate; readonly off?: Face }

export type MountContext = {
  readonly app: FastifyInstance
  readonly keeper: Gatekeeper
  readonly facts: GateFacts & CallFacts & AnswerFacts & { readonly bodyLimit: number }
  readonly records: Records
  readonly wire: Wire
}

/** Where the REST API begins. */
export const apiRoot = '/api/v1'
const cacheControl = 'max-age=0, private, must-revalidate'
const nothing = Object.freeze({})

/** The gate of a REST route, from its declaration. */
function gateOf({ route, door }: MountedRoute, wild: string | undefined, { keeper, facts, records }: MountContext) {
  return createGate(
    {
      access: route.access,
      scope: route.scope,
      ...(route.publicOnly && { publicOnly: route.publicOnly }),
      ...(route.governed === false && { governed: false as const }),
      ...(route.params && { params: records.shapeOf(route.params) }),
      ...(wild !== undefined && { wild }),
      ...(door && { door }),
    },
    keeper,
    facts,
  )
}

/** Mounts one REST route: everything that can be known beforehand is compiled here, once. */
export function mountRoute(mounted: MountedRoute, context: MountContext): void {
  const { route } = mounted
  const { app, facts, records, wire } = context
  const { url, wild } = mountPath(route.path, route.mount)
  const find: Find = (name) => records.byName.get(name) ?? {}
  const readQuery = route.query ? textsReader(records.shapeOf(route.query), false) : undefined
  const readBody =
    typeof route.body === 'object'
      ? bodyReader(records.shapeOf(route.body), find, route.bodyLimit ?? facts.bodyLimit)
      : undefined
  const answering = answeringOf(route, (schema) => wire.shape(records.shapeOf(schema)))
  const handle = route.handle as (call: unknown) => unknown
  const gate = gateOf(mounted, wild, context)

  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url: `${apiRoot}${url}`,
    onRequest: gate,
    async handler(request, reply) {
      const visit = request.visit as Visit
      let result: unknown
      try {
        refuseCutOff(request)
        const query = readQuery ? readQuery(request.query as Texts) : nothing
        const body = readBody ? await readBody(request) : nothing
        result = await handle(Object.assign(new CallOfRequest(request, reply, visit, facts, query, body), visit.found))
      } finally {
        endWork(visit)
      }
      reply.header('cache-control', cacheControl)
      return sendAnswer(request, reply, answering, result, facts)
    },
  })
}
