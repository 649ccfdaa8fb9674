import { type SchemaOptions, type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'

/**
 * The schema language of the host. Everything imports it from here, so that its library changes in one place.
 *
 * Beside the keywords of JSON Schema, the room understands on a field of a body or query:
 * - `rule`: one name or several of rules.ts, for example `'AlphaDashDot'`, checked in that order;
 * - `fieldName`: the name in refusals, where CamelCase of the key is not what the contract says;
 * - `zero: true`: a required field that may be '', 0 or [];
 * - `comma: false`: a list in the query that is only filled by repeating its name.
 */
export { type Static, type TObject, type TSchema, Type }

/** A record with a name: it appears in Swagger under that name, and once, wherever it is embedded. */
export function record<P extends TProperties>(name: string, properties: P, options: SchemaOptions = {}): TObject<P> {
  return Type.Object(properties, { ...options, $id: name })
}

/** A field that is present and may be null. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

/** Names a record that is declared later or elsewhere, for records that contain each other. */
export function later<T>(name: string) {
  return Type.Unsafe<T>(Type.Ref(name))
}

/** An answer without a body. */
export const Empty = Type.Unsafe<undefined>({ wire: 'empty' })
/** An answer in plain text; another type may be given by the answer's headers. */
export const Text = Type.Unsafe<string>({ type: 'string', wire: 'text' })
/** An answer of bytes: a Buffer or a stream. */
export const Bytes = Type.Unsafe<Uint8Array | NodeJS.ReadableStream>({
  type: 'string',
  format: 'binary',
  wire: 'bytes',
})
