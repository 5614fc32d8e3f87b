import type { Verdict } from './judge.ts'
import { burnWindows } from './prometheus-rules.ts'
import { SlidingSums } from './sliding-sums.ts'
import type { Slo } from './slo-file.ts'

/** Whole seconds for short latencies, because condition times have no higher resolution. */
const secondsBounds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800]

/**
 * The bounds of latencies. Each counts latencies below it that are not below the previous one. The threshold is one of
 * them.
 */
export const latencyBounds = ({ thresholdMs }: Pick<Slo, 'thresholdMs'>): number[] =>
  [...new Set([...secondsBounds.map((s) => s * 1000), ...(thresholdMs === undefined ? [] : [thresholdMs])])].toSorted(
    (a, b) => a - b,
  )

/** The position of a latency. The last one is beyond all bounds. */
function latencyBucket(bounds: readonly number[], latencyMs: number): number {
  const at = bounds.findIndex((bound) => latencyMs < bound)
  return at < 0 ? bounds.length : at
}

/**
 * The upper bound of a percentile. Undefined if there is none, or without events. `total` includes pods that were never
 * ready.
 */
export function latencyQuantile(
  bounds: readonly number[],
  counts: readonly number[],
  total: number,
  share: number,
): number | undefined {
  if (total === 0) return undefined
  let seen = 0
  const at = bounds.findIndex((_, i) => (seen += counts[i] ?? 0) >= share * total)
  return at < 0 ? undefined : bounds[at]
}

/** The counts of a window. */
export interface Counts {
  good: number
  bad: number
}

/** The same with latencies by bound, if they are kept. */
export interface LatencyCounts extends Counts {
  latencies: readonly number[]
}

/** A tally in a snapshot, with its windows by length. */
export interface SavedTally {
  good: number
  bad: number
  windows: Record<string, number[]>
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isCounts = (value: unknown): value is number[] => Array.isArray(value) && value.every(isCount)

/** The counts of an objective or a group: in total, and per window. */
export class Tally {
  /** In total. */
  good = 0
  bad = 0
  /** Empty if latencies are not kept. */
  readonly #bounds: readonly number[]
  /** By length, that of the objective last. Each counts good, bad, and latencies by bound. */
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

  /** Adds the windows of another tally, but not its totals: a counter that jumps would look like events. */
  takeWindows(other: Tally, nowMs: number): void {
    for (const [i, window] of this.#windows.entries()) window.take(other.#windows[i]!, nowMs)
  }

  /** The counts of a window of this length. */
  counts(windowMs: number, nowMs: number): Counts {
    const totals = this.#window(windowMs).totals(nowMs)
    return { good: totals[0]!, bad: totals[1]! }
  }

  latencies(windowMs: number, nowMs: number): LatencyCounts {
    return latencyCounts(this.#window(windowMs).totals(nowMs))
  }

  /** A window of this length in equal parts, oldest first. */
  history(windowMs: number, nowMs: number, parts: number): LatencyCounts[] {
    return this.#window(windowMs).history(nowMs, parts).map(latencyCounts)
  }

  save(): SavedTally {
    return {
      good: this.good,
      bad: this.bad,
      windows: Object.fromEntries(this.#windows.map((w) => [w.windowMs, w.save()])),
    }
  }

  /** Restores the usable part of the data of `save`. */
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

const latencyCounts = ([good = 0, bad = 0, ...latencies]: readonly number[]): LatencyCounts => ({
  good,
  bad,
  latencies,
})
