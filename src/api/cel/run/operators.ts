import { type Meter, charge } from '../declarations.ts'
import { compareValues, elementKey, equals, scalarKey } from '../equality.ts'
import {
  addInts,
  addUints,
  divideInts,
  divideUints,
  moduloInts,
  moduloUints,
  multiplyInts,
  multiplyUints,
  negateInt,
  subtractInts,
  subtractUints,
} from '../numbers.ts'
import { checkedDuration, checkedTimestamp } from '../time.ts'
import {
  CelError,
  Double,
  Duration,
  type ListValue,
  MapValue,
  Optional,
  Timestamp,
  Uint,
  type Value,
  isInt,
  noSuchOverload,
} from '../values.ts'
import { type Frame, characterCost, costSize } from './frame.ts'
import { optionalSelect, selectFrom } from './access.ts'

/** The cost of copying one element. */
const copyCost = 0.9

/** The cost of comparing two values: the cost of reading the shorter one. */
const comparisonCost = (a: Value, b: Value): number => {
  const size = Math.min(costSize(a), costSize(b))
  return size <= 10 ? (size === 0 ? 0 : 1) : Math.ceil(size * characterCost)
}

/** `a == b` with its cost. */
export function equal(frame: Frame, a: Value, b: Value): boolean {
  frame.cost += typeof a === 'number' || typeof a === 'boolean' ? 1 : comparisonCost(a, b)
  return equals(frame, a, b)
}

/** The order of two values with its cost. */
export function order(frame: Frame, a: Value, b: Value): number {
  frame.cost += typeof a === 'number' ? 1 : comparisonCost(a, b)
  return compareValues(a, b)
}

function addLists(frame: Frame, a: ListValue, b: ListValue): Value {
  // cel-go links lists and charges 1; here they are copied.
  charge(frame, 1 + (a.length + b.length) * copyCost)
  if (a.isSet) {
    const known = new Set(a.map(scalarKey))
    const union: ListValue = [...a, ...b.filter((element) => !known.has(scalarKey(element)))]
    union.isSet = true
    return union
  }
  if (a.mapKeys) return mergeByKey(a, b, a.mapKeys)
  return a.concat(b)
}

function mergeByKey(a: ListValue, b: ListValue, keys: readonly string[]): Value {
  const merged: ListValue = [...a]
  const places = new Map(a.map((element, i) => [elementKey(element, keys), i]))
  for (const element of b) {
    const place = places.get(elementKey(element, keys))
    if (place === undefined) merged.push(element)
    else merged[place] = element
  }
  merged.mapKeys = keys
  return merged
}

/** `a + b` with its cost. */
export function add(frame: Frame, a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) {
    frame.cost++
    return addInts(a, b)
  }
  if (typeof a === 'string' && typeof b === 'string') {
    charge(frame, 2 + Math.ceil((a.length + b.length) * characterCost))
    return a + b
  }
  if (Array.isArray(a) && Array.isArray(b)) return addLists(frame, a, b)
  frame.cost += 5
  if (a instanceof Double && b instanceof Double) return new Double(a.value + b.value)
  if (a instanceof Uint && b instanceof Uint) return addUints(a, b)
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.nanos + b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return checkedTimestamp(a.nanos + b.nanos)
  if (a instanceof Duration && b instanceof Timestamp) return checkedTimestamp(a.nanos + b.nanos)
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    charge(frame, Math.ceil((a.length + b.length) * characterCost))
    return new Uint8Array(Buffer.concat([a, b]))
  }
  throw noSuchOverload()
}

/** `a - b`. */
export function subtract(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) return subtractInts(a, b)
  if (a instanceof Double && b instanceof Double) return new Double(a.value - b.value)
  if (a instanceof Uint && b instanceof Uint) return subtractUints(a, b)
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.nanos - b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return checkedTimestamp(a.nanos - b.nanos)
  if (a instanceof Timestamp && b instanceof Timestamp) return checkedDuration(a.nanos - b.nanos)
  throw noSuchOverload()
}

/** `a * b`. */
export function multiply(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) return multiplyInts(a, b)
  if (a instanceof Double && b instanceof Double) return new Double(a.value * b.value)
  if (a instanceof Uint && b instanceof Uint) return multiplyUints(a, b)
  throw noSuchOverload()
}

/** `a / b`. */
export function divide(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) return divideInts(a, b)
  if (a instanceof Double && b instanceof Double) return new Double(a.value / b.value)
  if (a instanceof Uint && b instanceof Uint) return divideUints(a, b)
  throw noSuchOverload()
}

/** `a % b`. */
export function modulo(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) return moduloInts(a, b)
  if (a instanceof Uint && b instanceof Uint) return moduloUints(a, b)
  throw noSuchOverload()
}

/** `-a`. */
export function negate(a: Value): Value {
  if (isInt(a)) return negateInt(a)
  if (a instanceof Double) return new Double(-a.value)
  throw noSuchOverload()
}

/** The list position of an index: an int, or another number without a fraction. */
function listIndex(index: Value): number {
  if (typeof index === 'number') return index
  if (typeof index === 'bigint') return Number(index)
  if (index instanceof Uint) return Number(index.value)
  if (index instanceof Double && Number.isInteger(index.value)) return index.value
  throw new CelError(`unsupported index value`)
}

/** `a[i]`; of an optional, an optional. */
export function index(a: Value, i: Value): Value {
  if (Array.isArray(a)) {
    const at = listIndex(i)
    const value = a[at]
    if (value === undefined) throw new CelError(`index out of bounds: ${at}`)
    return value
  }
  if (a instanceof Optional) return a.value === undefined ? a : optionalIndex(a.value, i)
  return selectFrom(a, i)
}

/** `a[?i]`. */
export function optionalIndex(a: Value, i: Value): Optional {
  if (a instanceof Optional) return a.value === undefined ? a : optionalIndex(a.value, i)
  if (!Array.isArray(a)) return optionalSelect(a, i)
  const value = a[listIndex(i)]
  return value === undefined ? Optional.none : new Optional(value)
}

/** `a in b`. */
export function isIn(frame: Meter, a: Value, b: Value): boolean {
  if (Array.isArray(b)) {
    charge(frame, b.length)
    if (typeof a === 'string' || typeof a === 'boolean') return b.includes(a)
    return b.some((element) => equals(frame, element, a))
  }
  if (!(b instanceof MapValue)) throw noSuchOverload()
  frame.cost++
  return b.has(a)
}
