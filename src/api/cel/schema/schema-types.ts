import { type CelType, type Field, type ObjectType, type SchemaFacts, stringType } from '../types.ts'
import { escapeField } from './escaping.ts'

/** The parts of a CustomResourceDefinition's structural schema that expressions need. */
export interface JsonSchema {
  type?: string
  format?: string
  nullable?: boolean
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  items?: JsonSchema
  required?: readonly string[]
  enum?: readonly unknown[]
  default?: unknown
  maxItems?: number
  maxLength?: number
  maxProperties?: number
  allOf?: readonly JsonSchema[]
  'x-kubernetes-int-or-string'?: boolean
  'x-kubernetes-preserve-unknown-fields'?: boolean
  'x-kubernetes-embedded-resource'?: boolean
  'x-kubernetes-list-type'?: string
  'x-kubernetes-list-map-keys'?: readonly string[]
  'x-kubernetes-map-type'?: string
  'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** One rule of x-kubernetes-validations. */
export interface ValidationRule {
  rule: string
  message?: string
  messageExpression?: string
  reason?: string
  fieldPath?: string
  optionalOldSelf?: boolean
}

/** The size limit of a request in bytes. Without limits in the schema, one list may fill the whole request. */
export const maxRequestBytes = 3 * 1024 * 1024

// Sizes in JSON: `""` is the shortest string. The others are the minimum and maximum sizes of each format.
const minString = 2
const minDuration = 3
const maxDuration = 32
const dateSize = 12
const minDateTime = 22
const maxDateTime = 32

const atLeastZero = (n: number) => Math.max(0, n)
const facts = (schema: JsonSchema, given: SchemaFacts): SchemaFacts =>
  schema.nullable ? { ...given, isNullable: true } : given

/** The maximum number of characters of a string: a character takes up to four bytes. */
function maxTextLength(schema: JsonSchema): number {
  if (schema.maxLength !== undefined) return atLeastZero(schema.maxLength) * 4
  if (schema.enum?.length)
    return Math.max(...schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)))
  return maxRequestBytes - 2
}

function textType(schema: JsonSchema): CelType {
  switch (schema.format) {
    case 'byte': {
      const maxElements = schema.maxLength === undefined ? maxRequestBytes - 2 : atLeastZero(schema.maxLength)
      return { kind: 'bytes', facts: facts(schema, { minSize: minString, maxElements }) }
    }
    case 'duration':
      return { kind: 'duration', facts: facts(schema, { minSize: minDuration, maxElements: maxDuration }) }
    case 'date':
      return { kind: 'timestamp', facts: facts(schema, { minSize: dateSize, maxElements: dateSize, isDate: true }) }
    case 'date-time':
      return { kind: 'timestamp', facts: facts(schema, { minSize: minDateTime, maxElements: maxDateTime }) }
    default:
      return { kind: 'string', facts: facts(schema, { minSize: minString, maxElements: maxTextLength(schema) }) }
  }
}

function listFacts(schema: JsonSchema, element: CelType): SchemaFacts {
  const most =
    schema.maxItems === undefined
      ? Math.floor((maxRequestBytes - 2) / (minSize(element) + 1))
      : atLeastZero(schema.maxItems)
  const given: SchemaFacts = { minSize: 2, maxElements: most }
  const listKind = schema['x-kubernetes-list-type']
  if (listKind === 'set' || listKind === 'map') given.listKind = listKind
  if (listKind === 'map')
    given.mapKeys = (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeField(key) ?? key)
  return facts(schema, given)
}

/** The minimum size in bytes of a value of a type in JSON. */
export const minSize = (type: CelType): number => type.facts?.minSize ?? 1

function mapOrObjectType(schema: JsonSchema, typeName: string): CelType | undefined {
  const values = schema.additionalProperties
  if (typeof values === 'object') {
    const value = schemaType(values, values['x-kubernetes-embedded-resource'], `${typeName}.@elem`)
    if (!value) return undefined
    const most =
      schema.maxProperties === undefined
        ? Math.floor((maxRequestBytes - 2) / (minSize(value) + 6))
        : atLeastZero(schema.maxProperties)
    return { kind: 'map', key: stringType, value, facts: facts(schema, { minSize: 2, maxElements: most }) }
  }
  const fields = new Map<string, Field>()
  const required = new Set(schema.required)
  let size = 2
  for (const [jsonName, property] of Object.entries(schema.properties ?? {})) {
    const type = schemaType(property, property['x-kubernetes-embedded-resource'], `${typeName}.${jsonName}`)
    if (!type) continue
    const name = escapeField(jsonName)
    if (name !== undefined) fields.set(name, { jsonName, type })
    if (required.has(jsonName) && property.default === undefined) size += jsonName.length + minSize(type) + 4
  }
  const object: ObjectType = { kind: 'object', name: typeName, fields, facts: facts(schema, { minSize: size }) }
  return object
}

const text: JsonSchema = { type: 'string' }
const rootMeta: JsonSchema = { type: 'object', properties: { name: text, generateName: text } }

/** Adds the fields that every resource has to the schema of a resource. */
function withRootFields(schema: JsonSchema): JsonSchema {
  const given = schema.properties ?? {}
  const meta = given['metadata']
  const isComplete =
    given['kind']?.type === 'string' &&
    given['apiVersion']?.type === 'string' &&
    meta?.properties?.['name']?.type === 'string' &&
    meta.properties['generateName']?.type === 'string'
  if (isComplete) return schema
  return { ...schema, properties: { ...given, kind: text, apiVersion: text, metadata: rootMeta } }
}

/**
 * The CEL type of data with a schema; undefined if expressions cannot access it. Fields of such types are omitted. The
 * root of a resource always has apiVersion, kind, and metadata's name and generateName. Objects at different paths have
 * different types, as in Kubernetes: their names are derived from `typeName`.
 */
export function schemaType(given: JsonSchema, isResourceRoot = false, typeName = 'selfType'): CelType | undefined {
  if (given['x-kubernetes-int-or-string']) {
    const maxElements = given.maxLength === undefined ? maxRequestBytes - 2 : atLeastZero(given.maxLength) * 4
    return { kind: 'dyn', facts: facts(given, { minSize: 1, maxElements, isIntOrString: true }) }
  }
  const schema = isResourceRoot ? withRootFields(given) : given
  switch (schema.type) {
    case 'array': {
      const { items } = schema
      const element = items && schemaType(items, items['x-kubernetes-embedded-resource'], `${typeName}.@idx`)
      return element && { kind: 'list', element, facts: listFacts(schema, element) }
    }
    case 'object':
      return mapOrObjectType(schema, typeName)
    case 'string':
      return textType(schema)
    case 'boolean':
      return { kind: 'bool', facts: facts(schema, { minSize: 4 }) }
    case 'number':
      return { kind: 'double', facts: facts(schema, { minSize: 1 }) }
    case 'integer':
      return { kind: 'int', facts: facts(schema, { minSize: 1 }) }
    default:
      return undefined
  }
}
