/**
 * An int64 field: a number if its value is a safe integer, otherwise a bigint. Every value has exactly one form, so
 * `===` compares values. `<` and `>` compare numbers with bigints. Arithmetic on both is a type error; use `addInt64`.
 */
export type Int64 = number | bigint

const maxSafe = BigInt(Number.MAX_SAFE_INTEGER)

/** True if an integer is in the range of int64. */
export const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

/** Normalizes an integer to its only form. */
export const toInt64 = (value: bigint): Int64 => (value <= maxSafe && value >= -maxSafe ? Number(value) : value)

/** Adds with wrap-around at 64 bits, as Go does. */
export function addInt64(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number' && Number.isSafeInteger(a + b)) return a + b
  return toInt64(BigInt.asIntN(64, BigInt(a) + BigInt(b)))
}

const nanosPerSecond = 1_000_000_000n
const nanosPerMs = 1_000_000n
/** The maximum number of seconds of a Go duration. */
const maxDurationSeconds = 9_223_372_036

/**
 * Converts seconds to milliseconds as a Go duration does: 64 bits of nanoseconds, which wrap around after 292 years.
 * The current time plus the result is always a valid time.
 */
export function secondsInMs(seconds: Int64): number {
  if (seconds <= maxDurationSeconds && seconds >= -maxDurationSeconds) return Number(seconds) * 1000
  return Number(BigInt.asIntN(64, BigInt(seconds) * nanosPerSecond) / nanosPerMs)
}

/** Compare function for sort(). */
export const compareInt64 = (a: Int64, b: Int64): number => (a < b ? -1 : a > b ? 1 : 0)

/** The maximum; 0 if no value is greater. */
export const maxInt64Of = (values: readonly Int64[]): Int64 =>
  values.reduce((most, value) => (value > most ? value : most), 0)

const decimal = /^[+-]?[0-9]+$/
/** The maximum length of an int64 without leading zeros. */
const maxChars = 64

/** Parses a string as Go's ParseInt with base 10 and 64 bits does; undefined if that fails. */
export function parseInt64(text: string): Int64 | undefined {
  if (text.length > maxChars || !decimal.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return isInt64(value) ? toInt64(value) : undefined
}
