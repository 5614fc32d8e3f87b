import { type FieldType, structOf } from '../../schema/index.ts'
import {
  type CelType,
  type Field,
  type ObjectType,
  boolType,
  bytesType,
  doubleType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  timestampType,
} from '../types.ts'
import { escapeField } from './escaping.ts'
import { type JsonSchema, schemaType } from './schema-types.ts'

/** The fields of a structure, created on first use because structures can be recursive. */
class StructFields extends Map<string, Field> {
  readonly #make: () => Iterable<[string, Field]>
  #isMade = false
  constructor(make: () => Iterable<[string, Field]>) {
    super()
    this.#make = make
  }
  override get(name: string): Field | undefined {
    if (!this.#isMade) {
      this.#isMade = true
      for (const [key, field] of this.#make()) this.set(key, field)
    }
    return super.get(name)
  }
}

function fieldType(type: FieldType): CelType {
  switch (type.kind) {
    case 'string':
    case 'duration':
      return stringType
    case 'boolean':
      return boolType
    case 'int32':
    case 'int64':
      return intType
    case 'double':
      return doubleType
    case 'bytes':
      return bytesType
    case 'time':
    case 'microTime':
      return timestampType
    case 'list':
      return listType(fieldType(type.of))
    case 'map':
      return mapType(stringType, fieldType(type.of))
    case 'struct':
      return structType(type.name)
    default:
      return dynType
  }
}

const known = new Map<string, ObjectType>()

function structType(name: string): ObjectType {
  let type = known.get(name)
  if (!type) known.set(name, (type = { kind: 'object', name, fields: new StructFields(() => fieldsOf(name)) }))
  return type
}

function* fieldsOf(name: string): Iterable<[string, Field]> {
  const struct = structOf(name)
  if (struct?.kind) for (const jsonName of ['apiVersion', 'kind']) yield [jsonName, { jsonName, type: stringType }]
  for (const [jsonName, { type }] of Object.entries(struct?.fields ?? {})) {
    const escaped = escapeField(jsonName)
    if (escaped !== undefined) yield [escaped, { jsonName, type: fieldType(type) }]
  }
}

/** The type of a kind of Kubernetes' own, by its name in the schema table, as type checking of policies sees it. */
export const builtInCelType = (name: string): ObjectType | undefined => (structOf(name) ? structType(name) : undefined)

/** The type of a custom kind from its structural schema, with the metadata of every kind. */
export function customCelType(schema: JsonSchema, name: string): CelType {
  if (schema['x-kubernetes-preserve-unknown-fields']) return dynType
  const type = schemaType(schema, true, name)
  if (type?.kind !== 'object') return dynType
  const metadata: Field = { jsonName: 'metadata', type: structType('ObjectMeta') }
  return { ...type, fields: new Map([...type.fields, ['metadata', metadata]]) }
}
