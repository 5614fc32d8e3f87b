import { entityTooLarge } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { maxObjectBytes } from '../objects/limits.ts'

/** An object of fewer values is judged by its kind's rules first, whatever its size: that takes no time, and says more. */
const manyValues = 5000

/**
 * Refuses an object that can never be stored, before anything is done with its many values: an item of three bytes may take a hundred once it has its
 * defaults. Statuses and managed fields do not count, as a write may leave them out.
 */
export function refuseHopeless({ status: _, metadata, ...rest }: KubeObject & { status?: unknown }): void {
  const { managedFields: _fields, ...kept } = metadata ?? {}
  if (isHopeless([kept, rest])) throw entityTooLarge(`Request entity too large: limit is ${maxObjectBytes}`)
}

/** Adds up what values take as JSON at least, and stops once that is too much. */
export function isHopeless(value: unknown): boolean {
  const left: unknown[] = []
  let bytes = 0
  let values = 0
  /** Answers whether there is room for more. */
  const add = (next: unknown, keyLength: number): boolean => {
    values++
    bytes += typeof next === 'string' ? next.length + 3 + keyLength : 2 + keyLength
    if (typeof next === 'object' && next !== null) left.push(next)
    return bytes <= maxObjectBytes
  }
  add(value, 0)
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const hasRoom = Array.isArray(next)
      ? next.every((item) => add(item, 0))
      : everyMember(next as Record<string, unknown>, (key, item) => add(item, key.length + 3))
    if (!hasRoom) return values > manyValues
  }
  return false
}

function everyMember(object: Record<string, unknown>, step: (key: string, value: unknown) => boolean): boolean {
  for (const key in object) if (!step(key, object[key])) return false
  return true
}
