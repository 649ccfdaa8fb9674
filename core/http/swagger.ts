import { type Described, errorShape, mediaTypeOf, type Operation, type Parameter, refusalNames } from './describe.ts'
import { mapShape, type Shape } from './shapes.ts'

/** What a description says of its host. */
export type DescriptionFacts = { readonly version: string; readonly basePath: string }

/** Keywords that are ours and mean nothing in a description. */
export const own = new Set(['rule', 'fieldName', 'zero', 'comma', 'wire', 'nullable', 'patternProperties', '$schema'])

/** A shape in the words of Swagger 2.0: references to definitions, `x-nullable`, one type. */
function shape2(shape: Shape): Shape {
  return mapShape(shape, (part) => {
    const out: Shape = {}
    for (const [key, value] of Object.entries(part)) if (!own.has(key)) out[key] = value
    if (part.$ref) {
      const $ref = `#/definitions/${part.$ref}`
      return part.nullable ? { allOf: [{ $ref }], 'x-nullable': true } : { $ref }
    }
    if (part.nullable) out['x-nullable'] = true
    // Swagger 2.0 knows no lists of types: such a value is described as anything.
    if (Array.isArray(part.type)) delete out.type
    // Nor does it know alternatives: the first one declared is the one that clients expect.
    const { anyOf, ...rest } = out
    return anyOf ? { ...rest, ...anyOf[0] } : out
  })
}

const simple = new Set(['type', 'format', 'items', 'enum', 'default', 'description', 'minimum', 'maximum'])

function parameter2({ in: place, name, required, shape }: Parameter): Record<string, unknown> {
  const described = shape2(shape)
  const facts = Object.fromEntries(Object.entries(described).filter(([key]) => simple.has(key)))
  const list = shape.type === 'array' ? { collectionFormat: 'multi' } : {}
  return { in: place, name, required, type: 'string', ...facts, ...list }
}

function bodyParameters({ route, body }: Operation): Record<string, unknown>[] {
  if (body) return [{ in: 'body', name: 'body', schema: shape2(body) }]
  if (route.body !== 'raw') return []
  if (route.files) return route.files.map((name) => ({ in: 'formData', name, type: 'file' }))
  return [{ in: 'body', name: 'body', schema: { type: 'string' } }]
}

function consumesOf({ route, body }: Operation): string[] | undefined {
  if (body) return ['application/json']
  if (route.body !== 'raw') return undefined
  return route.files ? ['multipart/form-data', 'application/octet-stream'] : ['text/plain']
}

function operation2(operation: Operation): Record<string, unknown> {
  const { route, answers, refusals } = operation
  const responses: Record<string, unknown> = {}
  for (const { status, shape, wire } of answers) {
    const schema = wire === 'bytes' ? { type: 'file' } : shape && shape2(shape)
    responses[status] = schema ? { description: 'success', schema } : { description: 'success, no body' }
  }
  for (const status of refusals) responses[status] ??= { $ref: `#/responses/${refusalNames[status]?.[0] ?? 'error'}` }
  const consumes = consumesOf(operation)
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(route.deprecated && { deprecated: true }),
    ...(consumes && { consumes }),
    produces: [...new Set(answers.filter(({ shape }) => shape).map(({ wire }) => mediaTypeOf(wire)))],
    parameters: [...operation.parameters.map(parameter2), ...bodyParameters(operation)],
    responses,
  }
}

/** Ways to send credentials, as the wire contract names them. */
export const securityDefinitions = {
  BasicAuth: { type: 'basic' },
  Token: { type: 'apiKey', in: 'query', name: 'token', description: 'Deprecated: use the Authorization header.' },
  AccessToken: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description: 'Deprecated: use the Authorization header.',
  },
  AuthorizationHeaderToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The token, prefixed with "token" and a space.',
  },
  SudoParam: { type: 'apiKey', in: 'query', name: 'sudo', description: 'Act as this user; for site administrators.' },
  SudoHeader: { type: 'apiKey', in: 'header', name: 'Sudo', description: 'Act as this user; for site administrators.' },
  TOTPHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-GITEA-OTP',
    description: 'One-time code, beside Basic with a password.',
  },
} as const

/** The description in Swagger 2.0: the wire contract's own format. */
export function swagger2(described: Described, facts: DescriptionFacts): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of described.operations) {
    paths[operation.path] ??= {}
    Object.assign(paths[operation.path] as object, { [operation.method]: operation2(operation) })
  }
  const responses = Object.values(refusalNames).map(([name, description]) => [
    name,
    { description, schema: { $ref: '#/definitions/APIError' } },
  ])
  return {
    swagger: '2.0',
    info: { title: 'Switchyard', description: 'The REST API of this host.', version: facts.version },
    basePath: facts.basePath,
    schemes: ['https', 'http'],
    consumes: ['application/json'],
    produces: ['application/json'],
    paths,
    definitions: {
      APIError: errorShape,
      ...Object.fromEntries([...described.records].map(([name, shape]) => [name, shape2(shape)])),
    },
    responses: Object.fromEntries(responses),
    securityDefinitions,
    security: Object.keys(securityDefinitions).map((name) => ({ [name]: [] })),
  }
}
