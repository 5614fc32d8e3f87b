import { toInt64, isInt64, type Int64 } from '../../numbers/int64.ts'
import {
  QuantityError,
  addQuantities,
  compareQuantity,
  isQuantity,
  parseQuantity,
  quantitySign,
  quantityToNumber,
  quantityValue,
  subtractQuantities,
} from '../../numbers/quantity.ts'
import { type Library, type Meter, charge, globalOverload, memberOverload } from '../declarations.ts'
import { readCost } from '../run/frame.ts'
import { boolType, doubleType, intType, opaqueType, stringType } from '../types.ts'
import { CelError, Double, Opaque, type Value } from '../values.ts'

const quantityType = opaqueType('kubernetes.Quantity')

/** A quantity such as `1.5Gi`. */
class QuantityValue extends Opaque {
  readonly typeName = 'kubernetes.Quantity'
  readonly text: string
  constructor(text: string) {
    super()
    this.text = text
  }
  equals(other: Opaque): boolean {
    return other instanceof QuantityValue && compareQuantity(this.text, other.text) === 0
  }
}

function parse(meter: Meter, text: string): QuantityValue {
  try {
    parseQuantity(text)
    return new QuantityValue(text)
  } catch (error) {
    charge(meter, failureCost)
    if (error instanceof QuantityError) throw new CelError(error.message)
    throw error
  }
}

/** The quantity as an int; undefined if it is not a whole number or does not fit. */
function integerOf({ text }: QuantityValue): Int64 | undefined {
  const value = quantityValue(text)
  return isInt64(value) && compareQuantity(text, String(value)) === 0 ? toInt64(value) : undefined
}

function asInteger(quantity: QuantityValue): Int64 {
  const value = integerOf(quantity)
  if (value === undefined) throw new CelError('cannot convert value to integer')
  return value
}

/** Parses a quantity; throws a CelError if it is invalid. */
const failureCost = 2_000

/** Parsing and arithmetic take about 0.5 µs each. */
const parseCost = (result: Value, text: string) => (result === false ? failureCost : 60) + readCost(text)
const arithmeticCost = () => 200
const comparisonCost = () => 60

const pair = [quantityType, quantityType]

/** Kubernetes' quantity library. `sign` is a global function, as upstream declares it. */
export const quantity: Library = {
  name: 'quantity',
  functions: {
    quantity: [globalOverload('string_to_quantity', [stringType], quantityType, parse, parseCost)],
    isQuantity: [
      globalOverload('is_quantity_string', [stringType], boolType, (_, text: string) => isQuantity(text), parseCost),
    ],
    sign: [globalOverload('quantity_sign', [quantityType], intType, (_, q: QuantityValue) => quantitySign(q.text))],
    isInteger: [
      memberOverload(
        'quantity_is_integer',
        [quantityType],
        boolType,
        (_, q: QuantityValue) => integerOf(q) !== undefined,
        comparisonCost,
      ),
    ],
    asInteger: [
      memberOverload(
        'quantity_as_integer',
        [quantityType],
        intType,
        (_, q: QuantityValue) => asInteger(q),
        comparisonCost,
      ),
    ],
    asApproximateFloat: [
      memberOverload(
        'quantity_as_approximate_float',
        [quantityType],
        doubleType,
        (_, q: QuantityValue) => new Double(quantityToNumber(q.text)),
        comparisonCost,
      ),
    ],
    isGreaterThan: [
      memberOverload(
        'quantity_is_greater_than',
        pair,
        boolType,
        (_, a: QuantityValue, b: QuantityValue) => compareQuantity(a.text, b.text) > 0,
        comparisonCost,
      ),
    ],
    isLessThan: [
      memberOverload(
        'quantity_is_less_than',
        pair,
        boolType,
        (_, a: QuantityValue, b: QuantityValue) => compareQuantity(a.text, b.text) < 0,
        comparisonCost,
      ),
    ],
    compareTo: [
      memberOverload(
        'quantity_compare_to',
        pair,
        intType,
        (_, a: QuantityValue, b: QuantityValue) => compareQuantity(a.text, b.text),
        comparisonCost,
      ),
    ],
    add: [
      memberOverload(
        'quantity_add',
        pair,
        quantityType,
        (_, a: QuantityValue, b: QuantityValue) => new QuantityValue(addQuantities(a.text, b.text)),
        arithmeticCost,
      ),
      memberOverload(
        'quantity_add_int',
        [quantityType, intType],
        quantityType,
        (_, a: QuantityValue, b: Int64) => new QuantityValue(addQuantities(a.text, String(b))),
        arithmeticCost,
      ),
    ],
    sub: [
      memberOverload(
        'quantity_sub',
        pair,
        quantityType,
        (_, a: QuantityValue, b: QuantityValue) => new QuantityValue(subtractQuantities(a.text, b.text)),
        arithmeticCost,
      ),
      memberOverload(
        'quantity_sub_int',
        [quantityType, intType],
        quantityType,
        (_, a: QuantityValue, b: Int64) => new QuantityValue(subtractQuantities(a.text, String(b))),
        arithmeticCost,
      ),
    ],
  },
}
