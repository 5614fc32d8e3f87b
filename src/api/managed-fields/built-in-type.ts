import { type Field, type FieldType, fieldOf, structOf } from '../schema/index.ts'
import type { ListMerging, MapType, MergeType } from './merge-type.ts'

const scalar: MergeType = { kind: 'scalar' }
const text: MergeType = { kind: 'scalar', of: 'string' }
const amount: MergeType = { kind: 'scalar', of: 'number' }
const flag: MergeType = { kind: 'scalar', of: 'boolean' }
const anyScalar: MergeType = { kind: 'scalar', of: 'any' }
const scalars: Partial<Record<FieldType['kind'], MergeType>> = {
  string: text,
  bytes: text,
  time: text,
  microTime: text,
  boolean: flag,
  int32: amount,
  int64: amount,
  double: amount,
  duration: text,
  quantity: anyScalar,
  intOrString: anyScalar,
}
const atomic: ListMerging = { kind: 'atomic' }

/**
 * The default of a list key in Kubernetes' schema: an item may omit it. Keys that are always serialized default to
 * their zero value.
 */
function keyDefault(items: FieldType, key: string): string | number | undefined {
  if (key === 'protocol') return 'TCP'
  const field = items.kind === 'struct' ? fieldOf(items.name, key) : undefined
  if (field?.zero !== 'emit') return undefined
  return field.type.kind === 'string' ? '' : field.type.kind === 'int32' ? 0 : undefined
}

const structs = new Map<string, MapType>()

/** The merge type of one of Kubernetes' types, derived from the schema table. */
export function builtInMergeType(name: string): MapType {
  let type = structs.get(name)
  if (!type) structs.set(name, (type = structType(name)))
  return type
}

function structType(name: string): MapType {
  const struct = structOf(name)
  const known = new Map<string, MergeType>()
  return {
    kind: 'map',
    isAtomic: struct?.mapType === 'atomic',
    declares: (field) => struct !== undefined && Object.hasOwn(struct.fields, field),
    field(field) {
      let type = known.get(field)
      if (type || !struct || !Object.hasOwn(struct.fields, field)) return type
      known.set(field, (type = fieldMergeType(struct.fields[field]!.type, struct.fields[field]!)))
      return type
    },
  }
}

/** `field` has the merge hints of the outermost type. Nested types have none. */
function fieldMergeType(type: FieldType, field: Field | undefined): MergeType {
  switch (type.kind) {
    case 'struct':
      return field?.mapType === 'atomic'
        ? { ...builtInMergeType(type.name), isAtomic: true }
        : builtInMergeType(type.name)
    case 'list':
      return {
        kind: 'list',
        merging: field ? mergingOf(field, type.of) : atomic,
        items: fieldMergeType(type.of, undefined),
      }
    case 'map': {
      const items = fieldMergeType(type.of, undefined)
      return { kind: 'map', isAtomic: field?.mapType === 'atomic', field: () => items, declares: () => false }
    }
    default:
      return scalars[type.kind] ?? scalar
  }
}

function mergingOf({ listType, listMapKeys = [] }: Field, items: FieldType): ListMerging {
  if (listType === 'set') return { kind: 'set' }
  return listType === 'map' ? { kind: 'map', keys: listMapKeys, defaultOf: (key) => keyDefault(items, key) } : atomic
}
