import { countCodePoints } from '../code-points.ts'
import { type Library, type Meter, type Overload, charge, globalOverload, memberOverload } from '../declarations.ts'
import { patternFor } from '../pattern.ts'
import { readCost } from '../run/frame.ts'
import {
  type CelType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalType,
  paramType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from '../types.ts'
import { CelError, type MapValue, TypeValue, type Value, typeName } from '../values.ts'

const A = paramType('A')
const B = paramType('B')

/** Number of characters that are counted at cost 1. */
const countedPerUnit = 4

function textSize(meter: Meter, text: string): number {
  if (text.length > 1000) charge(meter, text.length / countedPerUnit)
  return countCodePoints(text)
}

const sizeOf: [string, CelType, Overload['run']][] = [
  ['string', stringType, textSize],
  ['bytes', bytesType, (_, bytes: Uint8Array) => bytes.length],
  ['list', listType(A), (_, list: Value[]) => list.length],
  ['map', mapType(A, B), (_, map: MapValue) => map.size],
]

function matches(meter: Meter, text: string, pattern: string): boolean {
  const compiled = patternFor(meter, pattern, text)
  if (!compiled) throw new CelError(`error parsing regexp: ${pattern}`)
  return compiled.test(text)
}

const containsCost = (_: Value, text: string, part: string) => readCost(text) * readCost(part)
const edgeCost = (_: Value, __: string, part: string) => readCost(part)

const text2 = [stringType, stringType]

/** Functions of the language, without conversions and time. */
export const standard: Library = {
  name: 'standard',
  functions: {
    size: sizeOf.flatMap(([name, type, run]) => [
      globalOverload(`size_${name}`, [type], intType, run),
      memberOverload(`${name}_size`, [type], intType, run),
    ]),
    contains: [
      memberOverload(
        'contains_string',
        text2,
        boolType,
        (_, text: string, part: string) => text.includes(part),
        containsCost,
      ),
    ],
    startsWith: [
      memberOverload(
        'starts_with_string',
        text2,
        boolType,
        (_, text: string, part: string) => text.startsWith(part),
        edgeCost,
      ),
    ],
    endsWith: [
      memberOverload(
        'ends_with_string',
        text2,
        boolType,
        (_, text: string, part: string) => text.endsWith(part),
        edgeCost,
      ),
    ],
    matches: [
      globalOverload('matches', text2, boolType, matches, () => 0),
      memberOverload('matches_string', text2, boolType, matches, () => 0),
    ],
    type: [globalOverload('type', [A], typeType(A), (_, value: Value) => new TypeValue(typeName(value)))],
    dyn: [globalOverload('to_dyn', [A], dynType, (_, value: Value) => value)],
  },
  types: {
    bool: boolType,
    int: intType,
    uint: uintType,
    double: doubleType,
    string: stringType,
    bytes: bytesType,
    list: listType(dynType),
    map: mapType(dynType, dynType),
    null_type: nullType,
    type: typeType(),
    'google.protobuf.Timestamp': timestampType,
    'google.protobuf.Duration': durationType,
    optional_type: optionalType(dynType),
    dyn: dynType,
    'net.IP': opaqueType('net.IP'),
    'net.CIDR': opaqueType('net.CIDR'),
  },
}
