import type { Standing } from './judge.ts'
import type { Indicator, SloSelector } from './slo-file.ts'

/** The latencies of a window, counted by upper bounds. */
export interface LatencyReport {
  events: number
  /** Pods that were never ready. */
  never: number
  /** `lessThanSeconds` is null beyond all bounds. Empty entries are omitted. */
  buckets: { lessThanSeconds: number | null; count: number }[]
  /** Upper bounds of the 50th, 90th and 99th percentile. Null without such a bound, or without events. */
  p50: number | null
  p90: number | null
  p99: number | null
  /** The window in 40 parts, oldest first. `p90` is the upper bound of the 90th percentile in each. */
  history: { events: number; bad: number; p90: number | null }[]
}

/** The state of an objective in the response of `/slo`. */
export interface SloStatus extends Standing {
  name: string
  /** The objective as a sentence. */
  objectiveText: string
  description?: string
  indicator: Indicator
  objective: number
  thresholdSeconds?: number
  window: string
  selector: SloSelector
  groupBy: string[]
  /** The metric labels of its groups. */
  groups: (Standing & { labels: Record<string, string> })[]
  /** By window. */
  latencies: Record<string, LatencyReport>
}

/** The response of `/slo`. */
export interface SloReport {
  at: string
  slos: SloStatus[]
}
