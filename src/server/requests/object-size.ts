import { entityTooLarge, invalidObject } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { tooLong } from '../../api/validation/field-error.ts'
import { maxAnnotationBytes } from '../../api/validation/object-meta.ts'
import { Path } from '../../api/validation/path.ts'
import { maxObjectBytes } from '../objects/objects.ts'

/**
 * A ConfigMap or Secret with fewer values is left to validation, which is cheap at that size and gives a more precise
 * error.
 */
const manyValues = 5000

/** Kinds whose own validation limits the size of their data. */
const limitedKinds = new Set(['ConfigMap', 'Secret'])

type WithData = KubeObject & { status?: unknown; data?: unknown; binaryData?: unknown; stringData?: unknown }

/**
 * Rejects an object that is too large to store, before defaulting and validation, which multiply the cost: defaults may
 * turn an item of 3 bytes into 100. Status and managedFields are not counted, because a write may drop them.
 * Annotations that are too long, and data of a ConfigMap or Secret, are rejected in Kubernetes' words.
 */
export function refuseHopeless(group: string, { status: _, metadata, ...rest }: WithData): void {
  const { managedFields: _fields, ...kept } = metadata ?? {}
  const excess = excessOf([kept, rest])
  if (!excess) return
  if (hasLongAnnotations(kept.annotations)) {
    const path = Path.of('metadata', 'annotations')
    throw invalidObject({ group, kind: rest.kind ?? '' }, kept.name ?? '', [tooLong(path, maxAnnotationBytes)])
  }
  const { data: _data, binaryData: _binaryData, stringData: _stringData, ...other } = rest
  const isJudged = limitedKinds.has(rest.kind ?? '') && excess.values <= manyValues && !excessOf([kept, other])
  if (!isJudged) throw entityTooLarge(`Request entity too large: limit is ${maxObjectBytes}`)
}

function hasLongAnnotations(annotations: Record<string, string> | undefined): boolean {
  let bytes = 0
  for (const key in annotations) {
    bytes += key.length + annotations[key]!.length
    if (bytes > maxAnnotationBytes) return true
  }
  return false
}

/**
 * Sums the minimum JSON size of all values and stops at the limit. Returns the number of values counted by then, or
 * undefined if the object is small enough.
 */
export function excessOf(value: unknown): { values: number } | undefined {
  const left: unknown[] = []
  let bytes = 0
  let values = 0
  /** Returns true while the sum is below the limit. */
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
    if (!hasRoom) return { values }
  }
  return undefined
}

function everyMember(object: Record<string, unknown>, step: (key: string, value: unknown) => boolean): boolean {
  for (const key in object) if (!step(key, object[key])) return false
  return true
}
