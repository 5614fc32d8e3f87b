import type { Clock } from '../../base/clock.ts'

/** The least time from one reconcile of an owner to the next, by how many members its rosters have. */
export type Gather = (members: number) => number

/**
 * A large owner is reconciled less often while its members change: 1,000 pods every 10 ms, and at most every 50 ms. A
 * reconcile costs what has changed and some more, and the pods of a rollout change faster than anybody reads about them.
 */
export const gatherMs: Gather = (members) => (members < 100 ? 0 : Math.min(50, members / 100))

/** Knows when keys were reconciled last, and for how long the next change of one of them waits for others. */
export class Gathering {
  readonly #clock: Clock
  readonly #gather: Gather
  readonly #startedMs = new Map<string, number>()

  constructor(clock: Clock, gather: Gather = gatherMs) {
    this.#clock = clock
    this.#gather = gather
  }

  /** A key is reconciled now. */
  started(key: string): void {
    this.#startedMs.set(key, this.#clock.now())
  }

  forget(key: string): void {
    this.#startedMs.delete(key)
  }

  /** How long a change of a member waits. The first one after a while does not. */
  waitMs(key: string, members: number): number {
    const startedMs = this.#startedMs.get(key)
    if (startedMs === undefined) return 0
    const agoMs = this.#clock.now() - startedMs
    // A clock that was set back is no reason to wait.
    return agoMs < 0 ? 0 : Math.max(0, this.#gather(members) - agoMs)
  }
}
