import { burnWindows } from './burn-alerts.ts'
import type { Verdict } from './judge.ts'
import { latencyBucket, latencyBounds } from './latency.ts'
import { SlidingSums } from './sliding-sums.ts'
import type { Slo } from './slo-file.ts'

/** What happened in a window. */
export interface Counts {
  good: number
  bad: number
}

/** The same with latencies, by their bounds; none where they are not kept. */
export interface LatencyCounts extends Counts {
  latencies: readonly number[]
}

/** A tally as it is kept over a restart, its windows by their lengths. */
export interface SavedTally {
  good: number
  bad: number
  windows: Record<string, number[]>
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isCounts = (value: unknown): value is number[] => Array.isArray(value) && value.every(isCount)

/** How an objective, or one group of it, has fared: since ever, and over each of its windows. */
export class Tally {
  /** Since ever. */
  good = 0
  bad = 0
  /** Empty: latencies are not kept. */
  readonly #bounds: readonly number[]
  /** By their lengths, that of the objective last. Each sums good, bad, and latencies by bounds. */
  readonly #windows: readonly SlidingSums[]

  constructor(slo: Slo, { withLatencies }: { withLatencies: boolean }) {
    this.#bounds = withLatencies ? latencyBounds(slo) : []
    this.#windows = burnWindows(slo).map((ms) => new SlidingSums(ms, withLatencies ? this.#bounds.length + 3 : 2))
  }

  add({ isGood, latencyMs }: Verdict, atMs: number, nowMs: number): void {
    if (isGood) this.good++
    else this.bad++
    const hasLatency = latencyMs !== undefined && this.#bounds.length > 0
    const which = [isGood ? 0 : 1, ...(hasLatency ? [2 + latencyBucket(this.#bounds, latencyMs)] : [])]
    for (const window of this.#windows) window.add(atMs, nowMs, which)
  }

  /** Adds what another counts in its windows. What it has counted since ever stays its own: a counter that jumps would look like events. */
  takeWindows(other: Tally, nowMs: number): void {
    for (const [i, window] of this.#windows.entries()) window.take(other.#windows[i]!, nowMs)
  }

  /** Of a window of this length. */
  counts(windowMs: number, nowMs: number): Counts {
    const totals = this.#window(windowMs).totals(nowMs)
    return { good: totals[0]!, bad: totals[1]! }
  }

  latencies(windowMs: number, nowMs: number): LatencyCounts {
    return latencyCounts(this.#window(windowMs).totals(nowMs))
  }

  /** Of a window of this length in equal pieces, oldest first. */
  history(windowMs: number, nowMs: number, parts: number): LatencyCounts[] {
    return this.#window(windowMs).history(nowMs, parts).map(latencyCounts)
  }

  save(): SavedTally {
    return { good: this.good, bad: this.bad, windows: Object.fromEntries(this.#windows.map((w) => [w.windowMs, w.save()])) }
  }

  /** Takes back what can be used of what `save` gave. */
  restore(saved: unknown): void {
    const { good, bad, windows } = (saved ?? {}) as Partial<SavedTally>
    if (!isCount(good) || !isCount(bad)) return
    this.good = good
    this.bad = bad
    for (const window of this.#windows) {
      const slots = windows?.[window.windowMs]
      if (isCounts(slots)) window.restore(slots)
    }
  }

  #window(windowMs: number): SlidingSums {
    const found = this.#windows.find((w) => w.windowMs === windowMs)
    if (!found) throw new Error(`no window of ${windowMs} ms is kept`)
    return found
  }
}

const latencyCounts = ([good = 0, bad = 0, ...latencies]: readonly number[]): LatencyCounts => ({ good, bad, latencies })
