import { type Meter, charge } from '../declarations.ts'
import { numericValue } from '../numbers.ts'
import { formatDuration, formatTimestamp } from '../time.ts'
import {
  CelError,
  Double,
  Duration,
  MapValue,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
  isInt,
  typeName,
} from '../values.ts'

/** A double without an exponent, with as many digits as needed. */
function plainDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity'
  const text = String(value)
  if (!text.includes('e')) return Object.is(value, -0) ? '-0' : text
  const [, sign, digits, fraction = '', power] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text)!
  const exponent = Number(power)
  const all = digits! + fraction
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${all}`
  return sign + all.padEnd(exponent + 1, '0')
}

/** `%s`: any value. */
function plain(value: Value): string {
  if (typeof value === 'string') return value
  if (value === null) return 'null'
  if (typeof value === 'boolean' || isInt(value)) return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Double) return plainDouble(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof TypeValue) return value.name
  if (Array.isArray(value)) return `[${value.map(plain).join(', ')}]`
  if (value instanceof MapValue && !value.type) {
    const entries = value.keys().map((key) => ({ key: plain(key), value: plain(value.get(key)!) }))
    entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    return `{${entries.map((entry) => `${entry.key}: ${entry.value}`).join(', ')}}`
  }
  throw wrongClause(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  )
}

const wrongClause = (sentence: string, value: Value) =>
  new CelError(`error during formatting: ${sentence}, was given ${typeName(value)}`)

function decimal(value: Value): string {
  if (isInt(value)) return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Double) return plainDouble(value.value)
  throw wrongClause('decimal clause can only be used on ints, uints, and doubles', value)
}

function inBase(value: Value, base: 2 | 8, name: string): string {
  if (base === 2 && typeof value === 'boolean') return value ? '1' : '0'
  if (isInt(value) || value instanceof Uint) return numericValue(value)!.toString(base)
  throw wrongClause(
    `${name} clause can only be used on ${base === 2 ? 'ints, uints, and bools' : 'ints and uints'}`,
    value,
  )
}

function hex(value: Value): string {
  if (isInt(value) || value instanceof Uint) return numericValue(value)!.toString(16)
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  throw wrongClause('only ints, uints, bytes, and strings can be formatted as hex', value)
}

function floating(value: Value, precision: number, isScientific: boolean): string {
  const given = numericValue(value)
  const name = isScientific ? 'scientific' : 'fixed-point'
  if (given === undefined) throw wrongClause(`${name} clause can only be used on ints, uints, and doubles`, value)
  const number = Number(given)
  if (!Number.isFinite(number)) return plainDouble(number)
  if (!isScientific)
    return Math.abs(number) >= 1e21 ? `${BigInt(number)}.${'0'.repeat(precision)}` : toFixed(number, precision)
  return number.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2')
}

/** Formats a number with this many decimals. Ties are rounded to even, as in Go. */
function toFixed(number: number, precision: number): string {
  const nearest = number.toFixed(precision)
  const digits = number.toFixed(Math.min(100, precision + 25))
  const cut = digits.length - (Math.min(100, precision + 25) - precision)
  if (!/^50*$/.test(digits.slice(cut))) return nearest
  const lower = precision === 0 ? digits.slice(0, cut - 1) : digits.slice(0, cut)
  return /[02468]$/.test(lower) ? lower : nearest
}

const clause = /%%|%(?:\.(\d+))?([a-zA-Z])|%/g
/** Formatting a number with a fraction takes the longest. */
const clauseCost = { f: 250, e: 100 }
const maxPrecision = 100
const defaultPrecision = 6

function formatOne(kind: string, precision: number, value: Value): string {
  switch (kind) {
    case 's':
      return plain(value)
    case 'd':
      return decimal(value)
    case 'f':
      return floating(value, precision, false)
    case 'e':
      return floating(value, precision, true)
    case 'b':
      return inBase(value, 2, 'binary')
    case 'o':
      return inBase(value, 8, 'octal')
    case 'x':
      return hex(value)
    case 'X':
      return hex(value).toUpperCase()
    default:
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${kind}"`)
  }
}

/** `'%s'.format([x])`, as cel-go's strings extension does. */
export function formatText(meter: Meter, format: string, args: Value[]): string {
  let next = 0
  const text = format.replace(clause, (whole, digits: string | undefined, kind: string | undefined) => {
    if (whole === '%%') return '%'
    if (kind === undefined) throw new CelError('could not parse formatting clause: unexpected end of string')
    const precision = digits === undefined ? defaultPrecision : Number(digits)
    if (precision > maxPrecision)
      throw new CelError(`precision ${precision} exceeds maximum allowed precision (${maxPrecision})`)
    if (next >= args.length) throw new CelError(`index ${next} out of range`)
    const one = formatOne(kind, precision, args[next++]!)
    charge(meter, clauseCost[kind as 'f'] ?? 25)
    charge(meter, one.length / 10)
    return one
  })
  if (next < args.length)
    throw new CelError(`too many arguments supplied to string.format (expected ${next}, got ${args.length})`)
  return text
}
