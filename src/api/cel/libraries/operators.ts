import { type Library, type Overload, globalOverload } from '../declarations.ts'
import {
  type CelType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  mapType,
  optionalType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts'
import { noSuchOverload } from '../values.ts'

/** Operators are declared here for their types. The compiler implements them. */
const unused = () => {
  throw noSuchOverload()
}
const overload = (id: string, args: CelType[], result: CelType): Overload => globalOverload(id, args, result, unused)

const A = paramType('A')
const B = paramType('B')
const listA = listType(A)
const mapAB = mapType(A, B)

const names: [string, CelType][] = [
  ['bool', boolType],
  ['int64', intType],
  ['uint64', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
]
const numbers = names.slice(1, 4)

/** Comparison operators: within one type, and between numbers of different types. */
function comparison(prefix: string): Overload[] {
  const same = names.map(([name, type]) => overload(`${prefix}_${name}`, [type, type], boolType))
  const mixed = numbers.flatMap(([left, a]) =>
    numbers
      .filter(([right]) => right !== left)
      .map(([right, b]) => overload(`${prefix}_${left}_${right}`, [a, b], boolType)),
  )
  return [...same, ...mixed]
}

const arithmetic = (prefix: string, kinds: [string, CelType][]): Overload[] =>
  kinds.map(([name, type]) => overload(`${prefix}_${name}`, [type, type], type))

/** The operators of the language, and the functions that macros expand to. */
export const operators: Library = {
  name: 'operators',
  functions: {
    '_&&_': [overload('logical_and', [boolType, boolType], boolType)],
    '_||_': [overload('logical_or', [boolType, boolType], boolType)],
    '!_': [overload('logical_not', [boolType], boolType)],
    '@not_strictly_false': [overload('not_strictly_false', [boolType], boolType)],
    '_?_:_': [overload('conditional', [boolType, A, A], A)],
    '_==_': [overload('equals', [A, A], boolType)],
    '_!=_': [overload('not_equals', [A, A], boolType)],
    '_<_': comparison('less'),
    '_<=_': comparison('less_equals'),
    '_>_': comparison('greater'),
    '_>=_': comparison('greater_equals'),
    '_+_': [
      overload('add_bytes', [bytesType, bytesType], bytesType),
      overload('add_double', [doubleType, doubleType], doubleType),
      overload('add_duration_duration', [durationType, durationType], durationType),
      overload('add_duration_timestamp', [durationType, timestampType], timestampType),
      overload('add_timestamp_duration', [timestampType, durationType], timestampType),
      overload('add_int64', [intType, intType], intType),
      overload('add_list', [listA, listA], listA),
      overload('add_string', [stringType, stringType], stringType),
      overload('add_uint64', [uintType, uintType], uintType),
    ],
    '_-_': [
      ...arithmetic('subtract', numbers),
      overload('subtract_duration_duration', [durationType, durationType], durationType),
      overload('subtract_timestamp_duration', [timestampType, durationType], timestampType),
      overload('subtract_timestamp_timestamp', [timestampType, timestampType], durationType),
    ],
    '_*_': arithmetic('multiply', numbers),
    '_/_': arithmetic('divide', numbers),
    '_%_': arithmetic('modulo', numbers.slice(0, 2)),
    '-_': [overload('negate_double', [doubleType], doubleType), overload('negate_int64', [intType], intType)],
    '@in': [overload('in_list', [A, listA], boolType), overload('in_map', [A, mapAB], boolType)],
    '_[_]': [
      overload('index_list', [listA, intType], A),
      overload('index_map', [mapAB, A], B),
      overload('optional_list_index_int', [optionalType(listA), intType], optionalType(A)),
      overload('optional_map_index_value', [optionalType(mapAB), A], optionalType(B)),
    ],
    '_[?_]': [
      overload('list_optindex_optional_int', [listA, intType], optionalType(A)),
      overload('optional_list_optindex_optional_int', [optionalType(listA), intType], optionalType(A)),
      overload('map_optindex_optional_value', [mapAB, A], optionalType(B)),
      overload('optional_map_optindex_optional_value', [optionalType(mapAB), A], optionalType(B)),
    ],
    'cel.@mapInsert': [
      overload('@mapInsert_map_key_value', [mapAB, A, B], mapAB),
      overload('@mapInsert_map_map', [mapAB, mapAB], mapAB),
    ],
  },
}
