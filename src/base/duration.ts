const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Parses `1m30s`, `250ms`, `9s`; undefined for anything else. */
export function parseDuration(text: string | undefined): number | undefined {
  if (!text || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined
  let sum = 0
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) sum += Number(amount) * unitMs[unit!]!
  return sum
}

/** Formats a duration as Go does: `1m30s`, `250ms`, `1.5s`. */
export function printDuration(ms: number): string {
  if (ms < 1000) return ms === 0 ? '0s' : `${ms}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = (ms % 60_000) / 1000
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}
