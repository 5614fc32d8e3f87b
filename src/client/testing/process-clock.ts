import type { Clock } from '../../base/clock.ts'

/** The clock of one simulated process: it may deviate by a fixed time, and stops while the process is paused. */
export class ProcessClock implements Clock {
  readonly #world: Clock
  /** Callbacks that fell due while the process was paused, in order. */
  #held: (() => void)[] | undefined
  skewMs = 0
  /** Number of timers that have fallen due. */
  ticks = 0

  constructor(world: Clock) {
    this.#world = world
  }

  get isPaused(): boolean {
    return this.#held !== undefined
  }

  now(): number {
    return this.#world.now() + this.skewMs
  }

  after(delayMs: number, fn: () => void): () => void {
    let isCancelled = false
    const run = () => {
      if (!isCancelled) fn()
    }
    const cancel = this.#world.after(delayMs, () => {
      this.ticks++
      this.whenRunning(run)
    })
    return () => {
      isCancelled = true
      cancel()
    }
  }

  /** Runs a callback now, or when the process resumes. */
  whenRunning(fn: () => void): void {
    if (this.#held) this.#held.push(fn)
    else fn()
  }

  pause(): void {
    this.#held ??= []
  }

  /** Resumes: missed callbacks run now, in order. */
  resume(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const fn of held) fn()
  }
}
