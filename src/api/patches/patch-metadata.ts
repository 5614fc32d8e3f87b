import { schema } from '../generated/schema.ts'
import type { Field, FieldType } from '../schema/schema.ts'
import { fault } from './strategic-errors.ts'

/** The merge metadata of a field for strategic merge patch. */
export interface PatchMetadata {
  type: FieldType
  strategy: 'merge' | 'replace' | undefined
  /** The merge key. Absent for lists of scalars. */
  mergeKey: string | undefined
}

const goKinds: Partial<Record<FieldType['kind'], string>> = {
  list: 'slice',
  boolean: 'bool',
  double: 'float64',
  bytes: 'slice',
  duration: 'struct',
  time: 'struct',
  microTime: 'struct',
  quantity: 'struct',
  intOrString: 'struct',
}

function findField(type: FieldType, key: string): Field {
  const missing = (name: string) =>
    fault(`unable to find api field in struct ${name} for the json field ${JSON.stringify(key)}`)
  if (type.kind === 'raw') throw missing('RawExtension')
  if (type.kind !== 'struct') {
    throw fault(`merging an object in json but data type is not struct, instead is: ${goKinds[type.kind] ?? type.kind}`)
  }
  const struct = schema[type.name]
  if (!struct) throw new Error(`no schema for ${type.name}`)
  if (!Object.hasOwn(struct.fields, key)) throw missing(struct.goName)
  return struct.fields[key]!
}

/** The merge metadata of a field of a type. Throws in Kubernetes' words if the field does not exist. */
export function patchMetadata(type: FieldType, key: string): PatchMetadata {
  const field = findField(type, key)
  const strategies = field.patchStrategy?.split(',') ?? []
  const strategy = strategies.includes('merge') ? 'merge' : strategies.includes('replace') ? 'replace' : undefined
  return { type: field.type, strategy, mergeKey: field.patchMergeKey }
}

/** As patchMetadata, for a list field: `type` is the type of its items. */
export function listMetadata(type: FieldType, key: string): PatchMetadata {
  const metadata = patchMetadata(type, key)
  if (metadata.type.kind !== 'list')
    throw fault(`expected slice or array type, but got: ${goKinds[type.kind] ?? type.kind}`)
  return { ...metadata, type: metadata.type.of }
}
