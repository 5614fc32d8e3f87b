/** The notation of a quantity: powers of 1024 (`2Gi`), powers of 1000 (`2G`, `500m`), or an exponent (`2e9`). */
type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent'

/** An exact amount, `mantissa` × 10^`scale`, with the canonical text of Kubernetes. */
interface Quantity {
  readonly mantissa: bigint
  readonly scale: number
  readonly format: QuantityFormat
  readonly text: string
}

/** A parse error of a quantity, in Kubernetes' words. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QuantityError'
  }
}

const wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const wrongNumber = 'unable to parse numeric part of quantity'
const wrongSuffix = "unable to parse quantity's suffix"

// As lenient as Kubernetes' scanner: no digits at all count as zero. No two parts can match the same digit, so
// backtracking is limited.
const shape = /^([+-]?)0*([1-9][0-9]*)?(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?)$/

const binaryExponents: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const decimalExponents: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const decimalSuffixes = new Map(Object.entries(decimalExponents).map(([suffix, exponent]) => [exponent, suffix]))

const nano = -9
const milli = -3
const maxBinary = (1n << 63n) - 1n

// Bounds far beyond any real quantity. They keep the arithmetic cheap for any input.
const maxLength = 1024
const maxExponent = 400

const pow10 = (n: number) => 10n ** BigInt(n)
const abs = (n: bigint) => (n < 0n ? -n : n)

/** Divides by 10^`digits` and rounds away from zero, so a small request never becomes 0. */
function divideUp(mantissa: bigint, digits: number): bigint {
  if (digits > abs(mantissa).toString().length) return mantissa === 0n ? 0n : mantissa < 0n ? -1n : 1n
  const divisor = pow10(digits)
  const quotient = mantissa / divisor
  if (quotient * divisor === mantissa) return quotient
  return mantissa < 0n ? quotient - 1n : quotient + 1n
}

/** The amount in units of 10^`scale`, rounded away from zero. */
const atScale = (q: Pick<Quantity, 'mantissa' | 'scale'>, scale: number): bigint =>
  q.scale >= scale ? q.mantissa * pow10(q.scale - scale) : divideUp(q.mantissa, scale - q.scale)

function binaryText(integer: bigint): string {
  let n = integer
  let power = 0
  while (power < binarySuffixes.length - 1 && n % 1024n === 0n) {
    n /= 1024n
    power++
  }
  return `${n}${binarySuffixes[power]}`
}

function decimalText(mantissa: bigint, scale: number, format: QuantityFormat): string {
  let digits = mantissa.toString()
  const zeros = digits.length - digits.replace(/0+$/, '').length
  digits = digits.slice(0, digits.length - zeros)
  let exponent = scale + zeros
  // The exponent must be a multiple of three. Kubernetes' suffixes end at E, so larger amounts get more digits.
  const excess = ((exponent % 3) + 3) % 3
  const beyond = format === 'DecimalSI' ? Math.max(0, exponent - excess - 18) : 0
  digits += '0'.repeat(excess + beyond)
  exponent -= excess + beyond
  if (format === 'DecimalSI') return digits + decimalSuffixes.get(exponent)
  return exponent === 0 ? digits : `${digits}e${exponent}`
}

function canonicalText(mantissa: bigint, scale: number, format: QuantityFormat): string {
  if (mantissa === 0n) return '0'
  if (format !== 'BinarySI') return decimalText(mantissa, scale, format)
  const integer = atScale({ mantissa, scale }, 0)
  const exact = scale >= 0 || integer * pow10(-scale) === mantissa
  return exact && abs(integer) >= 1024n ? binaryText(integer) : decimalText(mantissa, scale, 'DecimalSI')
}

const make = (mantissa: bigint, scale: number, format: QuantityFormat, text?: string): Quantity =>
  Object.freeze({ mantissa, scale, format, text: text ?? canonicalText(mantissa, scale, format) })

function interpretSuffix(suffix: string): { exponent: number; format: QuantityFormat } {
  if (Object.hasOwn(binaryExponents, suffix)) return { exponent: binaryExponents[suffix]!, format: 'BinarySI' }
  if (Object.hasOwn(decimalExponents, suffix)) return { exponent: decimalExponents[suffix]!, format: 'DecimalSI' }
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) throw new QuantityError(wrongSuffix)
  const exponent = Number(suffix.slice(1))
  if (exponent > maxExponent) throw new QuantityError(wrongSuffix)
  return { exponent: Math.max(exponent, -maxExponent), format: 'DecimalExponent' }
}

/** True if Kubernetes' fast path treats the number as canonical and returns the original text, such as `1.500`. */
function isKeptAsWritten(
  digits: string,
  exponent: number,
  scale: number,
  hasFraction: boolean,
  format: QuantityFormat,
): boolean {
  if (format === 'BinarySI')
    return !hasFraction && 15 - digits.length - (exponent * 3) / 10 - 1 >= 0 && (BigInt(digits) & 7n) !== 0n
  return digits.length <= 18 && scale >= nano && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
}

