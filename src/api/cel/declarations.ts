import { type CelType, optionalOf } from './types.ts'
import {
  Double,
  MapValue,
  Opaque,
  Optional,
  Timestamp,
  Duration,
  TypeValue,
  Uint,
  type Value,
  isInt,
} from './values.ts'

/** Counts what an evaluation costs, in the units of Kubernetes' budgets. */
export interface Meter {
  cost: number
  /** Evaluation ends with an error as soon as the cost is greater. */
  readonly limit: number
}

/** Ends an evaluation that costs too much. No `||` may drop it. */
export class CostExceeded {
  readonly message = 'operation cancelled: actual cost limit exceeded'
}

/** Adds to the cost of an evaluation, and ends it if that is too much. */
export function charge(meter: Meter, cost: number): void {
  if ((meter.cost += cost) > meter.limit) throw new CostExceeded()
}

/** One way to call a function. `args` begins with the target if it is a member. */
export interface Overload {
  id: string
  isMember: boolean
  args: readonly CelType[]
  result: CelType
  /** Computes the result from values of the declared types; throws a CelError. */
  run: (meter: Meter, ...args: any[]) => Value
  /** The cost of a call beside that of its arguments; 1 if it is not given. */
  cost?: (result: Value, ...args: any[]) => number
}

/** All overloads of a name. */
export interface FunctionDeclaration {
  name: string
  overloads: Overload[]
}

type Run = Overload['run']
type Cost = Overload['cost']

/** A function that is called as `name(…)`. */
export const globalOverload = (id: string, args: CelType[], result: CelType, run: Run, cost?: Cost): Overload =>
  cost ? { id, isMember: false, args, result, run, cost } : { id, isMember: false, args, result, run }

/** A function that is called as `target.name(…)`. */
export const memberOverload = (id: string, args: CelType[], result: CelType, run: Run, cost?: Cost): Overload => ({
  ...globalOverload(id, args, result, run, cost),
  isMember: true,
})

/** A set of functions, and the names of types that expressions may use. */
export interface Library {
  name: string
  functions: Record<string, Overload[]>
  types?: Record<string, CelType>
}

/** True if a value is of a declared type, as far as a function needs to know: elements are not looked at. */
export function isOfType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return isInt(value)
    case 'string':
      return typeof value === 'string'
    case 'double':
      return value instanceof Double
    case 'uint':
      return value instanceof Uint
    case 'bytes':
      return value instanceof Uint8Array
    case 'null':
      return value === null
    case 'timestamp':
      return value instanceof Timestamp
    case 'duration':
      return value instanceof Duration
    case 'list':
      return Array.isArray(value)
    case 'map':
      return value instanceof MapValue
    case 'object':
      return value instanceof MapValue
    case 'type':
      return value instanceof TypeValue
    case 'opaque':
      if (optionalOf(type)) return value instanceof Optional
      return value instanceof Opaque && value.typeName === type.name
  }
}
