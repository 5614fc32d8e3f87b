import type { Json } from '../object.ts'
import { JsonSyntaxError, Members, parseTree, plainValue } from './syntax.ts'
import type { Tree } from './syntax.ts'

export interface Parsed {
  value: Json
  /** Paths of duplicate fields: `metadata.name`, `spec.containers[0].image`. */
  duplicates: string[]
  /**
   * True if any number was written with a fraction or an exponent: `3.0` parses to `3`, but Kubernetes does not accept
   * it as an integer.
   */
  hasFractions: boolean
}

interface Census {
  members: number
  depth: number
  hasFractions: boolean
}

const quote = 0x22
const backslash = 0x5c

/** The end of a string that starts at `from`, after its closing quote. */
function skipString(text: string, from: number): number {
  let at = from + 1
  for (;;) {
    const end = text.indexOf('"', at)
    if (end < 0) return text.length
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end + 1
    at = end + 1
  }
}

/** Counts the tokens of a valid text in one pass, without allocation. */
function census(text: string): Census {
  let members = 0
  let depth = 0
  let deepest = 0
  let hasFractions = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = skipString(text, at) - 1
        break
      case 0x3a: // :
        members++
        break
      case 0x7b: // {
      case 0x5b: // [
        if (++depth > deepest) deepest = depth
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      case 0x2e: // . which stands only in numbers
      case 0x45: // E
        hasFractions = true
        break
      case 0x65: {
        // e, which also ends true and false
        const before = text.charCodeAt(at - 1)
        if (before >= 0x30 && before <= 0x39) hasFractions = true
        break
      }
    }
  }
  return { members, depth: deepest, hasFractions }
}

/** True if a valid text has numbers with a fraction or an exponent. */
export const hasFractions = (text: string): boolean => census(text).hasFractions

const maxSafe = Number.MAX_SAFE_INTEGER

/** The number of members of all objects in a value; NaN if it has an integer that a double may have rounded. */
function countMembers(value: Json): number {
  if (typeof value === 'number') return value <= maxSafe && value >= -maxSafe ? 0 : Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  let n = 0
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i]!
      if (typeof item !== 'string') n += countMembers(item)
    }
    return n
  }
  for (const key in value) {
    n++
    const item = value[key]!
    if (typeof item !== 'string') n += countMembers(item)
  }
  return n
}

function duplicatesIn(tree: Tree, path: string, found: Set<string>) {
  if (Array.isArray(tree)) tree.forEach((item, i) => duplicatesIn(item, `${path}[${i}]`, found))
  if (!(tree instanceof Members)) return
  const seen = new Set<string>()
  for (const [key, value] of tree.entries) {
    const at = path ? `${path}.${key}` : key
    if (seen.has(key)) found.add(at)
    seen.add(key)
    duplicatesIn(value, at, found)
  }
}

/** The nesting depth that recursion, including that of JSON.stringify, handles safely. */
const recursionLimit = 1000

/** Parses JSON without rounding integers, as readJson does. Throws JsonSyntaxError in the words of Go's parser. */
export function parseJson(text: string): Parsed {
  const counted = census(text)
  if (counted.depth > recursionLimit) {
    parseTree(text)
    throw new JsonSyntaxError('exceeded max depth')
  }
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (e) {
    parseTree(text)
    throw e
  }
  const { members, hasFractions } = counted
  if (countMembers(value) === members) return { value, duplicates: [], hasFractions }
  const tree = parseTree(text)
  const found = new Set<string>()
  duplicatesIn(tree, '', found)
  return { value: plainValue(tree), duplicates: [...found], hasFractions }
}
