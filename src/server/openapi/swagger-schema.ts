/** A JSON schema of either OpenAPI version. */
export interface Definition {
  [key: string]: unknown
}

/** Keywords that OpenAPI 2 supports, also as an extension. */
const kept = new Set([
  'description',
  'type',
  'format',
  'title',
  'required',
  'enum',
  'default',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
])

const isSchema = (value: unknown): value is Definition => typeof value === 'object' && value !== null

/**
 * The subset of a structural schema that OpenAPI 2 can express. A nullable value or one of several types has no schema,
 * because OpenAPI 2 clients would reject it.
 */
export function swaggerSchema(schema: Definition): Definition {
  const { description } = schema
  const isOpen =
    schema.nullable || schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields']
  if (isOpen) {
    const type = schema['x-kubernetes-preserve-unknown-fields'] && schema.type ? { type: schema.type } : {}
    return { ...(description ? { description } : {}), ...type, ...extensionsOf(schema) }
  }
  const told: Definition = {}
  for (const [name, value] of Object.entries(schema)) {
    if (kept.has(name)) told[name] = value
    else if (name === 'items' && isSchema(value)) told.items = swaggerSchema(value)
    else if (name === 'additionalProperties' && isSchema(value)) told[name] = swaggerSchema(value)
    else if (name === 'properties' && isSchema(value)) {
      told[name] = Object.fromEntries(
        Object.entries(value).map(([key, part]) => [key, swaggerSchema(part as Definition)]),
      )
    }
  }
  return { ...told, ...extensionsOf(schema) }
}

const extensionsOf = (schema: Definition): Definition =>
  Object.fromEntries(
    Object.entries(schema).filter(([name]) => name.startsWith('x-kubernetes-') && name !== 'x-kubernetes-validations'),
  )
