/**
 * An int64 field: a number if its value is a safe integer, otherwise a bigint. A value has exactly one form, so `===`
 * compares values. `<` and `>` compare numbers with bigints. Arithmetic on both is a type error: `addInt64` does it.
 */
export type Int64 = number | bigint

const maxSafe = BigInt(Number.MAX_SAFE_INTEGER)

/** Whether an integer of any size is in the range of int64. */
export const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

/** An integer in its one form. */
export const toInt64 = (value: bigint): Int64 => (value <= maxSafe && value >= -maxSafe ? Number(value) : value)

/** The sum, which wraps around beyond int64, as it does in Go. */
export function addInt64(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number' && Number.isSafeInteger(a + b)) return a + b
  return toInt64(BigInt.asIntN(64, BigInt(a) + BigInt(b)))
}

const nanosPerSecond = 1_000_000_000n
const nanosPerMs = 1_000_000n
/** Seconds that a Go duration holds. */
const maxDurationSeconds = 9_223_372_036

/**
 * Seconds in milliseconds, as a Go duration: 64 bits of nanoseconds, which wrap around after 292 years. The present
 * plus any of them is a valid time.
 */
export function secondsInMs(seconds: Int64): number {
  if (seconds <= maxDurationSeconds && seconds >= -maxDurationSeconds) return Number(seconds) * 1000
  return Number(BigInt.asIntN(64, BigInt(seconds) * nanosPerSecond) / nanosPerMs)
}

/** The order of sort(). */
export const compareInt64 = (a: Int64, b: Int64): number => (a < b ? -1 : a > b ? 1 : 0)

/** The greatest of several; 0 if none is greater. */
export const maxInt64Of = (values: readonly Int64[]): Int64 =>
  values.reduce((most, value) => (value > most ? value : most), 0)

const decimal = /^[+-]?[0-9]+$/
/** No int64 has as many characters, but for leading zeros. */
const maxChars = 64

/** Reads a text as Go's ParseInt with base 10 and 64 bits does; undefined for what that refuses. */
export function parseInt64(text: string): Int64 | undefined {
  if (text.length > maxChars || !decimal.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return isInt64(value) ? toInt64(value) : undefined
}
