import type { ListMerging, MergeType } from '../managed-fields/merge-type.ts'
import { type Schema, isIntOrString, keepsUnknown, listKeys } from './schema.ts'

const scalar: MergeType = { kind: 'scalar', of: 'any' }
const untyped: MergeType = { kind: 'untyped' }
const amount: MergeType = { kind: 'scalar', of: 'number' }
const scalars: Record<string, MergeType> = {
  string: { kind: 'scalar', of: 'string' },
  boolean: { kind: 'scalar', of: 'boolean' },
  integer: amount,
  number: amount,
}

/** The merge type of values of a structural schema. The schema of metadata is Kubernetes' own and is not used here. */
export function mergeTypeOf(schema: Schema): MergeType {
  if (isIntOrString(schema)) return scalar
  switch (schema.type) {
    case 'array':
      return { kind: 'list', merging: mergingOf(schema), items: schema.items ? mergeTypeOf(schema.items) : untyped }
    case 'object':
      return mapType(schema)
    case undefined:
    case '':
      return keepsUnknown(schema) && schema.properties ? mapType(schema) : untyped
    default:
      return scalars[schema.type] ?? scalar
  }
}

function mapType(schema: Schema): MergeType {
  const { properties = {}, additionalProperties } = schema
  const known = new Map<string, MergeType>()
  const lazily = (name: string, part: Schema) => {
    let type = known.get(name)
    if (!type) known.set(name, (type = mergeTypeOf(part)))
    return type
  }
  const rest = typeof additionalProperties === 'object' ? additionalProperties : undefined
  const keepsRest = keepsUnknown(schema) || additionalProperties === true
  let values: MergeType | undefined
  return {
    kind: 'map',
    isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
    declares: (name) => Object.hasOwn(properties, name),
    field(name) {
      if (Object.hasOwn(properties, name)) return lazily(name, properties[name]!)
      if (rest) return (values ??= mergeTypeOf(rest))
      return keepsRest ? untyped : undefined
    },
  }
}

function mergingOf(schema: Schema): ListMerging {
  const keys = listKeys(schema)
  if (!keys) return { kind: schema['x-kubernetes-list-type'] === 'set' ? 'set' : 'atomic' }
  const properties = schema.items?.properties ?? {}
  return {
    kind: 'map',
    keys,
    defaultOf(key) {
      const value = Object.hasOwn(properties, key) ? properties[key]!.default : undefined
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
    },
  }
}
