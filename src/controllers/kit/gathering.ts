import type { Clock } from '../../base/clock.ts'

/** The size of an owner: how many members its rosters have, and how many objects each reconcile goes through. */
export interface Size {
  members: number
  goneThrough: number
}

/** The least time from one reconcile of an owner to the next. */
export type Gather = (size: Size) => number

/**
 * A large owner is reconciled less often while its members change, which they do faster than anybody reads about them.
 * With a roster a reconcile costs what has changed and some more: 1,000 pods every 10 ms, and at most every 50 ms.
 * Without, it costs about 10 µs for each object, a tenth of the time: 1,000 pods every 100 ms, and at most every second.
 */
export const gatherMs: Gather = ({ members, goneThrough }) =>
  Math.max(members < 100 ? 0 : Math.min(50, members / 100), goneThrough < 50 ? 0 : Math.min(1000, goneThrough / 10))

/** Knows when keys were reconciled last, and for how long the next change of one of them waits for others. */
export class Gathering {
  readonly #clock: Clock
  readonly #gather: Gather
  readonly #startedMs = new Map<string, number>()
  readonly #goneThrough = new Map<string, number>()

  constructor(clock: Clock, gather: Gather = gatherMs) {
    this.#clock = clock
    this.#gather = gather
  }

  /** A key is reconciled now. */
  started(key: string): void {
    this.#startedMs.set(key, this.#clock.now())
  }

  /** The reconcile of a key goes through so many objects. */
  goesThrough(key: string, count: number): void {
    this.#goneThrough.set(key, count)
  }

  forget(key: string): void {
    this.#startedMs.delete(key)
    this.#goneThrough.delete(key)
  }

  /** How long a change of a member waits. The first one after a while does not. */
  waitMs(key: string, members: number): number {
    const startedMs = this.#startedMs.get(key)
    if (startedMs === undefined) return 0
    const agoMs = this.#clock.now() - startedMs
    // A clock that was set back is no reason to wait.
    return agoMs < 0 ? 0 : Math.max(0, this.#gather({ members, goneThrough: this.#goneThrough.get(key) ?? 0 }) - agoMs)
  }
}
