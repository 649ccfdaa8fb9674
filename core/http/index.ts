/**
 * HTTP: the only room that knows fastify.
 *
 * A route is data (route.ts). At boot `createApp` checks all declarations (boot.ts), compiles for each route a gate, a
 * reader of its query and body, and a writer of its answers, and mounts them (mount.ts, raw.ts). A request then passes
 *
 *   gate.ts        credentials, account, sign-in, sudo, the plugin's switch, token scope, object and permission,
 *                  before a byte of the body is read
 *   bind-*.ts      query, path and body, as the clients of the contract send them (read-body.ts knows content types)
 *   the handler    which returns a plain value, `list(...)` or `answer(...)`, or throws a Problem (problems.ts)
 *   answering.ts   status, paging headers (pager.ts), and the JSON of what the schema declares and nothing else
 *
 * Whatever is thrown becomes `{"message", "url"}` (errors.ts); what no route takes is answered by strangers.ts.
 * swagger.ts and openapi.ts describe all of it from the same declarations; docs.ts serves that.
 */
export * from './access.ts'
export * from './account-access.ts'
export { type App, createApp, type HttpFacts, type HttpOptions, withoutSecrets } from './app.ts'
export { BootError } from './boot.ts'
export { httpConfig, httpFacts } from './config.ts'
export type { CorsSettings } from './cors.ts'
export { problemOf } from './errors.ts'
export type { Gatekeeper } from './gate.ts'
export type { MountedRoute } from './mount.ts'
export type { Paging } from './pager.ts'
export * from './problems.ts'
export { actorOf, type MountedRaw, type RawCall, type RawRoute, type RawRoutes, rawRoute } from './raw.ts'
export * from './repository-access.ts'
export * from './route.ts'
export * from './schema.ts'
