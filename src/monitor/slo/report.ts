import type { Indicator, SloSelector } from './slo-file.ts'
import type { Standing } from './standing.ts'

/** Latencies of a window. Bounds say what was less than them. */
export interface LatencyReport {
  events: number
  /** Those that never came to be. */
  never: number
  /** `lessThanSeconds` is null for those beyond all bounds. Empty ones are left out. */
  buckets: { lessThanSeconds: number | null; count: number }[]
  /** What half, nine in ten and 99 in a hundred were less than; null if there is no such bound, or nothing to tell of. */
  p50: number | null
  p90: number | null
  p99: number | null
  /** The window in 40 pieces, oldest first: what nine in ten were less than in each. */
  history: { events: number; p90: number | null }[]
}

/** How an objective stands, as `/slo` tells it. */
export interface SloStatus extends Standing {
  name: string
  /** The objective in words. */
  objectiveText: string
  description?: string
  indicator: Indicator
  objective: number
  thresholdSeconds?: number
  window: string
  selector: SloSelector
  groupBy: string[]
  /** By what the groups are told apart, under the names of metrics. */
  groups: (Standing & { labels: Record<string, string> })[]
  /** By windows. */
  latencies: Record<string, LatencyReport>
}

/** What `/slo` serves. */
export interface SloReport {
  at: string
  slos: SloStatus[]
}
