import { CostExceeded, type Meter } from '../declarations.ts'
import type { Value } from '../values.ts'

/** The state of one evaluation: its variables, and what it has cost so far. */
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

/** Ends an evaluation whose cost is past its limit. Each round of a loop asks, so that plain steps need only add. */
export function checkLimit(frame: Frame): void {
  if (frame.cost > frame.limit) throw new CostExceeded()
}
