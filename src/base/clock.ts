/** The only source of time. Production uses `systemClock`; tests hand in a `VirtualClock`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `fn` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, fn: () => void): () => void
}

/** The machine's own time. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, fn) {
    const timer = setTimeout(fn, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
