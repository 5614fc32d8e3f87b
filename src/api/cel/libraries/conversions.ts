import { type Int64, isInt64, parseInt64, toInt64 } from '../../numbers/int64.ts'
import { type Library, type Overload, globalOverload } from '../declarations.ts'
import { doubleToInt, doubleToUint, formatDouble, intToUint, uintToInt } from '../numbers.ts'
import { characterCost } from '../run/frame.ts'
import { checkedTimestamp, formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../time.ts'
import {
  type CelType,
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  stringType,
  timestampType,
  uintType,
} from '../types.ts'
import { CelError, Double, type Duration, type Timestamp, Uint, type Value } from '../values.ts'

const second = 1_000_000_000n
const decoder = new TextDecoder('utf-8', { fatal: true })

const notConvertible = (from: string, to: string, value: string) =>
  new CelError(`type conversion error from '${from}' to '${to}': ${value}`)

function textToInt(text: string): Int64 {
  const value = parseInt64(text)
  if (value === undefined) throw notConvertible('string', 'int', text)
  return value
}

function textToUint(text: string): Uint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n
  if (value < 0n || value >= 1n << 64n) throw notConvertible('string', 'uint', text)
  return new Uint(value)
}

const doublePattern = /^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf|infinity|nan)$/i

function textToDouble(text: string): Double {
  if (text.length > 400 || !doublePattern.test(text)) throw notConvertible('string', 'double', text)
  if (/nan/i.test(text)) return new Double(Number.NaN)
  if (/inf/i.test(text)) return new Double(text.startsWith('-') ? -Infinity : Infinity)
  return new Double(Number(text))
}

const trueTexts = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const falseTexts = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

function textToBool(text: string): boolean {
  if (trueTexts.has(text)) return true
  if (falseTexts.has(text)) return false
  throw notConvertible('string', 'bool', text)
}

function bytesToText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

function textToDuration(text: string): Duration {
  const duration = parseDuration(text)
  if (!duration) throw notConvertible('string', 'google.protobuf.Duration', text)
  return duration
}

function textToTimestamp(text: string): Timestamp {
  const time = parseTimestamp(text)
  if (!time) throw notConvertible('string', 'google.protobuf.Timestamp', text)
  return time
}

function durationToInt({ nanos }: Duration): Int64 {
  return toInt64(nanos / second)
}

function timestampToInt({ nanos }: Timestamp): Int64 {
  const seconds = nanos >= 0n ? nanos / second : -((-nanos + second - 1n) / second)
  return isInt64(seconds) ? toInt64(seconds) : 0
}

/** The cost of converting between bytes and strings. */
const textCost = (_: Value, given: { length: number }) => Math.ceil(given.length * characterCost)

const decodeCost = (result: Value, given: { length: number }) => 50 + textCost(result, given)

/** Parsing and printing take longer here than cel-go's cost of 1. */
const slow = (cost: number) => () => cost

const conversion = (
  id: string,
  from: CelType,
  to: CelType,
  run: (value: any) => Value,
  cost?: Overload['cost'],
): Overload => globalOverload(id, [from], to, (_, value) => run(value), cost)

const same = (value: Value) => value

/** Conversion functions by the name of the target type. */
export const conversions: Library = {
  name: 'conversions',
  functions: {
    int: [
      conversion('int64_to_int64', intType, intType, same),
      conversion('uint64_to_int64', uintType, intType, uintToInt),
      conversion('double_to_int64', doubleType, intType, (value: Double) => doubleToInt(value.value)),
      conversion('string_to_int64', stringType, intType, textToInt, slow(20)),
      conversion('timestamp_to_int64', timestampType, intType, timestampToInt),
      conversion('duration_to_int64', durationType, intType, durationToInt),
    ],
    uint: [
      conversion('uint64_to_uint64', uintType, uintType, same),
      conversion('int64_to_uint64', intType, uintType, intToUint),
      conversion('double_to_uint64', doubleType, uintType, (value: Double) => doubleToUint(value.value)),
      conversion('string_to_uint64', stringType, uintType, textToUint, slow(20)),
    ],
    double: [
      conversion('double_to_double', doubleType, doubleType, same),
      conversion('int64_to_double', intType, doubleType, (value: Int64) => new Double(Number(value)), slow(5)),
      conversion('uint64_to_double', uintType, doubleType, (value: Uint) => new Double(Number(value.value))),
      conversion('string_to_double', stringType, doubleType, textToDouble, slow(40)),
    ],
    bool: [
      conversion('bool_to_bool', boolType, boolType, same),
      conversion('string_to_bool', stringType, boolType, textToBool),
    ],
    string: [
      conversion('string_to_string', stringType, stringType, same),
      conversion('bool_to_string', boolType, stringType, String),
      conversion('int64_to_string', intType, stringType, String, slow(8)),
      conversion('uint64_to_string', uintType, stringType, (value: Uint) => String(value.value), slow(12)),
      conversion('double_to_string', doubleType, stringType, (value: Double) => formatDouble(value.value), slow(40)),
      conversion('bytes_to_string', bytesType, stringType, bytesToText, decodeCost),
      conversion('timestamp_to_string', timestampType, stringType, formatTimestamp, slow(200)),
      conversion('duration_to_string', durationType, stringType, formatDuration, slow(50)),
    ],
    bytes: [
      conversion('bytes_to_bytes', bytesType, bytesType, same),
      conversion(
        'string_to_bytes',
        stringType,
        bytesType,
        (text: string) => new Uint8Array(Buffer.from(text, 'utf8')),
        textCost,
      ),
    ],
    timestamp: [
      conversion('timestamp_to_timestamp', timestampType, timestampType, same),
      conversion('string_to_timestamp', stringType, timestampType, textToTimestamp, slow(200)),
      conversion('int64_to_timestamp', intType, timestampType, (value: Int64) =>
        checkedTimestamp(BigInt(value) * second),
      ),
    ],
    duration: [
      conversion('duration_to_duration', durationType, durationType, same),
      conversion('string_to_duration', stringType, durationType, textToDuration, slow(120)),
      conversion('int64_to_duration', intType, durationType, (value: Int64) => textToDuration(`${value}s`), slow(120)),
    ],
  },
}
