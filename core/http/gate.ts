import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Actor, type CredentialFacts, isPublicOnly, isSiteAdmin, scopeRefusal } from '../identity/index.ts'
import type { Gate } from '../plugin/index.ts'
import { paramsReader, type Texts } from './bind-text.ts'
import { bare, forbidden, notFound, Problem } from './problems.ts'
import type { Visit } from './request.ts'
import type { Access, Approach, Scopes } from './route.ts'
import type { Shape } from './shapes.ts'
import { watchClose } from './visit.ts'

/** What this room asks of identity; its service fits as it is. */
export type Gatekeeper = {
  /** Who makes the request; anonymous without credentials. Throws when they are wrong or the account may not be used. */
  authenticate(facts: CredentialFacts): Promise<Actor>
  /** The same credentials, acting as somebody else; undefined when nobody has that name. */
  actAs(actor: Actor, name: string): Promise<Actor | undefined>
}

export type GateFacts = {
  /** REQUIRE_SIGNIN_VIEW: nobody anonymous may call anything. */
  requireSigninView(): boolean
  /** Core services, for accesses that look objects up. */
  readonly service: Approach['service']
}

/** What the gate needs to know of one route. */
export type Guarded = {
  readonly access: Access
  readonly scope: Scopes
  readonly publicOnly?: 'refuse'
  readonly governed?: false
  /** True: anonymous callers pass although REQUIRE_SIGNIN_VIEW is set. */
  readonly open?: true
  readonly params?: Shape
  /** The parameter that takes the rest of the path. */
  readonly wild?: string
  /** The door of the plugin that owns the route; core's own routes have none. */
  readonly door?: Gate
}

const queryTokenWarning =
  'token and access_token API authentication is deprecated, use the Authorization header instead'

const first = (sent: Texts[string]) => (typeof sent === 'string' ? sent : sent?.[0])

async function actingAs(keeper: Gatekeeper, actor: Actor, name: string): Promise<Actor> {
  if (!isSiteAdmin(actor)) throw bare(403, 'Only administrators allowed to sudo.')
  const other = await keeper.actAs(actor, name)
  if (other === undefined) throw notFound()
  return other
}

/** Enters the plugin, or throws its face. */
function enter(door: Gate, governed: boolean): Gate {
  const face = governed ? door.face() : undefined
  if (face) throw new Problem(face.status, face.message)
  door.enter()
  return door
}

/** NUL in an address is never meant well, and PostgreSQL cannot keep it. */
function checkAddress(url: string): void {
  if (!url.includes('%00')) return
  const query = url.indexOf('?')
  throw query === -1 || url.indexOf('%00') < query ? notFound() : new Problem(400, 'NUL in the query')
}

/** Who makes the request: the first half of the gate, in the order of the contract (01, section 3.1, steps 2 to 5). */
async function identify(
  request: FastifyRequest,
  reply: FastifyReply,
  keeper: Gatekeeper,
  mayBeAnonymous: () => boolean,
) {
  const facts = { headers: request.headers, query: request.query as CredentialFacts['query'] }
  if ('token' in facts.query || 'access_token' in facts.query) reply.header('x-gitea-warning', queryTokenWarning)
  const actor = await keeper.authenticate(facts)
  if (actor.account === undefined && !mayBeAnonymous()) throw bare(403, 'Only signed in user is allowed to call APIs.')
  const sudo = first(facts.query.sudo) ?? first(facts.headers.sudo)
  return sudo === undefined || sudo === '' ? actor : actingAs(keeper, actor, sudo)
}

const reads = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Compiles the gate of one route: an onRequest hook that leaves `request.visit`, or throws. */
export function createGate(route: Guarded, keeper: Gatekeeper, facts: GateFacts) {
  const { access, door, wild, scope } = route
  const governed = route.governed !== false
  const readParams = paramsReader(route.params)
  const mayBeAnonymous = route.open ? () => true : () => !facts.requireSigninView()
  const judgeToken = (actor: Actor, method: string) => {
    if (scope === 'none') return
    for (const wanted of scope) {
      const refusal = scopeRefusal(actor, [wanted].flat(), reads.has(method) ? 'read' : 'write')
      if (refusal !== undefined) throw forbidden(refusal)
    }
  }
  return async function gate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    checkAddress(request.url)
    const actor = await identify(request, reply, keeper, mayBeAnonymous)
    const visit: Visit = { actor, params: {}, found: {}, door: undefined, working: true, answered: false }
    if (door) {
      visit.door = enter(door, governed)
      watchClose(reply.raw, visit)
    }
    request.visit = visit
    judgeToken(actor, request.method)
    if (route.publicOnly === 'refuse' && isPublicOnly(actor))
      throw forbidden('this endpoint is not available for public-only tokens')
    const sent = request.params as Record<string, string>
    const params = wild === undefined ? sent : named(sent, wild)
    const bound = readParams(params)
    if (bound === undefined) throw notFound()
    visit.params = bound
    const approach: Approach = {
      actor,
      method: request.method,
      params,
      query: request.query as Approach['query'],
      url: request.url,
      service: facts.service,
    }
    visit.found = (await access.admit(approach)) as object
  }
}

/** Parameters with the rest of the path under its declared name. */
function named({ '*': rest = '', ...params }: Record<string, string>, wild: string): Record<string, string> {
  return { ...params, [wild]: rest }
}
