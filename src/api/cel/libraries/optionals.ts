import { type Library, globalOverload, memberOverload } from '../declarations.ts'
import { boolType, listType, optionalType, paramType } from '../types.ts'
import {
  CelError,
  Double,
  Duration,
  MapValue,
  Optional,
  Timestamp,
  Uint,
  type Value,
  noSuchOverload,
} from '../values.ts'

const V = paramType('V')
const optionalV = optionalType(V)

/** True if a value is the zero of its type: 0, '', an empty list or map, null. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0
  if (value instanceof MapValue) return value.size === 0
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Duration || value instanceof Timestamp) return value.nanos === 0n
  return value instanceof Optional && value.value === undefined
}

function unwrap(_: unknown, list: Value[]): Value[] {
  return list.flatMap((element) => {
    if (!(element instanceof Optional)) throw noSuchOverload()
    return element.value === undefined ? [] : [element.value]
  })
}

/** Optional values. `or` and `orValue` evaluate their argument only if there is no value. */
export const optionals: Library = {
  name: 'optionals',
  functions: {
    'optional.of': [globalOverload('optional_of', [V], optionalV, (_, value: Value) => new Optional(value))],
    'optional.ofNonZeroValue': [
      globalOverload('optional_ofNonZeroValue', [V], optionalV, (_, value: Value) =>
        isZero(value) ? Optional.none : new Optional(value),
      ),
    ],
    'optional.none': [globalOverload('optional_none', [], optionalV, () => Optional.none)],
    'optional.unwrap': [globalOverload('optional_unwrap', [listType(optionalV)], listType(V), unwrap)],
    unwrapOpt: [memberOverload('optional_unwrapOpt', [listType(optionalV)], listType(V), unwrap)],
    hasValue: [
      memberOverload(
        'optional_hasValue',
        [optionalV],
        boolType,
        (_, optional: Optional) => optional.value !== undefined,
      ),
    ],
    value: [
      memberOverload('optional_value', [optionalV], V, (_, optional: Optional) => {
        if (optional.value === undefined) throw new CelError('optional.none() dereference')
        return optional.value
      }),
    ],
    or: [
      memberOverload(
        'optional_or_optional',
        [optionalV, optionalV],
        optionalV,
        (_, optional: Optional, other: Optional) => (optional.value === undefined ? other : optional),
      ),
    ],
    orValue: [
      memberOverload('optional_orValue_value', [optionalV, V], V, (_, optional: Optional, other: Value) =>
        optional.value === undefined ? other : optional.value,
      ),
    ],
  },
}
