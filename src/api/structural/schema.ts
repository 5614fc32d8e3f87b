import type { JsonSchema } from '../cel/index.ts'

/** A schema of a CustomResourceDefinition, from `openAPIV3Schema`. */
export interface Schema extends JsonSchema {
  $ref?: string
  $schema?: string
  id?: string
  title?: string
  description?: string
  externalDocs?: object
  example?: unknown
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  additionalItems?: Schema | boolean
  patternProperties?: Record<string, Schema>
  definitions?: Record<string, Schema>
  dependencies?: Record<string, unknown>
  items?: Schema
  required?: string[]
  enum?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  exclusiveMaximum?: boolean
  multipleOf?: number
  minLength?: number
  minItems?: number
  minProperties?: number
  uniqueItems?: boolean
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  not?: Schema
}

/** The schema of a map's values. Undefined if there is none, or if any value is allowed. */
export const valuesOf = (schema: Schema): Schema | undefined =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined

/** The schema of a field: that of its property, or that of a map's values. */
export function fieldSchema(schema: Schema, name: string): Schema | undefined {
  const { properties } = schema
  return properties && Object.hasOwn(properties, name) ? properties[name] : valuesOf(schema)
}

/** True if unknown fields are kept. */
export const keepsUnknown = (schema: Schema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

export const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true

export const isIntOrString = (schema: Schema): boolean => schema['x-kubernetes-int-or-string'] === true

/** The keys that identify items of a list. Undefined for other lists. */
export const listKeys = (schema: Schema): readonly string[] | undefined =>
  schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined
