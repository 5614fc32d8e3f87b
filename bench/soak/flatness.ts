/** An amount at a time, in minutes since the start. */
export interface Sample {
  minute: number
  value: number
}

/** The linear regression of samples. */
export interface Trend {
  /** By how much the line rises over all of the samples, in their own unit and in percent of their mean. */
  growth: number
  percent: number
  perMinute: number
  /** The slope in multiples of its standard error: below 2 it may be noise. */
  standardErrors: number
  samples: number
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Fits a straight line by least squares. Undefined for fewer than three samples, which say nothing about noise. */
export function trendOf(samples: readonly Sample[]): Trend | undefined {
  const n = samples.length
  if (n < 3) return undefined
  const meanX = sum(samples.map((s) => s.minute)) / n
  const meanY = sum(samples.map((s) => s.value)) / n
  const squares = sum(samples.map((s) => (s.minute - meanX) ** 2))
  if (squares === 0) return undefined
  const slope = sum(samples.map((s) => (s.minute - meanX) * (s.value - meanY))) / squares
  const misses = sum(samples.map((s) => (s.value - meanY - slope * (s.minute - meanX)) ** 2))
  const error = Math.sqrt(misses / (n - 2) / squares)
  const minutes = samples.map((s) => s.minute)
  const growth = slope * (Math.max(...minutes) - Math.min(...minutes))
  const standardErrors = error === 0 ? (slope === 0 ? 0 : Number.MAX_SAFE_INTEGER) : slope / error
  return { growth, percent: meanY === 0 ? 0 : (growth / meanY) * 100, perMinute: slope, standardErrors, samples: n }
}

/** True if a trend is no growth: within the tolerance, or not to be told from noise. */
export const isFlat = ({ percent, standardErrors }: Trend, tolerancePercent: number): boolean =>
  percent <= tolerancePercent || standardErrors < 2

/** The samples of the second half of the time. */
export function secondHalf(samples: readonly Sample[]): Sample[] {
  const minutes = samples.map((s) => s.minute)
  const middle = (Math.min(...minutes) + Math.max(...minutes)) / 2
  return samples.filter((s) => s.minute >= middle)
}

/**
 * The smallest value of each window, at the window's start. What garbage collection takes back is not kept: memory that
 * leaks is in the smallest values as well.
 */
export function lowest(samples: readonly Sample[], windowMinutes: number): Sample[] {
  const windows = new Map<number, number>()
  for (const { minute, value } of samples) {
    const window = Math.floor(minute / windowMinutes)
    windows.set(window, Math.min(value, windows.get(window) ?? Number.POSITIVE_INFINITY))
  }
  return Array.from(windows, ([window, value]) => ({ minute: window * windowMinutes, value }))
}
