import { describeField } from '../schema/descriptions.ts'
import { type Field, type FieldType, type ScalarType, fieldOf, structOf } from '../schema/index.ts'
import type { Schema } from './schema.ts'

const either: Schema = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }
const quantity =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'

const scalars: Record<ScalarType, Schema> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  duration: { type: 'string' },
  quantity: { ...either, pattern: quantity },
  intOrString: either,
  raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
}

/**
 * Generates the structural schema of a built-in type from the schema table. The type must not be recursive. `describes`
 * selects the types with descriptions: those of a pod alone have 300 KB.
 */
export function builtInSchema(typeName: string, describes: (typeName: string) => boolean = () => true): Schema {
  const struct = structOf(typeName)
  if (!struct) throw new Error(`there is no type ${typeName}`)
  const description = describes(typeName) ? describeField(typeName) : ''
  const properties: Record<string, Schema> = {}
  const fields = Object.values(struct.fields).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const field of fields) properties[field.name] = fieldSchemaOf(typeName, field, describes)
  const required = fields.filter((field) => field.required).map((field) => field.name)
  return {
    ...(description ? { description } : {}),
    type: 'object',
    ...(fields.length ? { properties } : {}),
    ...(required.length ? { required } : {}),
    ...(struct.mapType ? { 'x-kubernetes-map-type': struct.mapType } : {}),
  }
}

type Describes = (typeName: string) => boolean

function fieldSchemaOf(typeName: string, field: Field, describes: Describes): Schema {
  const description = describes(typeName) ? describeField(typeName, field.name) : ''
  return {
    ...schemaOfType(field.type, describes, field),
    ...(description ? { description } : {}),
    // Go writes null for an unset time, and for lists and maps without omitempty.
    ...(field.zero === 'emit' && ['time', 'microTime', 'list', 'map'].includes(field.type.kind)
      ? { nullable: true }
      : {}),
    ...(field.mapType ? { 'x-kubernetes-map-type': field.mapType } : {}),
  }
}

/** `field` has the list and map hints for the outermost type. */
function schemaOfType(type: FieldType, describes: Describes, field?: Field): Schema {
  switch (type.kind) {
    case 'struct':
      return builtInSchema(type.name, describes)
    case 'map':
      return { type: 'object', additionalProperties: schemaOfType(type.of, describes) }
    case 'list':
      return listSchema(type.of, describes, field)
    case 'string':
      return { type: 'string', ...(field?.enum ? { enum: [...field.enum] } : {}) }
    default:
      return scalars[type.kind]
  }
}

function listSchema(of: FieldType, describes: Describes, field: Field | undefined): Schema {
  const items = schemaOfType(of, describes)
  if (field?.listType !== 'map' || of.kind !== 'struct') {
    return {
      type: 'array',
      items,
      ...(field?.listType === 'set' ? { 'x-kubernetes-list-type': 'set' } : { 'x-kubernetes-list-type': 'atomic' }),
    }
  }
  const keys = field.listMapKeys ?? []
  // A list key must be required or have a default.
  for (const key of keys) {
    if (items.required?.includes(key)) continue
    const isText = fieldOf(of.name, key)?.type.kind === 'string'
    items.properties![key] = { ...items.properties![key], default: key === 'protocol' ? 'TCP' : isText ? '' : 0 }
  }
  return { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] }
}
