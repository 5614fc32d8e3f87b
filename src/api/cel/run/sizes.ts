import { MapValue, type Value } from '../values.ts'

/** cel-go's cost factors: per character that is read, and per character of a regular expression. */
export const characterCost = 0.1
export const patternCost = 0.25

/** The size that the cost of a call goes by: elements of a list or map, characters of a text, 1 for anything else. */
export function costSize(value: Value): number {
  if (typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array) return value.length
  return value instanceof MapValue ? value.size : 1
}

/** The cost of reading a text or list once. */
export const readCost = (value: Value): number => Math.ceil(costSize(value) * characterCost)

/** The cost of reading a value with all that is nested in it. */
export function traversalCost(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return Math.floor(value.length * characterCost)
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + traversalCost(element), 0)
  if (!(value instanceof MapValue)) return 1
  return value.keys().reduce<number>((sum, key) => sum + traversalCost(key) + traversalCost(value.get(key) ?? null), 0)
}
