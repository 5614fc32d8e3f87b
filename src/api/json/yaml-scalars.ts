import { isInt64 } from '../numbers/int64.ts'
import type { Json } from '../object.ts'
import { JsonSyntaxError, exactNumber } from './syntax.ts'

const words = new Map<string, boolean | null>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
])
const longestWord = 5

const beyondJson = new Map([
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, '+Inf'] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, '-Inf'] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, 'NaN'] as const),
])

/** A longer text is not a finite double: 1.8e308 has 309 digits. */
const longestNumber = 400

const radixInteger = /^([-+]?)0(?:([xX])([0-9a-fA-F]+)|([bB])([01]+)|[oO]?([0-7]+))$/
const decimalInteger = /^[-+]?[0-9]+$/
// No two parts can match the same digit, so it never backtracks.
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/

/** True if a character can begin a number, an infinity or NaN. */
const beginsNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b || code === 0x2e

/**
 * Resolves a plain scalar as Go's parser does: the keywords and numbers of YAML 1.1. Sexagesimal numbers and dates stay
 * strings.
 */
export function plainScalar(text: string): Json {
  if (text.length <= longestWord) {
    const word = words.get(text)
    if (word !== undefined) return word
  }
  return beginsNumber(text.charCodeAt(0)) ? (numberIn(text) ?? text) : text
}

function numberIn(text: string): Json | undefined {
  if (text.length > longestNumber) return undefined
  const unreal = beyondJson.get(text)
  if (unreal) throw new JsonSyntaxError(`json: unsupported value: ${unreal}`)
  const digits = text.includes('_') ? text.replaceAll('_', '') : text
  if (decimalInteger.test(digits) && !/^[-+]?0[0-9]/.test(digits)) {
    return digits.length < 16 ? Number(digits) + 0 : wholeNumber(BigInt(digits.replace('+', '')))
  }
  const radix = radixInteger.exec(digits)
  if (radix) {
    const [, sign, , hexadecimal, , binary, octal] = radix
    const value = BigInt(hexadecimal ? `0x${hexadecimal}` : binary ? `0b${binary}` : `0o${octal}`)
    return wholeNumber(sign === '-' ? -value : value)
  }
  if (!float.test(digits)) return undefined
  const value = Number(digits)
  return Number.isFinite(value) ? exactNumber(String(value)) : undefined
}

/** Go's parser reads integers of up to 64 bits, signed or unsigned, and longer ones as doubles. */
const wholeNumber = (value: bigint): number | bigint =>
  exactNumber(String(isInt64(value) || BigInt.asUintN(64, value) === value ? value : Number(value)))

const kindOf = (value: Json): string =>
  value === null
    ? '!!null'
    : typeof value === 'boolean'
      ? '!!bool'
      : typeof value === 'string'
        ? '!!str'
        : Number.isInteger(Number(value))
          ? '!!int'
          : '!!float'

/** Resolves a scalar by its tag. An unknown tag makes it a string. */
export function taggedScalar(tag: string, text: string, isPlain: boolean): Json {
  switch (tag) {
    case '!!binary': {
      const bytes = Buffer.from(text.replace(/\s+/g, ''), 'base64')
      return bytes.toString()
    }
    case '!!null':
    case '!!bool':
    case '!!int':
    case '!!float': {
      const value = plainScalar(text)
      const kind = kindOf(value)
      if (kind !== tag && !(tag === '!!float' && kind === '!!int')) {
        throw new JsonSyntaxError(`yaml: cannot decode ${kind} \`${text.slice(0, 100)}\` as a ${tag}`)
      }
      return value
    }
    case '':
      return isPlain ? plainScalar(text) : text
    default:
      return text
  }
}
