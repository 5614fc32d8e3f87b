import { goFormat, goKind } from '../printing/go-format.ts'
import type { Json } from '../object.ts'
import { directive, hasDirective, isDeletion, plainAddition } from './directives.ts'
import { identityBy, orderMerged } from './element-order.ts'
import type { JsonObject } from './own-fields.ts'
import type { PatchMetadata } from './patch-metadata.ts'
import { fault, listOfLists, noMergeKey, unknownDirective } from './strategic-errors.ts'

/** Merges an item of the patch into a list item. */
export type MergeItem = (item: JsonObject, patch: JsonObject) => JsonObject

/** The common kind of all items of the lists. Throws if they differ or there is none. */
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

/** Applies the directive items: deletes from `original`, or replaces it completely. Returns the patch without them. */
function obeyItems(original: Json[], patch: Json[], mergeKey: string): { original: Json[]; patch: Json[] } {
  // Most patches have no directives, and lists that do not grow need less memory.
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
  /** True if all items are distinct and those of the patch are already in its order, so that sorting has no effect. */
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

/** Merges lists of objects by merge key, and lists of scalars as sets. */
function mergeByIdentity(original: Json[], patch: Json[], mergeKey: string | undefined, mergeItem: MergeItem): Json[] {
  if (original.length === 0 && patch.length === 0) return original
  const identity = identityBy(mergeKey)
  if (itemKind(original, patch) === 'scalar')
    return orderMerged([...new Set([...original, ...patch])], patch, original, identity)
  if (mergeKey === undefined) throw fault('cannot merge lists without merge key for struct')
  const obeyed = obeyItems(original, patch, mergeKey)
  const { items, isInOrder } = mergeItems(obeyed.original, obeyed.patch, mergeKey, mergeItem)
  return isInOrder ? items : orderMerged(items, obeyed.patch, obeyed.original, identity)
}

/** The result of patching a list by the patch strategy of its field. */
export const mergeList = (original: Json[], patch: Json[], field: PatchMetadata, mergeItem: MergeItem): Json[] =>
  field.strategy === 'merge' ? mergeByIdentity(original, patch, field.mergeKey, mergeItem) : patch

/** Applies `$deleteFromPrimitiveList`, regardless of the patch strategy. */
export function deleteFromList(original: Json[], patch: Json[], field: PatchMetadata, mergeItem: MergeItem): Json[] {
  if (original.length === 0 && patch.length === 0) return original
  if (itemKind(original, patch) === 'map') return mergeByIdentity(original, patch, field.mergeKey, mergeItem)
  const deleted = new Set(patch)
  return original.filter((item) => !deleted.has(item))
}

/** Throws unless the patch's items are in `order`, complete and in the same sequence. Deletions may be anywhere. */
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
    throw fault(
      `The order in patch list:\n${goFormat(patch)}\n doesn't match $setElementOrder list:\n${goFormat(order)}\n`,
    )
  }
}

/** Merges a list and applies the order of `$setElementOrder`. One of the lists may be missing. */
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
