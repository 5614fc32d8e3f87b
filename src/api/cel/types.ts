/** Limits of a schema on data of a type. They affect estimated costs, not type checking. */
export interface SchemaFacts {
  /** The maximum number of elements of a list or map, or characters of a string, in one request. */
  maxElements?: number
  /** The minimum size in bytes of a value in JSON. */
  minSize?: number
  isNullable?: boolean
  /** Format `date`: a timestamp without a time of day. */
  isDate?: boolean
  isIntOrString?: boolean
  listKind?: 'set' | 'map'
  /** The key fields of a list of type `map`, by their JSON names. */
  mapKeys?: readonly string[]
}

type ScalarKind = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'null' | 'timestamp' | 'duration'

/** A field of an object: its JSON name (which may differ from the escaped name in expressions) and its type. */
export interface Field {
  jsonName: string
  type: CelType
}

export interface ObjectType {
  kind: 'object'
  name: string
  /** Fields by their escaped names. */
  fields: ReadonlyMap<string, Field>
  facts?: SchemaFacts
}

/** A CEL type. `param` is a type variable of a generic function, or one that stands for a type not yet inferred. */
export type CelType =
  | { kind: 'dyn' | 'error' | ScalarKind; facts?: SchemaFacts }
  | { kind: 'list'; element: CelType; facts?: SchemaFacts }
  | { kind: 'map'; key: CelType; value: CelType; facts?: SchemaFacts }
  | ObjectType
  | { kind: 'opaque'; name: string; params: readonly CelType[]; facts?: SchemaFacts }
  | { kind: 'type'; of?: CelType; facts?: SchemaFacts }
  | { kind: 'param'; name: string; facts?: SchemaFacts }

export const dynType: CelType = { kind: 'dyn' }
export const errorType: CelType = { kind: 'error' }
export const boolType: CelType = { kind: 'bool' }
export const intType: CelType = { kind: 'int' }
export const uintType: CelType = { kind: 'uint' }
export const doubleType: CelType = { kind: 'double' }
export const stringType: CelType = { kind: 'string' }
export const bytesType: CelType = { kind: 'bytes' }
export const nullType: CelType = { kind: 'null' }
export const timestampType: CelType = { kind: 'timestamp' }
export const durationType: CelType = { kind: 'duration' }

export const listType = (element: CelType): CelType => ({ kind: 'list', element })
export const mapType = (key: CelType, value: CelType): CelType => ({ kind: 'map', key, value })
export const paramType = (name: string): CelType => ({ kind: 'param', name })
export const opaqueType = (name: string, ...params: CelType[]): CelType => ({ kind: 'opaque', name, params })
export const typeType = (of?: CelType): CelType => (of ? { kind: 'type', of } : { kind: 'type' })
export const optionalType = (of: CelType): CelType => opaqueType('optional_type', of)

/** An object type whose fields have the same names in JSON and in expressions. */
export const objectType = (name: string, fields: Record<string, CelType>): ObjectType => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields).map(([field, type]) => [field, { jsonName: field, type }])),
})

/** The element type of an optional; undefined for any other type. */
export const optionalOf = (type: CelType): CelType | undefined =>
  type.kind === 'opaque' && type.name === 'optional_type' ? type.params[0] : undefined

/** The type arguments of a type. */
export function paramsOf(type: CelType): readonly CelType[] {
  if (type.kind === 'list') return [type.element]
  if (type.kind === 'map') return [type.key, type.value]
  if (type.kind === 'opaque') return type.params
  return []
}

/** The same type with other type arguments. */
export function withParams(type: CelType, params: readonly CelType[]): CelType {
  if (type.kind === 'list') return { ...type, element: params[0]! }
  if (type.kind === 'map') return { ...type, key: params[0]!, value: params[1]! }
  if (type.kind === 'opaque') return { ...type, params }
  return type
}

/** The name of a type as cel-go prints it in errors. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'error':
      return '!error!'
    case 'param':
    case 'object':
      return type.name
    case 'type':
      return type.of ? `type(${formatType(type.of)})` : 'type'
    case 'list':
    case 'map':
    case 'opaque': {
      const params = paramsOf(type)
      const name = type.kind === 'opaque' ? type.name : type.kind
      return params.length ? `${name}(${params.map(formatType).join(', ')})` : name
    }
    default:
      return type.kind
  }
}

/** Formats the argument types of a call, `string.(int)` for a member: as in "no matching overload" errors. */
export function formatSignature(types: readonly CelType[], isMember: boolean): string {
  const [target, ...rest] = types
  if (isMember) return `${formatType(target!)}.(${rest.map(formatType).join(', ')})`
  return `(${types.map(formatType).join(', ')})`
}
