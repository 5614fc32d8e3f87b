import { type Library, type Meter, charge, globalOverload } from '../declarations.ts'
import { equals } from '../equality.ts'
import { boolType, listType, paramType } from '../types.ts'
import type { Value } from '../values.ts'

const listT = listType(paramType('T'))

function has(meter: Meter, list: Value[], wanted: Value): boolean {
  charge(meter, 1)
  if (typeof wanted === 'string') {
    charge(meter, list.length)
    return list.includes(wanted)
  }
  return list.some((element) => (charge(meter, 1), equals(meter, element, wanted)))
}

const contains = (meter: Meter, list: Value[], part: Value[]) => part.every((element) => has(meter, list, element))
const intersects = (meter: Meter, a: Value[], b: Value[]) => a.some((element) => has(meter, b, element))
const equivalent = (meter: Meter, a: Value[], b: Value[]) => contains(meter, a, b) && contains(meter, b, a)

/** Set operations on lists. The cost is the number of comparisons. */
export const sets: Library = {
  name: 'sets',
  functions: {
    'sets.contains': [globalOverload('list_sets_contains_list', [listT, listT], boolType, contains)],
    'sets.equivalent': [globalOverload('list_sets_equivalent_list', [listT, listT], boolType, equivalent)],
    'sets.intersects': [globalOverload('list_sets_intersects_list', [listT, listT], boolType, intersects)],
  },
}
