const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

const whole = (ms: number, unit: number) => Math.trunc(ms / unit)

const two = (large: number, largeUnit: string, small: number, smallUnit: string) =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`

/**
 * Formats a duration with about two units, as kubectl prints ages: `45s`, `3m20s`, `5h`, `2d4h`, `1y30d`. Up to a
 * second in the future is 0s.
 */
export function humanDuration(ms: number): string {
  const seconds = whole(ms, second)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = whole(ms, minute)
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = whole(ms, hour)
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (hours < 24 * 8) return two(whole(hours, 24), 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${whole(hours, 24)}d`
  const years = whole(hours, 24 * 365)
  if (hours < 24 * 365 * 8) return two(years, 'y', whole(hours, 24) % 365, 'd')
  return `${whole(ms, year)}y`
}

/** Formats the age of a timestamp: `5m`, or `<unknown>` if there is none. */
export function ageOf(timestamp: string | undefined | null, now: number): string {
  if (!timestamp) return '<unknown>'
  return humanDuration(now - Date.parse(timestamp))
}
