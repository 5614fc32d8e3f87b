import { countCodePoints, isNarrow, offsetOf, pointsBefore, slicePoints } from '../code-points.ts'
import { type Library, type Meter, globalOverload, memberOverload } from '../declarations.ts'
import { characterCost, readCost, traversalCost } from '../run/frame.ts'
import { dynType, intType, listType, stringType } from '../types.ts'
import { CelError, type Value, noSuchOverload } from '../values.ts'
import { formatText } from './string-format.ts'

const text = stringType
const textList = listType(stringType)

const outOfRange = (index: number) => new CelError(`index out of range: ${index}`)
const readOnce = (_: Value, given: string) => readCost(given)
const readTwice = (_: Value, given: string) => Math.ceil(given.length * 4 * characterCost)
/** Changing the case of a string takes longer than reading it. */
const changed = (_: Value, given: string) => Math.ceil(given.length * 4 * characterCost)
const traversed = (_: Value, given: Value) => traversalCost(given)

function charAt(_: Meter, given: string, index: number): string {
  const length = countCodePoints(given)
  if (index < 0 || index > length) throw outOfRange(index)
  return slicePoints(given, index, index + 1)
}

function indexOf(_: Meter, given: string, part: string, from = 0): number {
  const length = countCodePoints(given)
  if (from < 0 || from > length) throw outOfRange(from)
  const found = given.indexOf(part, offsetOf(given, from))
  return found < 0 ? -1 : pointsBefore(given, found)
}

function lastIndexOf(_: Meter, given: string, part: string, from?: number): number {
  const length = countCodePoints(given)
  if (from !== undefined && (from < 0 || from > length)) throw outOfRange(from)
  const found = from === undefined ? given.lastIndexOf(part) : given.lastIndexOf(part, offsetOf(given, from))
  return found < 0 ? -1 : pointsBefore(given, found)
}

function join(_: Meter, list: Value[], separator = ''): string {
  if (list.some((element) => typeof element !== 'string')) throw noSuchOverload()
  return list.join(separator)
}

function replace(_: Meter, given: string, from: string, to: string, limit = -1): string {
  const parts = from === '' ? [...given] : given.split(from)
  const most = limit < 0 ? Infinity : limit
  if (from !== '') return joinFirst(parts, from, to, most)
  // An empty string matches before every character, and at the end.
  let result = ''
  parts.forEach((part, i) => (result += (i < most ? to : '') + part))
  return result + (parts.length < most ? to : '')
}

function joinFirst(parts: string[], from: string, to: string, most: number): string {
  let result = parts[0]!
  for (let i = 1; i < parts.length; i++) result += (i <= most ? to : from) + parts[i]!
  return result
}

function split(_: Meter, given: string, separator: string, limit = -1): string[] {
  if (limit === 0) return []
  const parts = separator === '' ? [...given] : given.split(separator)
  if (limit < 0 || parts.length <= limit) return parts
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

function substring(_: Meter, given: string, from: number, to?: number): string {
  const length = isNarrow(given) ? given.length : countCodePoints(given)
  if (from < 0 || from > length) throw outOfRange(from)
  if (to !== undefined && (to < 0 || to > length)) throw outOfRange(to)
  if (to !== undefined && from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`)
  return slicePoints(given, from, to)
}

// Only letters of ASCII change.
const lower = (given: string) => given.replace(/[A-Z]+/g, (part) => part.toLowerCase())
const upper = (given: string) => given.replace(/[a-z]+/g, (part) => part.toUpperCase())

// Unicode's white space. JavaScript's `\s` has U+FEFF in addition, and lacks U+0085.
const blank = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const edges = new RegExp(`^${blank}|${blank}$`, 'g')

const escapes: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}
const loneSurrogates = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
// oxlint-disable-next-line no-control-regex
const escaped = /[\x07\b\f\n\r\t\v\\"]/g
const quote = (given: string) =>
  `"${given.replace(escaped, (char) => escapes[char]!).replace(loneSurrogates, '\ufffd')}"`

/** Version 2 of cel-go's strings extension, which Kubernetes has. Positions are in code points. */
export const strings: Library = {
  name: 'strings',
  functions: {
    charAt: [memberOverload('string_char_at_int', [text, intType], text, charAt, readOnce)],
    indexOf: [
      memberOverload('string_index_of_string', [text, text], intType, indexOf, traversed),
      memberOverload('string_index_of_string_int', [text, text, intType], intType, indexOf, traversed),
    ],
    lastIndexOf: [
      memberOverload('string_last_index_of_string', [text, text], intType, lastIndexOf, traversed),
      memberOverload('string_last_index_of_string_int', [text, text, intType], intType, lastIndexOf, traversed),
    ],
    join: [
      memberOverload('list_join', [textList], text, join, readTwice),
      memberOverload('list_join_string', [textList, text], text, join, (result) =>
        Math.ceil((result as string).length * 2 * characterCost),
      ),
    ],
    lowerAscii: [memberOverload('string_lower_ascii', [text], text, (_, given: string) => lower(given), changed)],
    upperAscii: [memberOverload('string_upper_ascii', [text], text, (_, given: string) => upper(given), changed)],
    replace: [
      memberOverload('string_replace_string_string', [text, text, text], text, replace, readTwice),
      memberOverload('string_replace_string_string_int', [text, text, text, intType], text, replace, readTwice),
    ],
    split: [
      memberOverload('string_split_string', [text, text], textList, split, readTwice),
      memberOverload('string_split_string_int', [text, text, intType], textList, split, readTwice),
    ],
    substring: [
      memberOverload('string_substring_int', [text, intType], text, substring, readOnce),
      memberOverload('string_substring_int_int', [text, intType, intType], text, substring, readOnce),
    ],
    trim: [memberOverload('string_trim', [text], text, (_, given: string) => given.replace(edges, ''), readOnce)],
    format: [
      memberOverload('string_format', [text, listType(dynType)], text, formatText, (result) => 30 + readCost(result)),
    ],
    'strings.quote': [globalOverload('strings_quote', [text], text, (_, given: string) => quote(given), readOnce)],
  },
}
