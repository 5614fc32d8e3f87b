import type { Clock } from './clock.ts'

/** More timers that run at one time, or more questions for the time while it stands still, are an endless loop. */
const mostTimersAtOnce = 100_000
const mostQuestions = 200_000

interface Timer {
  atMs: number
  fn: () => void
}

/**
 * A clock that stands still until it is told to go on. Timers run in the order of their times, those of one time in the
 * order they were set. What goes on without end while time stands still gets an error, so that no test hangs for it.
 */
export class VirtualClock implements Clock {
  #nowMs: number
  /** In the order in which they will run. */
  readonly #timers: Timer[] = []
  /** How many timers have run, and how often the time was asked for, since time last passed. */
  #ran = 0
  #questions = 0

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  now(): number {
    if (++this.#questions > mostQuestions) throw this.#endless(`the time was asked for ${mostQuestions} times`)
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
      this.#moveTo(Math.max(this.#nowMs, this.#timers[0]!.atMs))
      this.#questions = 0
      if (++this.#ran > mostTimersAtOnce) throw this.#endless(`${mostTimersAtOnce} timers have run`)
      this.#timers.shift()!.fn()
    }
    this.#moveTo(endMs)
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

  #moveTo(ms: number): void {
    if (ms > this.#nowMs) this.#ran = this.#questions = 0
    this.#nowMs = ms
  }

  #endless(what: string): Error {
    const at = new Date(this.#nowMs).toISOString()
    return new Error(`${what} while time stands still at ${at}: something goes on without end`)
  }
}

/** Microtasks, however many, come before this. */
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
