import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Described } from './describe.ts'
import { apiRoot } from './mount.ts'
import { openapi3 } from './openapi.ts'
import { type DescriptionFacts, swagger2 } from './swagger.ts'

/** Everything from this host alone; swagger-ui styles its elements directly. */
const csp =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"

/**
 * Serves the description in both formats, the page that shows it, and the old address of the page.
 * The text is made when it is first asked for, and kept.
 *
 * @param gate the gate of whoever may call anything at all: REQUIRE_SIGNIN_VIEW holds for the description too
 * @param subpath path part of ROOT_URL, '' at the root of a host
 */
export async function mountDocs(
  app: FastifyInstance,
  described: () => Described,
  facts: DescriptionFacts & { readonly subpath: string },
  gate: (request: never, reply: never) => Promise<void>,
): Promise<void> {
  const answerGet = (url: string, answer: (reply: FastifyReply) => void) =>
    app.route({
      method: ['GET', 'HEAD'],
      url,
      onRequest: gate as never,
      handler: (_request, reply) => answer(reply),
    })
  const serve = (url: string, write: (described: Described, facts: DescriptionFacts) => unknown) => {
    let text: string | undefined
    answerGet(url, (reply) => {
      text ??= `${JSON.stringify(write(described(), facts))}\n`
      reply.header('content-type', 'application/json; charset=utf-8').send(text)
    })
  }
  serve('/swagger.v1.json', swagger2)
  serve('/openapi3.v1.json', openapi3)
  answerGet(`${apiRoot}/swagger`, (reply) => reply.redirect(`${facts.subpath}/api/swagger`, 303))
  const urls = [
    { url: `${facts.subpath}/swagger.v1.json`, name: 'Swagger 2.0' },
    { url: `${facts.subpath}/openapi3.v1.json`, name: 'OpenAPI 3.1' },
  ]
  await app.register(async (scope) => {
    await scope.register(swagger, {
      mode: 'static',
      specification: { document: swagger2(described(), facts) as never },
    })
    await scope.register(swaggerUi, {
      routePrefix: '/api/swagger',
      indexPrefix: facts.subpath,
      staticCSP: csp,
      uiConfig: { urls },
      uiHooks: { onRequest: gate as never },
    })
  })
}
