/** How much may come at once, and how much more in a second. */
export interface Measure {
  atOnce: number
  perSecond: number
}

/** A client that breaks off requests, pings or changes settings faster has us work for nothing. */
const much: Measure = { atOnce: 1000, perSecond: 100 }
/** What costs next to nothing each, such as a frame of one byte, is too much only where nothing else comes. */
export const veryMuch: Measure = { atOnce: 10_000, perSecond: 5000 }

/** Bears so much of what costs its sender nothing, and no more. */
export class Patience {
  readonly #now: () => number
  readonly #measure: Measure
  #left: number
  #at: number

  /** `now` is in milliseconds. */
  constructor(now: () => number, measure: Measure = much) {
    this.#now = now
    this.#measure = measure
    this.#left = measure.atOnce
    this.#at = now()
  }

  /** Whether one more is still borne. */
  bear(): boolean {
    const now = this.#now()
    const { atOnce, perSecond } = this.#measure
    this.#left = Math.min(atOnce, this.#left + ((now - this.#at) / 1000) * perSecond) - 1
    this.#at = now
    return this.#left >= 0
  }
}
