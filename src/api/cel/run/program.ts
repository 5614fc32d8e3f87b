import { CostExceeded } from '../declarations.ts'
import type { Node } from '../syntax/ast.ts'
import { type CelType, dynType } from '../types.ts'
import { CelError, type Value } from '../values.ts'
import { Compiler, type Slot } from './compiler.ts'
import { Frame, type Step } from './frame.ts'

/** The result of an evaluation and its cost. */
type Evaluation =
  | { value: Value; error?: undefined; cost: number }
  | { value?: undefined; error: string; isCostExceeded: boolean; cost: number }

/** Kubernetes' limit for one evaluation. */
export const perCallLimit = 1_000_000

/** A compiled expression. It can be evaluated any number of times. */
export class Program {
  readonly expression: string
  /** The checked expression, for estimates of its cost. */
  readonly node: Node
  /** The type of its result. */
  readonly type: CelType
  readonly #step: Step
  readonly #slots: readonly Slot[]

  constructor(expression: string, node: Node) {
    const compiler = new Compiler()
    this.expression = expression
    this.node = node
    this.type = node.type ?? dynType
    this.#step = compiler.compile(node)
    this.#slots = compiler.slots
  }

  /** True if the expression uses a variable of the environment. */
  uses(variable: string): boolean {
    return this.#slots.some((slot) => slot.name === variable)
  }

  /** Evaluates the expression with these variables. Fails if the cost exceeds `limit`. */
  evaluate(variables: Record<string, Value | undefined>, limit: number = perCallLimit): Evaluation {
    const slots: Value[] = []
    for (const { name, index } of this.#slots) slots[index] = variables[name] as Value
    const frame = new Frame(slots, limit)
    try {
      const value = this.#step(frame)
      if (frame.cost > limit) throw new CostExceeded()
      return { value, cost: Math.ceil(frame.cost) }
    } catch (error) {
      if (error instanceof CelError) return { error: error.message, isCostExceeded: false, cost: Math.ceil(frame.cost) }
      if (error instanceof CostExceeded)
        return { error: error.message, isCostExceeded: true, cost: Math.ceil(frame.cost) }
      throw error
    }
  }
}
