import type { TSchema } from './schema.ts'

/** JSON Schema as this room uses it, after TypeBox's habits are gone: named records are references. */
export type Shape = {
  type?: string | string[]
  $ref?: string
  nullable?: true
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  enum?: unknown[]
  anyOf?: Shape[]
  allOf?: Shape[]
  additionalProperties?: Shape | boolean
  [keyword: string]: unknown
}

/** The named records that the routes of a host use. */
export type Records = {
  /** The shape of a schema. Records inside it are noted, and become references. */
  shapeOf(schema: TSchema): Shape
  readonly byName: ReadonlyMap<string, Shape>
}

const isNull = (schema: TSchema) => schema.type === 'null'
const structure = new Set([
  '$id',
  '$ref',
  'anyOf',
  'oneOf',
  'allOf',
  'properties',
  'patternProperties',
  'items',
  'const',
])

/** The keywords of a schema that say nothing of its structure. */
function plainKeywords(schema: TSchema): Shape {
  const shape: Shape = {}
  for (const [key, value] of Object.entries(schema)) if (!structure.has(key)) shape[key] = value
  return shape
}

/** Several alternatives as one shape: an enumeration, a nullable shape, several simple types, or `anyOf`. */
function unionOf(schema: TSchema, shapeOf: (s: TSchema) => Shape): Shape {
  const all = (schema.anyOf ?? schema.oneOf) as TSchema[]
  const branches = all.filter((branch) => !isNull(branch))
  const rest: Shape = plainKeywords(schema)
  if (branches.length < all.length) rest.nullable = true
  const first = branches[0]
  if (first === undefined) return { ...rest, type: 'null' }
  if (branches.length === 1) return { ...shapeOf(first), ...rest }
  if (branches.every((branch) => branch.const !== undefined && branch.type === first.type))
    return { ...rest, type: first.type as string, enum: branches.map((branch) => branch.const) }
  const shapes = branches.map(shapeOf)
  const simple = shapes.every((shape) => ['string', 'boolean', 'integer', 'number'].includes(shape.type as string))
  return simple
    ? { ...rest, type: [...new Set(shapes.map((shape) => shape.type as string))] }
    : { ...rest, anyOf: shapes }
}

function shapeInside(schema: TSchema, shapeOf: (s: TSchema) => Shape): Shape {
  if (typeof schema.$ref === 'string') return { $ref: schema.$ref }
  if (schema.anyOf || schema.oneOf) return unionOf(schema, shapeOf)
  const shape = plainKeywords(schema)
  if (schema.allOf) shape.allOf = (schema.allOf as TSchema[]).map(shapeOf)
  if (schema.const !== undefined) shape.enum = [schema.const]
  if (schema.properties)
    shape.properties = Object.fromEntries(
      Object.entries(schema.properties as Record<string, TSchema>).map(([key, value]) => [key, shapeOf(value)]),
    )
  const values = Object.values((schema.patternProperties ?? {}) as Record<string, TSchema>)[0]
  if (values) shape.additionalProperties = shapeOf(values)
  else if (typeof schema.additionalProperties === 'object')
    shape.additionalProperties = shapeOf(schema.additionalProperties)
  if (schema.items) shape.items = shapeOf(schema.items as TSchema)
  return shape
}

/**
 * Collects records. Two different records under one name are an error.
 *
 * @param settled records that stand in for all others of their names, however those look
 */
export function createRecords(settled: readonly TSchema[] = []): Records {
  const byName = new Map<string, Shape>()
  const sources = new Map<string, TSchema>()
  const instead = new Map(settled.map((schema) => [schema.$id, schema]))
  const shapeOf = (schema: TSchema): Shape => {
    const name = schema.$id
    if (name === undefined) return shapeInside(schema, shapeOf)
    const source = instead.get(name) ?? schema
    const known = sources.get(name)
    if (known === undefined) {
      sources.set(name, source)
      byName.set(name, {})
      byName.set(name, shapeInside(source, shapeOf))
    } else if (known !== source && JSON.stringify(known) !== JSON.stringify(source)) {
      throw new Error(`two different records are named ${name}`)
    }
    return { $ref: name }
  }
  for (const schema of settled) shapeOf(schema)
  return { shapeOf, byName }
}

/** Rebuilds a shape from the leaves up. */
export function mapShape(shape: Shape, change: (shape: Shape) => Shape): Shape {
  const copy: Shape = { ...shape }
  if (shape.properties)
    copy.properties = Object.fromEntries(
      Object.entries(shape.properties).map(([key, value]) => [key, mapShape(value, change)]),
    )
  if (shape.items) copy.items = mapShape(shape.items, change)
  if (shape.anyOf) copy.anyOf = shape.anyOf.map((branch) => mapShape(branch, change))
  if (shape.allOf) copy.allOf = shape.allOf.map((branch) => mapShape(branch, change))
  if (typeof shape.additionalProperties === 'object')
    copy.additionalProperties = mapShape(shape.additionalProperties, change)
  return change(copy)
}

const nullName = (name: string) => `${name}.null`

/** Shapes as fastify's serializer and validator read them. */
export type Wire = {
  shape(shape: Shape): Shape
  /** The schemas for `app.addSchema`: each record, and where a field needs it, the record that may be null. */
  shared(): (Shape & { $id: string })[]
}

/** Without `strict` nothing is required: what a handler leaves out is left out, and not an error. */
export function createWire(records: Records, strict: boolean): Wire {
  const mayBeNull = new Set<string>()
  const toWire = (shape: Shape) =>
    mapShape(shape, (part) => {
      if (part.$ref && part.nullable) mayBeNull.add(part.$ref)
      if (part.$ref) return { $ref: `${part.nullable ? nullName(part.$ref) : part.$ref}#` }
      const { required, ...rest } = part
      if (strict && required) rest.required = required
      if (part.nullable && part.enum) rest.enum = [...part.enum, null]
      return rest
    })
  return {
    shape: toWire,
    shared() {
      const wires = [...records.byName].map(([name, shape]) => ({ ...toWire(shape), $id: name }))
      const orNull = wires.filter(({ $id }) => mayBeNull.has($id))
      return [...wires, ...orNull.map((wire) => ({ ...wire, nullable: true as const, $id: nullName(wire.$id) }))]
    },
  }
}
