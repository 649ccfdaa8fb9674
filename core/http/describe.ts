import type { MountedRoute } from './mount.ts'
import type { Route } from './route.ts'
import type { Records, Shape } from './shapes.ts'

/**
 * What the two descriptions of the API have in common: one neutral record per operation, made from the declarations.
 */
export type Operation = {
  readonly method: string
  /** As the contract writes it, without `/api/v1`. */
  readonly path: string
  readonly route: Route
  readonly parameters: readonly Parameter[]
  readonly body: Shape | undefined
  readonly answers: readonly { readonly status: number; readonly wire: string; readonly shape: Shape | undefined }[]
  /** Statuses of refusals, ascending. */
  readonly refusals: readonly number[]
}
export type Parameter = {
  readonly in: 'path' | 'query'
  readonly name: string
  readonly required: boolean
  readonly shape: Shape
}

export type Described = { readonly operations: readonly Operation[]; readonly records: ReadonlyMap<string, Shape> }

/** What each status of a refusal is called in the descriptions. */
export const refusalNames: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['error', 'the request breaks a rule of the operation'],
  401: ['unauthorized', 'credentials are missing or wrong'],
  403: ['forbidden', 'not allowed'],
  404: ['notFound', 'it does not exist, or the caller may not see it'],
  405: ['methodNotAllowed', 'not possible for this object'],
  409: ['conflict', 'it contradicts what exists'],
  412: ['preconditionFailed', 'a condition of the request does not hold'],
  413: ['tooLarge', 'the request is too large'],
  422: ['validationError', 'a field is missing or breaks a rule'],
  423: ['repoArchivedError', 'the repository is archived'],
  500: ['internalError', 'the host failed'],
  503: ['unavailable', 'not possible right now'],
}

const pageParameters: readonly Parameter[] = [
  { in: 'query', name: 'page', required: false, shape: { type: 'integer', description: 'number of the page, from 1' } },
  { in: 'query', name: 'limit', required: false, shape: { type: 'integer', description: 'items on a page' } },
]

function parametersOf(route: Route, records: Records): Parameter[] {
  const path = route.params ? records.shapeOf(route.params) : undefined
  const query = route.query ? records.shapeOf(route.query) : undefined
  const inPath = [...route.path.matchAll(/\{([^}+]+)\+?\}/g)].map(([, name]): Parameter => {
    const shape = path?.properties?.[name as string] ?? { type: 'string' }
    return { in: 'path', name: name as string, required: true, shape }
  })
  const inQuery = Object.entries(query?.properties ?? {}).map(
    ([name, shape]): Parameter => ({ in: 'query', name, required: query?.required?.includes(name) ?? false, shape }),
  )
  const paging = route.paging ? pageParameters.filter(({ name }) => query?.properties?.[name] === undefined) : []
  return [...inPath, ...inQuery, ...paging]
}

/** Every refusal that an operation can give: of its gate, of its binding, and those that it declares. */
function refusalsOf(route: Route, parameters: readonly Parameter[], face: number | undefined): number[] {
  const all = new Set<number>([401, ...route.access.refusals, ...(route.refusals ?? [])])
  if (route.scope !== 'none') all.add(403)
  if (route.body !== undefined && route.body !== 'raw') all.add(422)
  if (parameters.some(({ shape }) => shape.format === 'date-time')) all.add(422)
  if (parameters.some((parameter) => parameter.in === 'path')) all.add(404)
  if (face !== undefined && route.governed !== false) all.add(face)
  return [...all].sort((a, b) => a - b)
}

/** Describes all routes that are not hidden. Records are collected on the way. */
export function describe(routes: readonly MountedRoute[], records: Records): Described {
  const operations = routes
    .filter(({ route }) => !route.hidden)
    .map(({ route, off }): Operation => {
      const parameters = parametersOf(route, records)
      const answers = Object.entries(route.answers).map(([status, schema]) => {
        const wire = String(schema.wire ?? 'json')
        return { status: Number(status), wire, shape: wire === 'empty' ? undefined : records.shapeOf(schema) }
      })
      return {
        method: route.method.toLowerCase(),
        path: route.path.replaceAll('+}', '}'),
        route,
        parameters,
        body: typeof route.body === 'object' ? records.shapeOf(route.body) : undefined,
        answers,
        refusals: refusalsOf(route, parameters, off?.status),
      }
    })
  return { operations, records: records.byName }
}

/** What a format of an answer is called in a media type. */
export const mediaTypeOf = (wire: string) =>
  wire === 'text' ? 'text/plain' : wire === 'bytes' ? 'application/octet-stream' : 'application/json'

/** The error record of both descriptions. */
export const errorShape: Shape = {
  type: 'object',
  properties: { message: { type: 'string' }, url: { type: 'string', format: 'uri' } },
}
