import { entityTooLarge } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { maxObjectBytes } from '../objects/limits.ts'

/** An object of fewer values is judged by its kind's rules first, whatever its size: that takes no time, and says more. */
const manyValues = 50_000

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
  const left: unknown[] = [value]
  let bytes = 0
  let values = 0
  while (left.length > 0) {
    const next = left.pop()
    values++
    bytes += 2
    if (typeof next === 'string') bytes += next.length
    else if (Array.isArray(next)) for (const item of next) left.push(item)
    else if (typeof next === 'object' && next !== null) {
      for (const key in next) {
        bytes += key.length + 3
        left.push((next as Record<string, unknown>)[key])
      }
    }
    if (bytes > maxObjectBytes) return values > manyValues
    // What waits takes two bytes at least.
    if (left.length > maxObjectBytes / 2) return true
  }
  return false
}
