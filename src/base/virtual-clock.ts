import type { Clock } from './clock.ts'

/** More timers at one time than this, or more reads of the clock without progress, are an endless loop. */
const mostTimersAtOnce = 100_000
const mostQuestions = 200_000

interface Timer {
  atMs: number
  fn: () => void
}

/**
 * A clock that advances only on request. Timers run in order of their times, and timers of the same time in the order
 * in which they were set. An endless loop without progress of time fails with an error, so that tests do not hang.
 */
export class VirtualClock implements Clock {
  #nowMs: number
  /** Timers in the order in which they will run. */
  readonly #timers: Timer[] = []
  /** Number of timers that ran, and of reads of the clock, since time last advanced. */
  #ran = 0
  #questions = 0

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  now(): number {
    if (++this.#questions > mostQuestions) throw this.#endless(`the time was asked for ${mostQuestions} times`)
    return this.#nowMs
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.length
  }

  /** Time of the next timer; undefined if none is set. */
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

  /**
   * Advances the clock and runs every timer that falls due, at its own time, including timers that are set meanwhile.
   */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    while (this.#timers.length > 0 && this.#timers[0]!.atMs <= endMs) {
      this.#moveTo(Math.max(this.#nowMs, this.#timers[0]!.atMs))
      this.#questions = 0
      if (++this.#ran > mostTimersAtOnce) throw this.#endless(`${mostTimersAtOnce} timers have run`)
      this.#timers.shift()!.fn()
    }
    this.#moveTo(endMs)
  }

  /**
   * As `advance`, but waits for `settle` after each timer, so that its consequences are complete before the next one
   * runs.
   */
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

  #moveTo(ms: number): void {
    if (ms > this.#nowMs) this.#ran = this.#questions = 0
    this.#nowMs = ms
  }

  #endless(what: string): Error {
    const at = new Date(this.#nowMs).toISOString()
    return new Error(`${what} while time stands still at ${at}: something goes on without end`)
  }
}

/** Resolves after all pending microtasks. */
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