function parse(text: string): Quantity {
  if (text === '') throw new QuantityError(wrongFormat)
  const parts = shape.exec(text)
  if (!parts) throw new QuantityError(wrongFormat)
  if (text.length > maxLength) throw new QuantityError(wrongNumber)
  const [, sign, whole = '', fraction = '', suffix = ''] = parts
  const { exponent, format } = interpretSuffix(suffix)
  const digits = (whole || '0') + fraction
  const magnitude = BigInt(digits)
  const mantissa = sign === '-' ? -magnitude : magnitude
  if (format !== 'BinarySI') {
    const scale = exponent - fraction.length
    if (isKeptAsWritten(digits, exponent, scale, fraction !== '', format)) return make(mantissa, scale, format, text)
    return scale >= nano ? make(mantissa, scale, format) : make(divideUp(mantissa, nano - scale), nano, format)
  }
  if (isKeptAsWritten(digits, exponent, 0, fraction !== '', format))
    return make(mantissa << BigInt(exponent), 0, format, text)
  return parseBinary(mantissa << BigInt(exponent), -fraction.length)
}

function parseBinary(mantissa: bigint, scale: number): Quantity {
  const isFine = scale < nano
  const rounded = isFine ? divideUp(mantissa, nano - scale) : mantissa
  const unit = pow10(isFine ? -nano : -scale)
  if (abs(rounded) > maxBinary * unit) return make(mantissa < 0n ? -maxBinary : maxBinary, 0, 'BinarySI')
  const format = abs(rounded) < unit && rounded !== 0n ? 'DecimalSI' : 'BinarySI'
  return make(rounded, isFine ? nano : scale, format)
}

// The same few quantities ("100m", "1Gi") occur in every object.
const cache = new Map<string, Quantity>()
const cacheSize = 2048

/** Parses a quantity. Throws a QuantityError with the reason if it is invalid. */
export function parseQuantity(text: string): Quantity {
  const known = cache.get(text)
  if (known) return known
  const quantity = parse(text)
  if (text.length <= 32) {
    if (cache.size >= cacheSize) cache.clear()
    cache.set(text, quantity)
  }
  return quantity
}

/** The canonical text: `1000m` → `1`, `0.5` → `500m`, `1.5Gi` → `1536Mi`. */
export const canonicalQuantity = (text: string): string => parseQuantity(text).text

/** True if the text is a valid quantity. */
export function isQuantity(text: string): boolean {
  try {
    parseQuantity(text)
    return true
  } catch (error) {
    if (error instanceof QuantityError) return false
    throw error
  }
}

/** True if two quantities have the same value in any notation. */
export function compareQuantity(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0
  const x = parseQuantity(a)
  const y = parseQuantity(b)
  const scale = Math.min(x.scale, y.scale)
  const difference = atScale(x, scale) - atScale(y, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function add(x: Quantity, y: Quantity, sign: 1n | -1n): Quantity {
  const scale = Math.min(x.scale, y.scale)
  // A sum that starts from zero adopts the notation of the addend.
  return make(atScale(x, scale) + sign * atScale(y, scale), scale, x.mantissa === 0n ? y.format : x.format)
}

const zero = make(0n, 0, 'DecimalSI', '0')

/** The sum in canonical form, in the notation of the first nonzero operand. */
export const addQuantities = (...texts: string[]): string =>
  texts.reduce((sum, text) => add(sum, parseQuantity(text), 1n), zero).text

/** The difference in canonical form. */
export const subtractQuantities = (a: string, b: string): string => add(parseQuantity(a), parseQuantity(b), -1n).text

/** Compares two quantities: -1, 0 or 1. */
export function quantitySign(text: string): -1 | 0 | 1 {
  const { mantissa } = parseQuantity(text)
  return mantissa < 0n ? -1 : mantissa > 0n ? 1 : 0
}

export const isZeroQuantity = (text: string): boolean => parseQuantity(text).mantissa === 0n

/** The value in whole units, rounded away from zero. */
export const quantityValue = (text: string): bigint => atScale(parseQuantity(text), 0)

/** The value in thousandths, rounded away from zero. */
export const quantityMilli = (text: string): bigint => atScale(parseQuantity(text), milli)

/** True if the value, rounded to thousandths, is a whole number. */
export const quantityIsInteger = (text: string): boolean => quantityMilli(text) % 1000n === 0n

/** The nearest floating point number. */
export function quantityToNumber(text: string): number {
  const { mantissa, scale } = parseQuantity(text)
  return Number(scale >= 0 ? mantissa * pow10(scale) : `${mantissa}e${scale}`)
}

/** The value rounded up to thousandths, as Kubernetes stores every entry of a resource list. */
export function roundUpToMilli(text: string): string {
  const q = parseQuantity(text)
  return q.scale >= milli ? q.text : make(atScale(q, milli), milli, q.format).text
}
