import type { Clock } from '../../../base/clock.ts'

/** The size of an owner: the number of roster members, and of objects that each reconcile traverses. */
export interface Size {
  members: number
  goneThrough: number
}

/** The shortest time from one reconcile of an owner to the next. */
export type Gather = (size: Size) => number

/**
 * Large owners are reconciled less often while their members change. With a roster, a reconcile costs little more than
 * what has changed: 1,000 pods every 10 ms, at most every 50 ms. Without one it costs about 10 µs per object, which may
 * take a tenth of the time: 1,000 pods every 100 ms, at most every second.
 */
export const gatherMs: Gather = ({ members, goneThrough }) =>
  Math.max(members < 100 ? 0 : Math.min(50, members / 100), goneThrough < 50 ? 0 : Math.min(1000, goneThrough / 10))

/** Tracks the last reconcile of each key, and computes how long its next change waits for others. */
export class Gathering {
  readonly #clock: Clock
  readonly #gather: Gather
  readonly #startedMs = new Map<string, number>()
  readonly #goneThrough = new Map<string, number>()

  constructor(clock: Clock, gather: Gather = gatherMs) {
    this.#clock = clock
    this.#gather = gather
  }

  /** A reconcile of the key starts. */
  started(key: string): void {
    this.#startedMs.set(key, this.#clock.now())
  }

  /** A reconcile of the key traverses this number of objects. */
  goesThrough(key: string, count: number): void {
    this.#goneThrough.set(key, count)
  }

  forget(key: string): void {
    this.#startedMs.delete(key)
    this.#goneThrough.delete(key)
  }

  /** The delay of a change of a member. The first change after a pause is not delayed. */
  waitMs(key: string, members: number): number {
    const startedMs = this.#startedMs.get(key)
    if (startedMs === undefined) return 0
    const agoMs = this.#clock.now() - startedMs
    // A clock that was set back is no reason to wait.
    return agoMs < 0 ? 0 : Math.max(0, this.#gather({ members, goneThrough: this.#goneThrough.get(key) ?? 0 }) - agoMs)
  }
}
