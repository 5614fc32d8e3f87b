/** Thrown by an evaluation that must wait for another process. The evaluation is repeated after the response. */
export class PendingAnswer {
  readonly answered: Promise<unknown>
  constructor(answered: Promise<unknown>) {
    this.answered = answered
  }
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
