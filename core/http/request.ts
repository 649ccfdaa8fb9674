import type { Actor } from '../identity/index.ts'
import type { Gate } from '../plugin/index.ts'

/**
 * What the host knows of a request, from the gate to the end of the answer.
 * The only place of the tree that augments a library's types.
 */
export type Visit = {
  actor: Actor
  /** Path parameters, integers as numbers. */
  params: Record<string, unknown>
  /** What the access found, for the handler. */
  found: object
  /** The door of the plugin that the request is inside of. */
  door: Gate | undefined
  /** Gate or handler is still at work, though the client may have gone. */
  working: boolean
  answered: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit | null
  }
}
