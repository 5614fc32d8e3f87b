import { RE2JS, RE2JSException } from 're2js'
import { type Meter, charge } from './declarations.ts'
import { characterCost, patternCost } from './run/frame.ts'

/** A compiled regular expression and its size with repetitions expanded. */
interface Pattern {
  re: RE2JS
  size: number
}

/** Larger patterns are rejected: `(abc…){1000}` takes tens of milliseconds to compile. */
const maxSize = 20_000

const repetition = /\{(\d+)(?:,(\d*))?\}/y

/**
 * The number of parts of a pattern when `x{3}` is expanded to `xxx`. It bounds the time to compile it, and to match it
 * in the worst case.
 */
function patternSize(text: string): number {
  const groups = [0]
  let last = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    repetition.lastIndex = at
    const times = char === '{' ? repetition.exec(text) : null
    if (times) {
      const count = Math.max(Number(times[1]), Number(times[2] || 0), 1)
      groups[groups.length - 1]! += last * (count - 1)
      last *= count
      at += times[0].length - 1
    } else if (char === '(') groups.push(0)
    else if (char === ')' && groups.length > 1) {
      last = groups.pop()! + 1
      groups[groups.length - 1]! += last
    } else {
      if (char === '\\') at++
      else if (char === '[') at = Math.max(at, text.indexOf(']', at + 2))
      last = 1
      groups[groups.length - 1]! += 1
    }
  }
  return groups.reduce((sum, size) => sum + size, 0)
}

// A cache of two generations: entries that were used since the last rotation are kept.
let young = new Map<string, Pattern | undefined>()
let old = new Map<string, Pattern | undefined>()
const generationSize = 1024

/** Compiles a regular expression in RE2's syntax, which matches in linear time; undefined if it is invalid. */
export function compilePattern(text: string): RE2JS | undefined {
  return cached(text)?.re
}

/**
 * The maximum of a text's length multiplied by the size of the pattern. A match takes up to 14 ns for each of these,
 * so 1.5 MB can be matched by a pattern of ten parts, and by a pattern of 900 parts at most 17 KB.
 */
const mostWork = 16_000_000

/** Returns a function that matches texts. Undefined if the pattern is invalid. */
export function matcherOf(pattern: string): ((text: string) => boolean | 'too long') | undefined {
  const compiled = cached(pattern)
  return (
    compiled && ((text) => (text.length * compiled.size > mostWork ? 'too long' : compiled.re.matcher(text).find()))
  )
}

function cached(text: string): Pattern | undefined {
  if (young.has(text)) return young.get(text)
  const pattern = old.has(text) ? old.get(text) : make(text)
  if (young.size >= generationSize) {
    old = young
    young = new Map()
  }
  young.set(text, pattern)
  return pattern
}

function make(text: string): Pattern | undefined {
  const size = patternSize(text)
  if (size > maxSize) return undefined
  try {
    return { re: RE2JS.compile(text), size }
  } catch (error) {
    if (error instanceof RE2JSException) return undefined
    throw error
  }
}

// Measured: compiling takes 40 µs and 0.8 µs per part; matching takes up to 50 ns per character for four parts.
const compileCost = 4_000
const compilePartCost = 80
const matchFactor = 4

/**
 * Compiles a pattern for a match against a string. The cost is charged before anything runs: cel-go's cost, and more
 * where re2js is slower.
 */
export function patternFor(meter: Meter, pattern: string, text: string): RE2JS | undefined {
  if (!young.has(pattern) && !old.has(pattern))
    charge(meter, compileCost + Math.min(patternSize(pattern), maxSize) * compilePartCost)
  const compiled = cached(pattern)
  const size = Math.max(pattern.length, compiled?.size ?? 0)
  charge(meter, matchFactor * Math.ceil((1 + text.length) * characterCost) * Math.ceil(size * patternCost))
  return compiled?.re
}
