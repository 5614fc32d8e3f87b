import type { Clock } from '../../base/clock.ts'

interface Entry {
  delayMs: number
  lastMs: number
  why: string
}

/** Every so many new keys, those are dropped that begin anew anyway. */
const sweepEvery = 256

/** Doubles the wait of a key each time, and begins anew once nothing has happened for twice the longest wait. */
export class BackOff {
  readonly #clock: Clock
  readonly #firstMs: number
  readonly #longestMs: number
  /** Made with its first key: most pods need none. */
  #entries: Map<string, Entry> | undefined

  constructor(clock: Clock, firstMs: number, longestMs: number) {
    this.#clock = clock
    this.#firstMs = firstMs
    this.#longestMs = longestMs
  }

  /** How long to wait still, counted from when the thing last ended, or else from when it was last tried; 0 if not at all. */
  leftMs(key: string, sinceMs = this.#entries?.get(key)?.lastMs ?? 0): number {
    const entry = this.#current(key, sinceMs)
    return entry ? Math.max(0, sinceMs + entry.delayMs - this.#clock.now()) : 0
  }

  /** What was said when it was last tried. */
  why(key: string): string {
    return this.#entries?.get(key)?.why ?? ''
  }

  /** How long a wait is now; 0 before the first. */
  delayMs(key: string): number {
    return this.#entries?.get(key)?.delayMs ?? 0
  }

  /** It has been tried again: the next wait is twice as long. */
  next(key: string, sinceMs: number, why = ''): void {
    const entry = this.#current(key, sinceMs)
    this.#entries ??= new Map()
    if (!entry && this.#entries.size % sweepEvery === sweepEvery - 1) this.#sweep()
    this.#entries.set(key, { delayMs: entry ? Math.min(this.#longestMs, entry.delayMs * 2) : this.#firstMs, lastMs: this.#clock.now(), why })
  }

  reset(key: string): void {
    this.#entries?.delete(key)
  }

  #sweep(): void {
    for (const key of this.#entries?.keys() ?? []) if (!this.#current(key, this.#clock.now())) this.#entries?.delete(key)
  }

  #current(key: string, sinceMs: number): Entry | undefined {
    const entry = this.#entries?.get(key)
    return entry && sinceMs - entry.lastMs <= 2 * this.#longestMs ? entry : undefined
  }
}
