import { badRequest } from '../errors.ts'
import { goJsonName } from '../printing/go-format.ts'
import type { Json } from '../object.ts'
import { type JsonObject, isJsonObject, mapOwnFields, ownField, setOwnField } from './own-fields.ts'

/** A new value: as given, without nulls, since there is nothing to remove. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls)
  return isJsonObject(value)
    ? mapOwnFields(value, (field) => (field === null ? undefined : withoutNulls(field)))
    : value
}

function merge(doc: JsonObject, patch: JsonObject): JsonObject {
  const result = { ...doc }
  for (const key of Object.keys(patch)) {
    const change = patch[key]!
    if (change === null) {
      delete result[key]
      continue
    }
    const current = ownField(result, key)
    const merged = isJsonObject(current) && isJsonObject(change) ? merge(current, change) : withoutNulls(change)
    setOwnField(result, key, merged)
  }
  return result
}

/** Applies an RFC 7386 merge patch. Does not modify `doc` and `patch`; unchanged parts are shared with the result. */
export function applyMergePatch(doc: Json, patch: Json): Json {
  if (patch === null) throw badRequest('Invalid JSON Patch')
  if (!isJsonObject(patch)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goJsonName(patch)} into Go value of type map[string]interface {}`,
    )
  }
  return isJsonObject(doc) ? merge(doc, patch) : withoutNulls(patch)
}
