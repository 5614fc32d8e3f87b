import { LoopTurns, type Turns, endlessTurn } from './turns.ts'

/** The only source of time. Production uses `systemClock`; tests hand in a `VirtualClock`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `fn` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, fn: () => void): () => void
  /** Shares the event loop between what takes long. Absent where time stands still. */
  readonly turns?: Turns
}

/** How what takes long is to be done under this clock. */
export const turnsOf = (clock: Clock): Turns => clock.turns ?? endlessTurn

/** What setTimeout can wait for: more than that it takes for nothing at all. */
const longestMs = 2 ** 31 - 1

/** The machine's own time. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, fn) {
    let timer: NodeJS.Timeout
    const wait = (leftMs: number) => {
      timer = setTimeout(() => (leftMs > longestMs ? wait(leftMs - longestMs) : fn()), Math.min(leftMs, longestMs))
      timer.unref()
    }
    wait(delayMs)
    return () => clearTimeout(timer)
  },
  turns: new LoopTurns(),
}
