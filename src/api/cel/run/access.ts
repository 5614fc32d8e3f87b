import { CelError, MapValue, Optional, type PlainMap, type Value, mapKey, noSuchOverload } from '../values.ts'

const noSuchKey = (key: Value) =>
  new CelError(`no such key: ${typeof key === 'object' ? String(mapKey(key)) : String(key)}`)

/** Selects a field or key of a map or object, or of the value in an optional. Throws if it is missing. */
export function selectFrom(operand: Value, key: Value): Value {
  if (operand instanceof MapValue) {
    const value = operand.get(key)
    if (value === undefined) throw noSuchKey(key)
    return value
  }
  if (operand instanceof Optional) return operand.value === undefined ? operand : optionalSelect(operand.value, key)
  throw noSuchOverload()
}

/** Selects a field or key as an optional. */
export function optionalSelect(operand: Value, key: Value): Optional {
  if (operand instanceof Optional) return operand.value === undefined ? operand : optionalSelect(operand.value, key)
  if (operand instanceof MapValue) {
    const value = operand.get(key)
    return value === undefined ? Optional.none : new Optional(value)
  }
  throw noSuchOverload()
}

/** `has(operand.field)`. */
export function hasField(operand: Value, field: string): boolean {
  if (operand instanceof MapValue) return operand.has(field)
  if (operand instanceof Optional) return operand.value !== undefined && hasField(operand.value, field)
  throw noSuchOverload()
}

/** Adds an entry to a map literal. Throws if the key is repeated. */
export function insertEntry(map: PlainMap, key: Value, value: Value): void {
  if (map.insert(key, value)) return
  if (mapKey(key) === undefined) throw new CelError('unsupported key type')
  throw new CelError(`insert failed: key ${String(mapKey(key))} already exists`)
}
