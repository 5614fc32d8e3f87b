import { badRequest } from '../errors.ts'
import { goJsonName, goKind } from '../printing/go-format.ts'
import type { Json } from '../object.ts'
import type { FieldType } from '../schema/schema.ts'
import {
  deleteFromPrimitiveList,
  directive,
  directiveTarget,
  obeyDirective,
  plainAddition,
  retainKeys,
  retainedFields,
  setElementOrder,
} from './directives.ts'
import { type MergeItem, deleteFromList, mergeInOrder, mergeList } from './merge-list.ts'
import { type JsonObject, isJsonObject, ownField, setOwnField } from './own-fields.ts'
import { listMetadata, patchMetadata } from './patch-metadata.ts'
import { badElementOrder, badPrimitiveList, notAList } from './strategic-errors.ts'

const itemMerger =
  (type: FieldType): MergeItem =>
  (item, patch) =>
    mergeObject(item, patch, type)

function listOrAbsent(value: Json | undefined): Json[] | undefined {
  if (value !== undefined && !Array.isArray(value)) throw notAList(value)
  return value
}

/** Merges every list with a `$setElementOrder` in the patch. Returns the fields of the patch that are done. */
function mergeOrdered(result: JsonObject, patch: JsonObject, type: FieldType): ReadonlySet<string> {
  let done: Set<string> | undefined
  for (const key of Object.keys(patch)) {
    if (!key.startsWith(setElementOrder)) continue
    const order = patch[key]!
    done = (done ?? new Set([retainKeys])).add(key)
    if (!Array.isArray(order)) throw notAList(order)
    const target = directiveTarget(key, setElementOrder)
    if (target === undefined) throw badElementOrder()
    const original = listOrAbsent(ownField(result, target))
    const change = listOrAbsent(ownField(patch, target))
    const field = listMetadata(type, target)
    if (!original && !change) continue
    setOwnField(result, target, mergeInOrder(original, change, order, field, itemMerger(field.type)))
    done.add(target)
  }
  return done ?? onlyRetainKeys
}

const onlyRetainKeys: ReadonlySet<string> = new Set([retainKeys])

/** The new value of an existing field of the same kind as in the patch. */
function mergeField(original: Json, change: Json, key: string, type: FieldType, deletes: boolean): Json {
  if (Array.isArray(original) && Array.isArray(change)) {
    const field = listMetadata(type, key)
    return (deletes ? deleteFromList : mergeList)(original, change, field, itemMerger(field.type))
  }
  if (!isJsonObject(original) || !isJsonObject(change)) return change
  const field = patchMetadata(type, key)
  return field.strategy === 'replace' ? change : mergeObject(original, change, field.type)
}

function mergeObject(original: JsonObject, patch: JsonObject, type: FieldType): JsonObject {
  if (Object.hasOwn(patch, directive)) return obeyDirective(patch)
  const result = Object.hasOwn(patch, retainKeys) ? retainedFields(original, patch) : { ...original }
  const done = mergeOrdered(result, patch, type)
  for (const patchKey of Object.keys(patch)) {
    if (done.has(patchKey)) continue
    const change = patch[patchKey]!
    const deletes = patchKey.startsWith(deleteFromPrimitiveList)
    const key = deletes ? directiveTarget(patchKey, deleteFromPrimitiveList) : patchKey
    if (key === undefined) throw badPrimitiveList()
    if (change === null) {
      delete result[key]
      continue
    }
    const current = ownField(result, key)
    if (current !== undefined && goKind(current) === goKind(change)) {
      setOwnField(result, key, mergeField(current, change, key, type, deletes))
    } else if (!deletes) {
      const added = plainAddition(change)
      if (added === undefined) delete result[key]
      else setOwnField(result, key, added)
    }
  }
  return result
}

/**
 * Applies a strategic merge patch to an object of a schema type (`Deployment`). Does not modify `doc` and `patch`;
 * unchanged parts are shared with the result. Throws the errors of the patch in Kubernetes' words.
 */
export function applyStrategicMergePatch(doc: Json, patch: Json, typeName: string): Json {
  if (patch === null) return doc
  if (!isJsonObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${goJsonName(patch)} into Go value of type map[string]interface {}`)
  }
  return mergeObject(isJsonObject(doc) ? doc : {}, patch, { kind: 'struct', name: typeName })
}
