import { parseDuration } from '../../base/duration.ts'

const dayMs = 24 * 3_600_000

/** Reads `30d`, `4w`, `6h`, `1h30m`; undefined for anything else. */
export function parseWindow(text: string): number | undefined {
  const [, amount, unit] = /^(\d+)([dw])$/.exec(text) ?? []
  return amount ? Number(amount) * (unit === 'w' ? 7 : 1) * dayMs : parseDuration(text)
}

const units: [string, number][] = [['d', dayMs], ['h', 3_600_000], ['m', 60_000], ['s', 1000], ['ms', 1]]

/** As Prometheus writes it, in the largest unit that leaves nothing over: `30d`, `90m`. */
export function printWindow(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms % length === 0) ?? ['ms', 1]
  return `${ms / length}${unit}`
}
