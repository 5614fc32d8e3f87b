import type { Clock } from './clock.ts'

interface Timer {
  atMs: number
  fn: () => void
}

/** A clock that stands still until it is told to go on. Timers run in the order of their times, those of one time in the order they were set. */
export class VirtualClock implements Clock {
  #nowMs: number
  /** In the order in which they will run. */
  readonly #timers: Timer[] = []

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.length
  }

  /** When the next timer runs; undefined if none is set. */
  get nextAtMs(): number | undefined {
    return this.#timers[0]?.atMs
  }

  after(delayMs: number, fn: () => void): () => void {
    const timer: Timer = { atMs: this.#nowMs + Math.max(0, delayMs), fn }
    const later = this.#timers.findIndex((t) => t.atMs > timer.atMs)
    this.#timers.splice(later < 0 ? this.#timers.length : later, 0, timer)
    return () => {
      const at = this.#timers.indexOf(timer)
      if (at >= 0) this.#timers.splice(at, 1)
    }
  }

  /** Lets time pass: runs every timer that falls due, each at its own time, those included that are set meanwhile. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    while (this.#timers.length > 0 && this.#timers[0]!.atMs <= endMs) {
      const { atMs, fn } = this.#timers.shift()!
      this.#nowMs = Math.max(this.#nowMs, atMs)
      fn()
    }
    this.#nowMs = endMs
  }

  /** As `advance`, but what follows from a timer is done before the next one runs; `settle` waits for that. */
  async pass(ms: number, settle: () => Promise<void> = quiet): Promise<void> {
    const endMs = this.#nowMs + ms
    await settle()
    while (this.#timers.length > 0 && this.#timers[0]!.atMs <= endMs) {
      this.advance(Math.max(0, this.#timers[0]!.atMs - this.#nowMs))
      await settle()
    }
    this.advance(Math.max(0, endMs - this.#nowMs))
    await settle()
  }
}

/** Microtasks, however many, come before this. */
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
