/** How many patches a pod may have at once, and how often it gets one more. A minute of ceaseless change costs at most 8 + 30 of them. */
export const burst = 8
export const refillMs = 2000

/** Keeps a pod that cannot make up its mind from keeping the API busy. */
export class PatchBudget {
  #left = burst
  #atMs: number

  constructor(nowMs: number) {
    this.#atMs = nowMs
  }

  /** Takes one patch from it, and answers 0; or how long to wait for the next one. */
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
