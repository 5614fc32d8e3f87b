import { type Int64, isInt64, toInt64 } from '../numbers/int64.ts'
import { CelError, Double, Uint } from './values.ts'

const maxUint = (1n << 64n) - 1n
const integerOverflow = () => new CelError('integer overflow')
const unsignedOverflow = () => new CelError('unsigned integer overflow')

function checked(value: bigint): Int64 {
  if (!isInt64(value)) throw integerOverflow()
  return toInt64(value)
}

function checkedUint(value: bigint): Uint {
  if (value < 0n || value > maxUint) throw unsignedOverflow()
  return new Uint(value)
}

export function addInts(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return checked(BigInt(a) + BigInt(b))
}

export function subtractInts(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b
    if (Number.isSafeInteger(difference)) return difference
  }
  return checked(BigInt(a) - BigInt(b))
}

export function multiplyInts(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (Number.isSafeInteger(product)) return product
  }
  return checked(BigInt(a) * BigInt(b))
}

export function divideInts(a: Int64, b: Int64): Int64 {
  if (b === 0) throw new CelError('division by zero')
  // The quotient of two doubles may be rounded up. The quotient of an exact multiple is exact.
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b
  return checked(BigInt(a) / BigInt(b))
}

export function moduloInts(a: Int64, b: Int64): Int64 {
  if (b === 0) throw new CelError('modulus by zero')
  if (typeof a === 'number' && typeof b === 'number') return a % b
  return checked(BigInt(a) % BigInt(b))
}

export const negateInt = (a: Int64): Int64 => (typeof a === 'number' ? -a : checked(-a))

export const addUints = (a: Uint, b: Uint): Uint => checkedUint(a.value + b.value)
export const subtractUints = (a: Uint, b: Uint): Uint => checkedUint(a.value - b.value)
export const multiplyUints = (a: Uint, b: Uint): Uint => checkedUint(a.value * b.value)

export function divideUints(a: Uint, b: Uint): Uint {
  if (b.value === 0n) throw new CelError('division by zero')
  return new Uint(a.value / b.value)
}

export function moduloUints(a: Uint, b: Uint): Uint {
  if (b.value === 0n) throw new CelError('modulus by zero')
  return new Uint(a.value % b.value)
}

/** Truncates a double to an int. Throws if it does not fit. */
export function doubleToInt(value: number): Int64 {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) throw integerOverflow()
  return checked(BigInt(Math.trunc(value)))
}

export function doubleToUint(value: number): Uint {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) throw unsignedOverflow()
  return new Uint(BigInt(Math.trunc(value)))
}

export const intToUint = (value: Int64): Uint => checkedUint(BigInt(value))
export const uintToInt = (value: Uint): Int64 => checked(value.value)

const compare = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** The number in a value of any numeric type; undefined for other values. */
export function numericValue(value: unknown): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Double || value instanceof Uint) return value.value
  return undefined
}

/**
 * Compares two numbers of any types; NaN if one is NaN. An int and a double are compared as doubles, as in cel-go, so
 * 9223372036854775807 equals 9223372036854775808.0.
 */
export function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a !== a || b !== b) return Number.NaN
  return typeof a === typeof b ? compare(a, b) : compare(Number(a), Number(b))
}

/** A double as Go's shortest form without an exponent up to 21 digits, as `string(x)` prints it. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  const magnitude = Math.abs(value)
  const text = magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e21) ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}
