import type { Json } from '../object.ts'
import { type JsonObject, isJsonObject, mapOwnFields } from './own-fields.ts'
import { badRetainKeys, notAnObject, unknownDirective } from './strategic-errors.ts'

/** The directive fields of a strategic merge patch. */
export const directive = '$patch'
export const retainKeys = '$retainKeys'
export const deleteFromPrimitiveList = '$deleteFromPrimitiveList'
export const setElementOrder = '$setElementOrder'

export const hasDirective = (item: Json): boolean => isJsonObject(item) && Object.hasOwn(item, directive)

/** True if an item of a patch is only a delete directive. Throws if it is not an object. */
export function isDeletion(item: Json): boolean {
  if (!isJsonObject(item)) throw notAnObject(item)
  return Object.hasOwn(item, directive) && item[directive] === 'delete'
}

/** `$setElementOrder/containers` → `containers`; undefined if the prefix is not followed by a name. */
export function directiveTarget(key: string, prefix: string): string | undefined {
  const slash = key.indexOf('/')
  return slash > 0 && key.slice(0, slash) === prefix ? key.slice(slash + 1) : undefined
}

/** The result of `$patch` in an object, regardless of the previous value. */
export function obeyDirective(patch: JsonObject): JsonObject {
  const order = patch[directive]!
  if (order === 'replace') return mapOwnFields(patch, (value, key) => (key === directive ? undefined : value))
  if (order === 'delete') return {}
  throw unknownDirective(order, patch)
}

/** A new value without directives and nulls, which have no effect there. Undefined if nothing remains. */
export function plainAddition(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => plainAddition(item)).filter((item) => item !== undefined)
  if (!isJsonObject(value)) return value
  if (hasDirective(value)) return undefined
  return mapOwnFields(value, (field) => (field === null ? undefined : plainAddition(field)))
}

/** The fields that `$retainKeys` retains. Throws if the patch sets another field. */
export function retainedFields(original: JsonObject, patch: JsonObject): JsonObject {
  const listed = patch[retainKeys]!
  if (!Array.isArray(listed)) throw badRetainKeys()
  const retained = new Set(listed)
  for (const [key, value] of Object.entries(patch)) {
    const isOrder = key === retainKeys || key.startsWith(deleteFromPrimitiveList) || key.startsWith(setElementOrder)
    if (value !== null && !isOrder && !retained.has(key)) throw badRetainKeys()
  }
  return mapOwnFields(original, (value, key) => (retained.has(key) ? value : undefined))
}
