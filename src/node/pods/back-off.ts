import type { Clock } from '../../base/clock.ts'

interface Entry {
  delayMs: number
  lastMs: number
  why: string
}

/** Expired keys are removed after this many new keys. */
const sweepEvery = 256

/** An exponential back-off by key. A key starts anew after a pause of twice the maximum delay. */
export class BackOff {
  readonly #clock: Clock
  readonly #firstMs: number
  readonly #longestMs: number
  /** Created with the first key, because most pods need none. */
  #entries: Map<string, Entry> | undefined

  constructor(clock: Clock, firstMs: number, longestMs: number) {
    this.#clock = clock
    this.#firstMs = firstMs
    this.#longestMs = longestMs
  }

  /** The remaining delay, counted from `sinceMs`, or from the last attempt; 0 if there is none. */
  leftMs(key: string, sinceMs = this.#entries?.get(key)?.lastMs ?? 0): number {
    const entry = this.#current(key, sinceMs)
    return entry ? Math.max(0, sinceMs + entry.delayMs - this.#clock.now()) : 0
  }

  /** The message of the last attempt. */
  why(key: string): string {
    return this.#entries?.get(key)?.why ?? ''
  }

  /** The full current delay; 0 before the first attempt. */
  delayMs(key: string): number {
    return this.#entries?.get(key)?.delayMs ?? 0
  }

  /** Records an attempt and doubles the delay. */
  next(key: string, sinceMs: number, why = ''): void {
    const entry = this.#current(key, sinceMs)
    this.#entries ??= new Map()
    if (!entry && this.#entries.size % sweepEvery === sweepEvery - 1) this.#sweep()
    this.#entries.set(key, {
      delayMs: entry ? Math.min(this.#longestMs, entry.delayMs * 2) : this.#firstMs,
      lastMs: this.#clock.now(),
      why,
    })
  }

  reset(key: string): void {
    this.#entries?.delete(key)
  }

  #sweep(): void {
    for (const key of this.#entries?.keys() ?? [])
      if (!this.#current(key, this.#clock.now())) this.#entries?.delete(key)
  }

  #current(key: string, sinceMs: number): Entry | undefined {
    const entry = this.#entries?.get(key)
    return entry && sinceMs - entry.lastMs <= 2 * this.#longestMs ? entry : undefined
  }
}
