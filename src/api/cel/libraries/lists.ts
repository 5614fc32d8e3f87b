import { type Library, type Meter, type Overload, charge, globalOverload, memberOverload } from '../declarations.ts'
import { compareValues, equals, scalarKey } from '../equality.ts'
import { add } from '../run/operators.ts'
import { type Frame, costSize, traversalCost } from '../run/frame.ts'
import {
  type CelType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts'
import { CelError, Double, Duration, MapValue, Uint, type Value, isInt, noSuchOverload, typeName } from '../values.ts'

const T = paramType('T')
const listT = listType(T)

const comparable: [string, CelType][] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
]
const summable: [string, CelType, Value][] = [
  ['int', intType, 0],
  ['uint', uintType, new Uint(0n)],
  ['double', doubleType, new Double(0)],
  ['duration', durationType, new Duration(0n)],
]

const traversed = (_: Value, list: Value) => traversalCost(list)
/** The cost of each compared element, for functions that cel-go charges too little for. */
const comparisonCost = 4
const distinctCost = 16

/** A function that visits every element. The cost is charged before it runs. */
const counted =
  (perElement: number, run: Overload['run']): Overload['run'] =>
  (meter, list: Value[], ...rest: Value[]) => {
    charge(meter, list.length * perElement)
    return run(meter, list, ...rest)
  }

function isSorted(_: Meter, list: Value[]): boolean {
  for (let i = 1; i < list.length; i++) if (compareValues(list[i - 1]!, list[i]!) > 0) return false
  return true
}

const extreme = (name: string, sign: 1 | -1) => (_: Meter, list: Value[]) => {
  if (list.length === 0) throw new CelError(`${name} called on empty list`)
  return list.reduce((best, element) => (compareValues(element, best) * sign > 0 ? element : best))
}

const sum = (zero: Value) => (meter: Meter, list: Value[]) =>
  list.reduce((total, element) => add(meter as Frame, total, element), zero)

const perType = (
  name: string,
  result: (type: CelType) => CelType,
  run: Overload['run'],
  cost: Overload['cost'] = traversed,
) => comparable.map(([kind, type]) => memberOverload(`list_${kind}_${name}`, [listType(type)], result(type), run, cost))

function indexOf(meter: Meter, list: Value[], wanted: Value): number {
  return list.findIndex((element) => equals(meter, element, wanted))
}

function lastIndexOf(meter: Meter, list: Value[], wanted: Value): number {
  return list.findLastIndex((element) => equals(meter, element, wanted))
}

function slice(meter: Meter, list: Value[], from: number, to: number): Value[] {
  if (from < 0 || to < 0) throw new CelError(`cannot slice(${from}, ${to}), negative indexes not supported`)
  if (from > to) throw new CelError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`)
  if (list.length < to) throw new CelError(`cannot slice(${from}, ${to}), list is length ${list.length}`)
  charge(meter, (to - from) / 10)
  return list.slice(from, to)
}

function flatten(meter: Meter, list: Value[], depth = 1): Value[] {
  if (depth < 0) throw new CelError('level must be non-negative')
  charge(meter, list.length)
  return list.flatMap((element) =>
    Array.isArray(element) && depth > 0 ? flatten(meter, element, depth - 1) : [element],
  )
}

/** Sorts the elements of a list by keys. All keys must have the same ordered type. */
function sortedBy(meter: Meter, list: Value[], keys: Value[]): Value[] {
  if (list.length === 0) return list
  const kind = typeName(keys[0]!)
  if (Array.isArray(keys[0]) || keys[0] instanceof MapValue || keys[0] === null)
    throw new CelError('list elements must be comparable')
  if (keys.some((key) => typeName(key) !== kind)) throw new CelError('list elements must have the same type')
  charge(meter, list.length * Math.ceil(Math.log2(list.length + 1)) * comparisonCost)
  const places = keys.map((_, i) => i).sort((a, b) => compareValues(keys[a]!, keys[b]!) || a - b)
  return places.map((place) => list[place]!)
}

const isScalar = (value: Value) => typeof value !== 'object' || value instanceof Double || value instanceof Uint

/** The distinct elements of a list. Scalars are compared with a set, other values one by one. */
function distinct(meter: Meter, list: Value[]): Value[] {
  const known = new Set<unknown>()
  const kept: Value[] = []
  for (const element of list) {
    charge(meter, distinctCost)
    if (isScalar(element)) {
      const key = typeof element === 'string' ? `s${element}` : scalarKey(element)
      if (known.has(key)) continue
      known.add(key)
      kept.push(element)
    } else if (!kept.some((other) => (charge(meter, 1), equals(meter, other, element)))) kept.push(element)
  }
  return kept
}

const maxRange = 1_000_000

function range(meter: Meter, count: Value): Value[] {
  if (!isInt(count)) throw noSuchOverload()
  if (count > maxRange) throw new CelError(`range is limited to ${maxRange} elements`)
  const length = Math.max(0, Number(count))
  charge(meter, length)
  const list: Value[] = []
  for (let i = 0; i < length; i++) list.push(i)
  return list
}

/** Kubernetes' functions of lists, and version 3 of cel-go's lists extension. */
export const lists: Library = {
  name: 'lists',
  functions: {
    isSorted: perType('is_sorted', () => boolType, counted(2, isSorted)),
    min: perType('min', (type) => type, counted(2, extreme('min', -1))),
    max: perType('max', (type) => type, counted(2, extreme('max', 1))),
    sum: summable.map(([kind, type, zero]) =>
      memberOverload(`list_${kind}_sum`, [listType(type)], type, counted(1, sum(zero)), traversed),
    ),
    indexOf: [memberOverload('list_a_index_of_int', [listT, T], intType, counted(3, indexOf), traversed)],
    lastIndexOf: [memberOverload('list_a_last_index_of_int', [listT, T], intType, counted(3, lastIndexOf), traversed)],
    slice: [memberOverload('list_slice', [listT, intType, intType], listT, slice)],
    flatten: [
      memberOverload('list_flatten', [listType(listT)], listT, flatten),
      memberOverload('list_flatten_int', [listType(dynType), intType], listType(dynType), flatten),
    ],
    sort: perType(
      'sort',
      (type) => listType(type),
      (meter, list: Value[]) => sortedBy(meter, list, list),
      (_, list) => costSize(list),
    ),
    '@sortByAssociatedKeys': comparable.map(([kind, type]) =>
      memberOverload(`list_${kind}_sortByAssociatedKeys`, [listT, listType(type)], listT, sortedBy, (_, list: Value) =>
        costSize(list),
      ),
    ),
    'lists.range': [globalOverload('lists_range', [intType], listType(intType), range)],
    reverse: [
      memberOverload(
        'list_reverse',
        [listT],
        listT,
        (meter, list: Value[]) => (charge(meter, list.length / 10), list.toReversed()),
      ),
    ],
    distinct: [memberOverload('list_distinct', [listT], listT, distinct)],
  },
}
