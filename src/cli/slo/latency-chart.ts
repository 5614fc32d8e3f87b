import { printDuration } from '../../base/duration.ts'
import type { LatencyReport } from '../../cluster/index.ts'

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const barWidth = 40

const seconds = (value: number) => printDuration(value * 1000)

/** Returns a bar for a share of the full width; any positive share is visible. */
function bar(share: number): string {
  const parts = share > 0 ? Math.max(1, Math.round(share * barWidth * 8)) : 0
  return '█'.repeat(Math.floor(parts / 8)) + eighths[parts % 8]!
}

/** Formats latencies as bars, slower ones below, with a line at the threshold; and the 90th percentile over time. */
export function latencyChart(report: LatencyReport, thresholdSeconds: number | undefined): string[] {
  if (report.events === 0) return ['  nothing happened']
  const most = Math.max(report.never, ...report.buckets.map(({ count }) => count))
  const isSlow = ({ lessThanSeconds }: { lessThanSeconds: number | null }) =>
    thresholdSeconds !== undefined && (lessThanSeconds === null || lessThanSeconds > thresholdSeconds)
  const line = (label: string, count: number) => `${label.padStart(10)} ${bar(count / most)} ${count}`
  const bars = (slow: boolean) =>
    report.buckets
      .filter((b) => isSlow(b) === slow)
      .map(({ lessThanSeconds, count }) =>
        line(lessThanSeconds === null ? 'longer' : `< ${seconds(lessThanSeconds)}`, count),
      )
  return [
    ...bars(false),
    ...(thresholdSeconds === undefined ? [] : [`${seconds(thresholdSeconds).padStart(10)} ${'┄'.repeat(barWidth)}`]),
    ...bars(true),
    ...(report.never > 0 ? [line('never', report.never)] : []),
    `${'90%'.padStart(10)} ${sparkline(report.history)}`,
  ]
}

/** Formats one character per interval: higher means slower, a dot means no events. */
function sparkline(history: LatencyReport['history']): string {
  const slowest = Math.max(1, ...history.map(({ p90 }) => p90 ?? 0))
  const sign = ({ events, p90 }: LatencyReport['history'][number]) => {
    if (events === 0) return '·'
    return p90 === null ? '█' : levels[Math.min(7, Math.floor((p90 / slowest) * 7))]!
  }
  return `${history.map(sign).join('')} █ is ${seconds(slowest)}`
}

/** `half in less than 3s, 90% in less than 5s, 99% in less than 12s` */
export function quantileText({ p50, p90, p99 }: LatencyReport): string {
  const told = [
    ['half', p50],
    ['90%', p90],
    ['99%', p99],
  ] as const
  return told
    .flatMap(([share, value]) => (value === null ? [] : [`${share} in less than ${seconds(value)}`]))
    .join(', ')
}
