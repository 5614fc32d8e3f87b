import { createHash } from 'node:crypto'
import type { Timeline } from './timeline.ts'

/** The history of a run for people. The same seed produces the same lines. */
export class History {
  readonly #timeline: Timeline
  readonly #startMs: number
  readonly #lines: { atMs: number; who: string; what: string }[] = []

  constructor(timeline: Timeline) {
    this.#timeline = timeline
    this.#startMs = timeline.nowMs
  }

  get length(): number {
    return this.#lines.length
  }

  add(who: string, what: string): void {
    this.#lines.push({ atMs: this.#timeline.nowMs - this.#startMs, who, what })
  }

  /** The last lines, or all. */
  lines(last = Infinity): string[] {
    const from = Math.max(0, this.#lines.length - last)
    return this.#lines.slice(from).map(({ atMs, who, what }) => `${(atMs / 1000).toFixed(3).padStart(9)}  ${who.padEnd(12)} ${what}`)
  }

  /** A short digest of the history. */
  digest(): string {
    return createHash('sha256').update(this.lines().join('\n')).digest('hex').slice(0, 16)
  }
}
