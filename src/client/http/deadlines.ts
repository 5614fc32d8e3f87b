import type { Clock } from '../../base/clock.ts'

/**
 * Expires items after a time limit. All items have the same limit, so they expire in order of insertion, and one timer
 * serves any number of them: almost none reaches its deadline.
 */
export class Deadlines<T> {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #expire: (item: T) => void
  /** Deadline of each item, in order. */
  readonly #due = new Map<T, number>()
  #isTimed = false

  /** A limit of 0 means none. */
  constructor(clock: Clock, limitMs: number, expire: (item: T) => void) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#expire = expire
  }

  start(item: T): void {
    if (this.#limitMs <= 0) return
    this.#due.set(item, this.#clock.now() + this.#limitMs)
    if (!this.#isTimed) this.#wait(this.#limitMs)
  }

  stop(item: T): void {
    this.#due.delete(item)
  }

  #wait(delayMs: number): void {
    this.#isTimed = true
    this.#clock.after(delayMs, () => this.#check())
  }

  #check(): void {
    this.#isTimed = false
    const now = this.#clock.now()
    for (const [item, dueMs] of this.#due) {
      if (dueMs > now) return this.#wait(dueMs - now)
      this.#due.delete(item)
      this.#expire(item)
    }
  }
}
