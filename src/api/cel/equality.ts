import { type Meter, charge } from './declarations.ts'
import { compareNumbers, numericValue } from './numbers.ts'
import {
  Double,
  Duration,
  type ListValue,
  MapValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  isInt,
  noSuchOverload,
} from './values.ts'

/** Number of list elements that are compared at cost 1. cel-go counts only the elements of the outermost list. */
const elementsPerUnit = 4

/** The cost of comparing two maps or objects, and the cost of each of their entries. */
const mapCost = 40
const entryCost = 15

function equalLists(meter: Meter, a: ListValue, b: ListValue): boolean {
  if (a.length !== b.length) return false
  charge(meter, a.length / elementsPerUnit)
  if (a.isSet) return hasEach(a, b)
  if (a.mapKeys) return equalByKey(meter, a, b, a.mapKeys)
  for (let i = 0; i < a.length; i++) if (!equals(meter, a[i]!, b[i]!)) return false
  return true
}

/** True if a set contains all elements of a list of scalars. */
function hasEach(set: ListValue, list: ListValue): boolean {
  const known = new Set(set.map(scalarKey))
  return list.every((element) => known.has(scalarKey(element)))
}

/** The key of a scalar in a Set: equal scalars have equal keys. */
export function scalarKey(value: Value): unknown {
  const number = numericValue(value)
  if (number !== undefined)
    return typeof number === 'bigint' && Number.isSafeInteger(Number(number)) ? Number(number) : number
  if (value instanceof Timestamp || value instanceof Duration) return value.nanos
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value
}

/** The key of an element of a list map, built from the values of its key fields. */
export function elementKey(element: Value, keys: readonly string[]): string {
  if (!(element instanceof MapValue)) return ''
  return keys.map((key) => `${typeof element.get(key)}:${String(scalarKey(element.get(key) ?? null))}`).join('\0')
}

function equalByKey(meter: Meter, a: ListValue, b: ListValue, keys: readonly string[]): boolean {
  const byKey = new Map(a.map((element) => [elementKey(element, keys), element]))
  for (const element of b) {
    const other = byKey.get(elementKey(element, keys))
    if (other === undefined || !equals(meter, other, element)) return false
  }
  return true
}

function equalMaps(meter: Meter, a: MapValue, b: MapValue): boolean {
  if (a.size !== b.size) return false
  charge(meter, mapCost + a.size * entryCost)
  for (const key of a.keys()) {
    const [left, right] = [a.get(key), b.get(key)]
    if (left === undefined || right === undefined || !equals(meter, left, right)) return false
  }
  return true
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

/** CEL's equality: numbers of different types are compared by value, values of different types are not equal. */
export function equals(meter: Meter, a: Value, b: Value): boolean {
  if (a === b) return true
  if (typeof a === 'string' || typeof a === 'boolean' || a === null || b === null) return false
  const number = numericValue(a)
  if (number !== undefined) {
    const other = numericValue(b)
    return other !== undefined && compareNumbers(number, other) === 0
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(meter, a, b)
  if (a instanceof MapValue) return b instanceof MapValue && equalMaps(meter, a, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false
    if (a.value === undefined || b.value === undefined) return a.value === b.value
    return equals(meter, a.value, b.value)
  }
  return a instanceof Opaque && b instanceof Opaque && a.typeName === b.typeName && a.equals(b)
}

/**
 * Compares two strings by code points. Comparing UTF-16 units would sort surrogates (code points above U+FFFF) before
 * U+E000 to U+FFFF.
 */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) {
      const [isXHigh, isYHigh] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff]
      if (isXHigh !== isYHigh) return isXHigh ? 1 : -1
      return x < y ? -1 : 1
    }
  }
  return a.length < b.length ? -1 : 1
}

/** Compares two values: -1, 0 or 1; NaN if one is NaN. Throws if the values are not ordered. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (isInt(a) || a instanceof Double || a instanceof Uint) {
    const other = numericValue(b)
    if (other === undefined) throw noSuchOverload()
    return compareNumbers(numericValue(a)!, other)
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (a instanceof Timestamp && b instanceof Timestamp) return compareNumbers(a.nanos, b.nanos)
  if (a instanceof Duration && b instanceof Duration) return compareNumbers(a.nanos, b.nanos)
  throw noSuchOverload()
}
