/**
 * The number of patches that a pod may have at once, and the interval at which it gets one more. A minute of constant
 * change costs at most 8 + 30 patches.
 */
export const burst = 8
export const refillMs = 2000

/** Limits the patch rate of a pod whose status changes constantly. */
export class PatchBudget {
  #left = burst
  #atMs: number

  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  /** Takes one patch from the budget and returns 0, or returns the delay until the next one. */
  take(nowMs: number): number {
    const gained = Math.floor((nowMs - this.#atMs) / refillMs)
    if (gained > 0) {
      this.#left = Math.min(burst, this.#left + gained)
      this.#atMs += gained * refillMs
    }
    if (this.#left === burst) this.#atMs = nowMs
    if (this.#left === 0) return this.#atMs + refillMs - nowMs
    this.#left--
    return 0
  }
}
