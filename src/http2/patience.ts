/** A token bucket: its size and its refill rate. */
interface Measure {
  atOnce: number
  perSecond: number
}

/** The limit for resets, pings and settings, which cost the sender less than the receiver. */
const much: Measure = { atOnce: 1000, perSecond: 100 }
/** The limit for cheap frames, such as DATA frames of one byte. */
export const veryMuch: Measure = { atOnce: 10_000, perSecond: 5000 }

/** Limits the rate of frames that an abusive peer could send at no cost. */
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

  /** Takes one token. False if the limit is exceeded. */
  bear(): boolean {
    const now = this.#now()
    const { atOnce, perSecond } = this.#measure
    this.#left = Math.min(atOnce, this.#left + ((now - this.#at) / 1000) * perSecond) - 1
    this.#at = now
    return this.#left >= 0
  }
}
