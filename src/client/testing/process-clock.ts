import type { Clock } from '../../base/clock.ts'

/** The clock of one simulated process: it may go wrong by a fixed time, and stand still with the process while time passes for others. */
export class ProcessClock implements Clock {
  readonly #world: Clock
  /** What would have run while the process was paused, in the order in which it fell due. */
  #held: (() => void)[] | undefined
  skewMs = 0
  /** How many timers have fallen due. */
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

  /** Runs it now, or when the process wakes up. */
  whenRunning(fn: () => void): void {
    if (this.#held) this.#held.push(fn)
    else fn()
  }

  pause(): void {
    this.#held ??= []
  }

  /** What was missed runs now, late and in order. */
  resume(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const fn of held) fn()
  }
}
