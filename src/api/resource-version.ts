import { type Int64, toInt64 } from './numbers/int64.ts'

const maxUint64 = (1n << 64n) - 1n

/** Go's error for an invalid unsigned integer. */
function parseProblem(text: string): string | undefined {
  if (!/^[0-9]+$/.test(text)) return `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
  if (BigInt(text.slice(0, 64)) > maxUint64)
    return `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`
  return undefined
}

/**
 * Parses a resource version, a uint64 as `Int64`; absent and empty are 0. Throws `fail` of Kubernetes' message, since
 * each verb has its own.
 */
export function parseResourceVersion(text: string | null | undefined, fail: (message: string) => Error): Int64 {
  if (!text) return 0
  const problem = parseProblem(text)
  if (problem) throw fail(`resourceVersion: Invalid value: ${JSON.stringify(text)}: ${problem}`)
  return toInt64(BigInt(text))
}

const withoutZeros = (version: string): string => (version.startsWith('0') ? version.replace(/^0+(?=.)/, '') : version)

/** Compares two resource versions as numbers of any length, ignoring leading zeros. */
export function compareResourceVersions(a: string, b: string): -1 | 0 | 1 {
  const x = withoutZeros(a)
  const y = withoutZeros(b)
  if (x.length !== y.length) return x.length < y.length ? -1 : 1
  return x < y ? -1 : x > y ? 1 : 0
}
