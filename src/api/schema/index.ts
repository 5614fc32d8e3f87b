import { schema } from '../generated/schema.ts'
import type { Field, Struct } from './schema.ts'

export { schema } from '../generated/schema.ts'
export { DecodeError, decodeObject } from './decode.ts'
export type { DecodeOptions, Decoded } from './decode.ts'
export type { Field, FieldType, ScalarType, SchemaTable } from './schema.ts'
export { stockType } from './stock.ts'

/** A structure by our type name; undefined where there is none. */
export const structOf = (typeName: string): Struct | undefined =>
  Object.hasOwn(schema, typeName) ? schema[typeName] : undefined

/** A field of a structure by its JSON name; undefined where either is not known. */
export function fieldOf(typeName: string, field: string): Field | undefined {
  const struct = structOf(typeName)
  return struct && Object.hasOwn(struct.fields, field) ? struct.fields[field] : undefined
}
