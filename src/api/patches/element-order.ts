import type { Json } from '../object.ts'
import { isJsonObject } from './own-fields.ts'
import { noMergeKey, notAnObject } from './strategic-errors.ts'

/** The identity of a list item: the value of its merge key, or the item itself if it is a scalar. */
type Identity = (item: Json) => Json

/** Identifies items by `mergeKey`, or by value without one. Throws for an item without the key. */
export const identityBy =
  (mergeKey: string | undefined): Identity =>
  (item) => {
    if (mergeKey === undefined) return item
    if (!isJsonObject(item)) throw notAnObject(item)
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
    return item[mergeKey]!
  }

function positions(list: readonly Json[], identity: Identity): Map<Json, number> {
  const result = new Map<Json, number>()
  for (const [i, item] of list.entries()) {
    const id = identity(item)
    if (!result.has(id)) result.set(id, i)
  }
  return result
}

function sortBy(items: readonly Json[], order: ReadonlyMap<Json, number>, identity: Identity): Json[] {
  const place = (item: Json) => order.get(identity(item)) ?? Number.MAX_SAFE_INTEGER
  return [...items].sort((a, b) => place(a) - place(b))
}

/**
 * Sorts merged items: those in the patch have its order, the others keep theirs. An item that is not in the patch
 * precedes one that is only if it did so in `before`, so new items come first.
 */
export function orderMerged(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  before: readonly Json[],
  identity: Identity,
) {
  const wanted = positions(patchOrder, identity)
  const was = positions(before, identity)
  const isNamed = (item: Json) => wanted.has(identity(item))
  const named = sortBy(merged.filter(isNamed), wanted, identity)
  const others = sortBy(
    merged.filter((item) => !isNamed(item)),
    was,
    identity,
  ).reverse()
  const result: Json[] = []
  for (const item of named) {
    const place = was.get(identity(item)) ?? -1
    while (others.length > 0 && (was.get(identity(others.at(-1)!)) ?? Infinity) < place) result.push(others.pop()!)
    result.push(item)
  }
  return result.concat(others.reverse())
}
