import { CostExceeded, type Meter } from '../declarations.ts'
import type { Node } from '../syntax/ast.ts'
import { type Value, MapValue } from '../values.ts'

/** The state of one evaluation: its variables and the cost so far. */
export class Frame implements Meter {
  cost = 0
  readonly limit: number
  readonly slots: Value[]

  constructor(slots: Value[], limit: number) {
    this.slots = slots
    this.limit = limit
  }
}

/** A compiled node. */
export type Step = (frame: Frame) => Value

/** Compiles the nodes of one expression. */
export interface NodeCompiler {
  compile(node: Node): Step
  /** Compiles the body of a loop or binding with additional variables in scope. */
  withLocals<T>(names: readonly string[], body: (indices: number[]) => T): T
}

/** Throws if an evaluation exceeds its cost limit. Loops check each round, so plain steps only add to the cost. */
export function checkLimit(frame: Frame): void {
  if (frame.cost > frame.limit) throw new CostExceeded()
}

/** cel-go's cost factors: per character read, and per character of a regular expression. */
export const characterCost = 0.1
export const patternCost = 0.25

/** The size that the cost of a call depends on: the number of elements or characters; 1 for any other value. */
export function costSize(value: Value): number {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length
  return value instanceof MapValue ? value.size : 1
}

/** The cost of reading a string or list once. */
export const readCost = (value: Value): number => Math.ceil(costSize(value) * characterCost)

/** The cost of reading a value with all nested values. */
export function traversalCost(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return Math.floor(value.length * characterCost)
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + traversalCost(element), 0)
  if (!(value instanceof MapValue)) return 1
  return value.keys().reduce<number>((sum, key) => sum + traversalCost(key) + traversalCost(value.get(key) ?? null), 0)
}
