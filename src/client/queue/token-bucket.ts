import type { Clock } from '../../base/clock.ts'

/** Lets `burst` through at once and `perSecond` in the long run. */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'now'>
  readonly #perSecond: number
  readonly #burst: number
  /** Below zero once more was reserved than there is: the debt is what the next one waits for. */
  #tokens: number
  #filledAtMs: number

  constructor(perSecond: number, burst: number, clock: Pick<Clock, 'now'>) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#clock = clock
    this.#tokens = burst
    this.#filledAtMs = clock.now()
  }

  /** Takes a token, if need be one of the future, and says in how many milliseconds it may be used. */
  reserve(): number {
    this.#fill()
    this.#tokens--
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.#fill()
    // Filling up in fractions leaves the last digits to chance.
    if (this.#tokens < 1 - 1e-9) return false
    this.#tokens--
    return true
  }

  #fill(): void {
    const nowMs = this.#clock.now()
    const gained = (Math.max(0, nowMs - this.#filledAtMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(this.#burst, this.#tokens + gained)
    this.#filledAtMs = nowMs
  }
}
