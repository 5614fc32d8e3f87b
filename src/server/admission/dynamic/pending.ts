/** Thrown out of an evaluation that has to wait for another process: it starts again when that has answered. */
export class PendingAnswer {
  readonly answered: Promise<unknown>
  constructor(answered: Promise<unknown>) {
    this.answered = answered
  }
}

/**
 * Runs `evaluate`, again after each answer that it had to wait for. It is a promise only then. What it does must not show before it has returned, and
 * answers must be kept where the next run finds them.
 */
export function whenDecided<T>(evaluate: () => T): T | Promise<T> {
  try {
    return evaluate()
  } catch (e) {
    if (!(e instanceof PendingAnswer)) throw e
    return e.answered.then(() => whenDecided(evaluate))
  }
}
