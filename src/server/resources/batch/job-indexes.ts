import type { FieldError } from '../../../api/validation/field-error.ts'
import { invalid } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'

interface Interval {
  first: number
  last: number
}

type Parsed = { interval: Interval } | { problem: string }

/** Parses one element of a list of indexes: `5` or `2-4`. */
function parseInterval(text: string, completions: number): Parsed {
  const limits = text.split('-')
  if (limits.length > 2) {
    return {
      problem: `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    }
  }
  const numbers: number[] = []
  for (const limit of limits) {
    if (!/^\+?[0-9]+$/.test(limit))
      return { problem: `cannot convert string to integer for index: ${JSON.stringify(limit)}` }
    if (Number(limit) >= completions) return { problem: `too large index: ${JSON.stringify(limit)}` }
    numbers.push(Number(limit))
  }
  const [first, last = first] = numbers as [number, number?]
  if (limits.length === 2 && first >= last)
    return { problem: `non-increasing order, previous: ${first}, current: ${last}` }
  return { interval: { first, last } }
}

/**
 * Counts the indexes in a text such as `1,3-5`, or describes its error. Indexes must increase and be below
 * `completions`.
 */
export function countIndexes(text: string, completions: number): { total: number } | { problem: string } {
  if (text === '') return { total: 0 }
  let previous: number | undefined
  let total = 0
  for (const part of text.split(',')) {
    const parsed = parseInterval(part, completions)
    if ('problem' in parsed) return parsed
    const { first, last } = parsed.interval
    if (previous !== undefined && previous >= first)
      return { problem: `non-increasing order, previous: ${previous}, current: ${first}` }
    total += last - first + 1
    previous = last
  }
  return { total }
}

/** Validates a list of indexes. `name` is the field's name in the message. */
export function validateIndexes(text: string, completions: number, name: string, path: Path): FieldError[] {
  const counted = countIndexes(text, completions)
  return 'problem' in counted ? [invalid(path, text, `error parsing ${name}: ${counted.problem}`)] : []
}

const intervals = (text: string, completions: number): Interval[] =>
  text.split(',').flatMap((part) => {
    const parsed = parseInterval(part, completions)
    // Malformed elements are reported by the format check.
    return 'interval' in parsed ? [parsed.interval] : []
  })

/** Returns the first index that is in both lists. */
export function sharedIndex(a: string, b: string, completions: number): number | undefined {
  if (a === '' || b === '') return undefined
  const [left, right] = [intervals(a, completions), intervals(b, completions)]
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const [x, y] = [left[i]!, right[j]!]
    if (x.first <= y.last && y.first <= x.last) return Math.max(x.first, y.first)
    if (x.first <= y.first) i++
    else j++
  }
  return undefined
}
