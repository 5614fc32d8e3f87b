import { pause } from '../load/server.ts'

/** The progress of a wait: a number of a total, in words such as `pods are ready`. */
export interface Progress {
  isDone: boolean
  done: number
  wanted: number
  what: string
}

/** A wait that has used up its time. The message says how far it got. */
class OutOfTime extends Error {
  readonly progress: Progress

  constructor(progress: Progress, seconds: number, why: string) {
    super(`${progress.done} of ${progress.wanted} ${progress.what} after ${Math.round(seconds)} s (${why})`)
    this.progress = progress
  }
}

const lookMs = 100

/** Bounds all waits of a run: each by a timeout of its own, all together by a budget. */
export class Limit {
  readonly #timeoutMs: number
  readonly #endMs: number

  constructor(timeoutSeconds: number, budgetMinutes: number) {
    this.#timeoutMs = timeoutSeconds * 1000
    this.#endMs = performance.now() + budgetMinutes * 60_000
  }

  /** Seconds of the budget that are left. */
  get left(): number {
    return Math.max(0, (this.#endMs - performance.now()) / 1000)
  }

  /** Breaks off work that takes longer than the budget allows; what is under way is left to itself. */
  async within(work: Promise<void>, what: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${what}: the budget of the whole run is used up`)), this.left * 1000)
    })
    await Promise.race([work, tooLate]).finally(() => clearTimeout(timer))
  }

  /** Looks again after each `again` until all is done. Throws `OutOfTime` with the last progress. */
  async until(look: () => Progress | Promise<Progress>, again: (ms: number) => Promise<void> = pause): Promise<void> {
    const began = performance.now()
    const byTimeout = began + this.#timeoutMs
    const until = Math.min(byTimeout, this.#endMs)
    for (;;) {
      const progress = await look()
      if (progress.isDone) return
      const now = performance.now()
      const bound = until === byTimeout ? '--timeout' : 'the budget of the whole run'
      if (now >= until) throw new OutOfTime(progress, (now - began) / 1000, bound)
      await again(Math.min(lookMs, until - now))
    }
  }
}
