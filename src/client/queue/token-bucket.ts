import type { Clock } from '../../base/clock.ts'

/** Allows `burst` at once and `perSecond` on average. */
export class TokenBucket {
  readonly #clock: Pick<Clock, 'now'>
  readonly #perSecond: number
  readonly #burst: number
  /** Negative if more tokens were reserved than exist: later callers wait for the debt. */
  #tokens: number
  #filledAtMs: number

  constructor(perSecond: number, burst: number, clock: Pick<Clock, 'now'>) {
    this.#perSecond = perSecond
    this.#burst = burst
    this.#clock = clock
    this.#tokens = burst
    this.#filledAtMs = clock.now()
  }

  /** Reserves a token, possibly a future one, and returns the milliseconds until it is valid. */
  reserve(): number {
    this.#fill()
    this.#tokens--
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000
  }

  /** Takes a token if one is available. */
  tryTake(): boolean {
    this.#fill()
    // Allows for rounding errors of fractional refills.
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
