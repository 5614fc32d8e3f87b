import { Interruption } from '../../../api/cel/index.ts'
import type { Steps, Turns } from '../../../base/turns.ts'

/** Thrown by an evaluation that must wait for another process. The evaluation is repeated after the response. */
export class PendingAnswer {
  readonly answered: Promise<unknown>
  constructor(answered: Promise<unknown>) {
    this.answered = answered
  }
}

/**
 * Runs `evaluate` as one step, and again after each PendingAnswer or pause. It must have no side effects before it
 * returns, and must cache responses for its next run.
 */
export function* decided<T>(evaluate: () => T): Steps<T> {
  yield
  for (;;) {
    try {
      return evaluate()
    } catch (e) {
      if (!(e instanceof PendingAnswer) && !(e instanceof Pause)) throw e
      yield e.answered
    }
  }
}

/** Interrupts an evaluation until a later turn. Nothing in an expression absorbs it. */
class Pause extends Interruption {
  readonly answered: Promise<unknown>
  constructor(answered: Promise<unknown>) {
    super('paused')
    this.answered = answered
  }
}

/** Returns a function that interrupts an evaluation once the turn is spent. */
export const pauseBetween = (turns: Turns) => () => {
  if (turns.isSpent) throw new Pause(turns.next())
}

/**
 * Runs `evaluate`, and again after each PendingAnswer. Returns a promise only then. `evaluate` must have no side
 * effects before it returns, and must cache responses for its next run.
 */
export function whenDecided<T>(evaluate: () => T): T | Promise<T> {
  try {
    return evaluate()
  } catch (e) {
    if (!(e instanceof PendingAnswer)) throw e
    return e.answered.then(() => whenDecided(evaluate))
  }
}
