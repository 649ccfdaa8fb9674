import { type Described, errorShape, mediaTypeOf, type Operation, refusalNames } from './describe.ts'
import { mapShape, type Shape } from './shapes.ts'
import { type DescriptionFacts, own, securityDefinitions } from './swagger.ts'

/** A shape in the words of OpenAPI 3.1, which are those of JSON Schema: null is a type. */
function shape3(shape: Shape): Shape {
  return mapShape(shape, (part) => {
    const out: Shape = {}
    for (const [key, value] of Object.entries(part)) if (!own.has(key)) out[key] = value
    if (part.$ref) {
      const reference: Shape = { $ref: `#/components/schemas/${part.$ref}` }
      return part.nullable ? { anyOf: [reference, { type: 'null' }] } : reference
    }
    if (!part.nullable) return out
    if (part.enum) out.enum = [...part.enum, null]
    if (part.type) out.type = [part.type, 'null'].flat()
    else if (part.anyOf) out.anyOf = [...(out.anyOf ?? []), { type: 'null' }]
    return out
  })
}

function requestBody3(operation: Operation): Record<string, unknown> {
  const { route, body } = operation
  if (body) return { requestBody: { content: { 'application/json': { schema: shape3(body) } } } }
  if (route.body !== 'raw') return {}
  const files = Object.fromEntries((route.files ?? []).map((name) => [name, { type: 'string', format: 'binary' }]))
  const content = route.files
    ? { 'multipart/form-data': { schema: { type: 'object', properties: files } }, 'application/octet-stream': {} }
    : { 'text/plain': { schema: { type: 'string' } } }
  return { requestBody: { content } }
}

function operation3(operation: Operation): Record<string, unknown> {
  const { route, answers, refusals, parameters } = operation
  const responses: Record<string, unknown> = {}
  for (const { status, shape, wire } of answers)
    responses[status] = shape
      ? { description: 'success', content: { [mediaTypeOf(wire)]: { schema: shape3(shape) } } }
      : { description: 'success, no body' }
  for (const status of refusals)
    responses[status] ??= { $ref: `#/components/responses/${refusalNames[status]?.[0] ?? 'error'}` }
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(route.deprecated && { deprecated: true }),
    parameters: parameters.map(({ in: place, name, required, shape }) => ({
      in: place,
      name,
      required,
      schema: shape3(shape),
    })),
    ...requestBody3(operation),
    responses,
  }
}

/** The description in OpenAPI 3.1. */
export function openapi3(described: Described, facts: DescriptionFacts): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of described.operations) {
    paths[operation.path] ??= {}
    Object.assign(paths[operation.path] as object, { [operation.method]: operation3(operation) })
  }
  const schema = { $ref: '#/components/schemas/APIError' }
  const responses = Object.values(refusalNames).map(([name, description]) => [
    name,
    { description, content: { 'application/json': { schema } } },
  ])
  const { BasicAuth: _, ...keys } = securityDefinitions
  return {
    openapi: '3.1.0',
    info: { title: 'Switchyard', description: 'The REST API of this host.', version: facts.version },
    servers: [{ url: facts.basePath }],
    paths,
    components: {
      schemas: {
        APIError: errorShape,
        ...Object.fromEntries([...described.records].map(([name, shape]) => [name, shape3(shape)])),
      },
      responses: Object.fromEntries(responses),
      securitySchemes: { BasicAuth: { type: 'http', scheme: 'basic' }, ...keys },
    },
    security: Object.keys(securityDefinitions).map((name) => ({ [name]: [] })),
  }
}
