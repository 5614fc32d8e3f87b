import type { Slo } from './slo-file.ts'

/** Whole seconds while it is quick: condition times have no finer ones. */
const secondsBounds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800]

/** What latencies are told by: each of these counts what was less, and not less than the one before. The threshold is one of them. */
export const latencyBounds = ({ thresholdMs }: Pick<Slo, 'thresholdMs'>): number[] =>
  [...new Set([...secondsBounds.map((s) => s * 1000), ...(thresholdMs === undefined ? [] : [thresholdMs])])].toSorted((a, b) => a - b)

/** Where a latency belongs; after the last, what is beyond all bounds. */
export function latencyBucket(bounds: readonly number[], latencyMs: number): number {
  const at = bounds.findIndex((bound) => latencyMs < bound)
  return at < 0 ? bounds.length : at
}

/** What so great a share of all was less than; undefined if there is no such bound, or nothing to tell of. `total` has also what never came to be. */
export function latencyQuantile(bounds: readonly number[], counts: readonly number[], total: number, share: number): number | undefined {
  if (total === 0) return undefined
  let seen = 0
  const at = bounds.findIndex((_, i) => (seen += counts[i] ?? 0) >= share * total)
  return at < 0 ? undefined : bounds[at]
}
