import { goFormat, goKind } from '../go-format.ts'
import type { Json } from '../object.ts'
import { directive, hasDirective, isDeletion, plainAddition } from './directives.ts'
import { identityBy, orderMerged } from './element-order.ts'
import type { JsonObject } from './own-fields.ts'
import type { PatchMetadata } from './patch-metadata.ts'
import { fault, listOfLists, noMergeKey, unknownDirective } from './strategic-errors.ts'

/** Merges the patch of an item into the item. */
export type MergeItem = (item: JsonObject, patch: JsonObject) => JsonObject

/** The kind that all items of the lists are of. Throws if they differ, or if there is none. */
function itemKind(...lists: readonly (readonly Json[])[]): 'map' | 'scalar' {
  let first: string | undefined
  for (const list of lists) {
    for (const item of list) {
      const kind = goKind(item)
      if (first === undefined && kind === 'slice') throw listOfLists()
      first ??= kind
      if (kind !== first) throw fault(`list element types are not identical: ${goFormat(lists)}`)
    }
  }
  if (first === undefined) throw fault('no elements in any of the given slices')
  return first === 'map' ? 'map' : 'scalar'
}

/** Carries out the items that are orders: deletes from `original`, or replaces it all; and leaves the patch without them. */
function obeyItems(original: Json[], patch: Json[], mergeKey: string): { original: Json[]; patch: Json[] } {
  // Most patches have no orders, and lists that are not grown here take no more room than they need.
  if (!(patch as JsonObject[]).some(hasDirective)) return { original, patch }
  const plain: Json[] = []
  const deleted = new Set<Json>()
  let replaces = false
  for (const item of patch as JsonObject[]) {
    if (!hasDirective(item)) {
      plain.push(item)
    } else if (item[directive] === 'delete') {
      if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
      deleted.add(item[mergeKey]!)
    } else if (item[directive] === 'replace') {
      replaces = true
    } else if (item[directive] === 'merge') {
      throw fault('merging lists cannot yet be specified in the patch')
    } else {
      throw unknownDirective(item[directive], item)
    }
  }
  if (replaces) return { original: plain.slice(), patch: [] }
  if (deleted.size === 0) return { original, patch: plain }
  const isKept = ({ [mergeKey]: id }: JsonObject) => id === undefined || !deleted.has(id)
  return { original: (original as JsonObject[]).filter(isKept), patch: plain }
}

interface MergedItems {
  items: Json[]
  /** Items are all told apart, and those of the patch stand in its order: no other order comes of the patch. */
  isInOrder: boolean
}

function mergeItems(original: Json[], patch: Json[], mergeKey: string, mergeItem: MergeItem): MergedItems {
  const items = [...original]
  const places = new Map<Json | undefined, number>()
  for (let i = 0; i < items.length; i++) {
    const id = (items[i] as JsonObject)[mergeKey]
    if (id !== undefined && !places.has(id)) places.set(id, i)
  }
  let isInOrder = places.size === items.length
  let last = -1
  for (const item of patch as JsonObject[]) {
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey)
    const place = places.get(item[mergeKey])
    if (place === undefined) {
      places.set(item[mergeKey], items.length)
      items.push(item)
      isInOrder = false
    } else {
      items[place] = mergeItem(items[place] as JsonObject, item)
      if (place < last) isInOrder = false
      last = place
    }
  }
  return { items: items.slice(), isInOrder }
}

/** Merges a list by the merge key of its items, or as a set if they are plain values. */
function mergeByIdentity(original: Json[], patch: Json[], mergeKey: string | undefined, mergeItem: MergeItem): Json[] {
  if (original.length === 0 && patch.length === 0) return original
  const identity = identityBy(mergeKey)
  if (itemKind(original, patch) === 'scalar') return orderMerged([...new Set([...original, ...patch])], patch, original, identity)
  if (mergeKey === undefined) throw fault('cannot merge lists without merge key for struct')
  const obeyed = obeyItems(original, patch, mergeKey)
  const { items, isInOrder } = mergeItems(obeyed.original, obeyed.patch, mergeKey, mergeItem)
  return isInOrder ? items : orderMerged(items, obeyed.patch, obeyed.original, identity)
}

/** The list that results from the one that was and the one in the patch, as the field's strategy has it. */
export const mergeList = (original: Json[], patch: Json[], field: PatchMetadata, mergeItem: MergeItem): Json[] =>
  field.strategy === 'merge' ? mergeByIdentity(original, patch, field.mergeKey, mergeItem) : patch

/** What a `$deleteFromPrimitiveList` leaves, whatever the field's strategy. */
export function deleteFromList(original: Json[], patch: Json[], field: PatchMetadata, mergeItem: MergeItem): Json[] {
  if (original.length === 0 && patch.length === 0) return original
  if (itemKind(original, patch) === 'map') return mergeByIdentity(original, patch, field.mergeKey, mergeItem)
  const deleted = new Set(patch)
  return original.filter((item) => !deleted.has(item))
}

/** Throws unless the patch's items stand in `order`, all of them and in the same sequence; deletions may be anywhere. */
function checkOrder(patch: Json[], order: Json[], mergeKey: string | undefined): void {
  if (patch.length === 0 || order.length === 0) return
  const identity = identityBy(mergeKey)
  const toPlace = mergeKey === undefined ? patch : patch.filter((item) => !isDeletion(item))
  let placed = 0
  for (const wanted of order) {
    while (placed < toPlace.length && hasDirective(toPlace[placed]!)) placed++
    if (placed === toPlace.length) return
    if (identity(toPlace[placed]!) === identity(wanted)) placed++
  }
  if (placed < toPlace.length) {
    throw fault(`The order in patch list:\n${goFormat(patch)}\n doesn't match $setElementOrder list:\n${goFormat(order)}\n`)
  }
}

/** Merges a list and puts it in the order of a `$setElementOrder`; either list may be missing, not both. */
export function mergeInOrder(
  original: Json[] | undefined,
  patch: Json[] | undefined,
  order: Json[],
  field: PatchMetadata,
  mergeItem: MergeItem,
): Json[] {
  checkOrder(patch ?? [], order, field.mergeKey)
  let merged = original ?? (plainAddition(patch!) as Json[])
  if (original && patch) merged = mergeList(original, patch, field, mergeItem)
  itemKind(original ?? [], patch ?? [])
  return orderMerged(merged, order, original ?? [], identityBy(field.mergeKey))
}
