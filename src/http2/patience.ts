/** What may come at once, and how much more in a second: a client that breaks off requests faster has us work for nothing. */
const atOnce = 1000
const perSecond = 100

/** Bears so much of what costs its sender nothing, and no more. */
export class Patience {
  readonly #now: () => number
  #left = atOnce
  #at: number

  /** `now` is in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
    this.#at = now()
  }

  /** Whether one more is still borne. */
  bear(): boolean {
    const now = this.#now()
    this.#left = Math.min(atOnce, this.#left + ((now - this.#at) / 1000) * perSecond) - 1
    this.#at = now
    return this.#left >= 0
  }
}
