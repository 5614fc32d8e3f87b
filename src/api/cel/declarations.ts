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

/** Counts the cost of an evaluation in the units of Kubernetes' budgets. */
export interface Meter {
  cost: number
  /** Evaluation fails as soon as the cost exceeds the limit. */
  readonly limit: number
}

/** Ends an evaluation at once: `||`, `&&` and loops do not absorb it as they do the errors of their operands. */
export class Interruption {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** Aborts an evaluation that exceeds its cost limit. */
export class CostExceeded extends Interruption {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** Adds to the cost of an evaluation. Throws CostExceeded if the limit is exceeded. */
export function charge(meter: Meter, cost: number): void {
  if ((meter.cost += cost) > meter.limit) throw new CostExceeded()
}

/** One overload of a function. For a member function, `args` begins with the target. */
export interface Overload {
  id: string
  isMember: boolean
  args: readonly CelType[]
  result: CelType
  /** Computes the result from values of the declared types; throws a CelError. */
  run: (meter: Meter, ...args: any[]) => Value
  /** The cost of a call without the cost of its arguments; 1 by default. */
  cost?: (result: Value, ...args: any[]) => number
}

/** All overloads of a name. */
export interface FunctionDeclaration {
  name: string
  overloads: Overload[]
}

type Run = Overload['run']
type Cost = Overload['cost']

/** Declares a global function, called as `name(…)`. */
export const globalOverload = (id: string, args: CelType[], result: CelType, run: Run, cost?: Cost): Overload =>
  cost ? { id, isMember: false, args, result, run, cost } : { id, isMember: false, args, result, run }

/** Declares a member function, called as `target.name(…)`. */
export const memberOverload = (id: string, args: CelType[], result: CelType, run: Run, cost?: Cost): Overload => ({
  ...globalOverload(id, args, result, run, cost),
  isMember: true,
})

/** A library: functions, and the names of types that expressions may use. */
export interface Library {
  name: string
  functions: Record<string, Overload[]>
  types?: Record<string, CelType>
}

/** True if a value has the outermost type that an overload declares. Elements are not checked. */
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
