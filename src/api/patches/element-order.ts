import type { Json } from '../object.ts'
import { isJsonObject } from './own-fields.ts'
import { noMergeKey, notAnObject } from './strategic-errors.ts'

/** What tells items of a list apart: the value of their merge key, or for plain values the value itself. */
export type Identity = (item: Json) => Json

/** Items are known by `mergeKey`; without one by themselves. The identity throws for an item that lacks the key. */
export const identityBy = (mergeKey: string | undefined): Identity => (item) => {
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
 * Puts merged items in order: those the patch names as the patch has them, the others as they were; and an other one comes before
 * a named one only if it did in `before`. What is new therefore comes first.
 */
export function orderMerged(merged: readonly Json[], patchOrder: readonly Json[], before: readonly Json[], identity: Identity) {
  const wanted = positions(patchOrder, identity)
  const was = positions(before, identity)
  const isNamed = (item: Json) => wanted.has(identity(item))
  const named = sortBy(merged.filter(isNamed), wanted, identity)
  const others = sortBy(merged.filter((item) => !isNamed(item)), was, identity).reverse()
  const result: Json[] = []
  for (const item of named) {
    const place = was.get(identity(item)) ?? -1
    while (others.length > 0 && (was.get(identity(others.at(-1)!)) ?? Infinity) < place) result.push(others.pop()!)
    result.push(item)
  }
  return result.concat(others.reverse())
}
