import { LoopTurns, type Turns, endlessTurn } from './turns.ts'

/** The only source of time. Production uses `systemClock`; tests hand in a `VirtualClock`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `fn` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, fn: () => void): () => void
  /** Shares the event loop between long operations. Undefined for a virtual clock. */
  readonly turns?: Turns
}

/** Returns the slicing of long operations under this clock. */
export const turnsOf = (clock: Clock): Turns => clock.turns ?? endlessTurn

/** The maximum delay of setTimeout; a longer one fires immediately. */
const longestMs = 2 ** 31 - 1

/** The clock of the machine. Its timers do not keep the process alive. */
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

/** systemClock's timers with a monotonic now(), for durations only. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.now() }

/** Returns the clock for durations that belongs to a clock. A virtual clock is never set, so it is its own. */
export const steadyOf = (clock: Clock): Clock => (clock === systemClock ? steadyClock : clock)
