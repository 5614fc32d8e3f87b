import { Environment } from '../environment.ts'
import { kubernetesLibraries } from '../kubernetes.ts'
import { jsonPatch } from '../libraries/authorizer.ts'
import { MessageValue } from '../run/compiler.ts'
import { toJson } from '../schema/to-json.ts'
import { type Field, type ObjectType, dynType, listType, objectType, stringType } from '../types.ts'
import { MapValue, type Value } from '../values.ts'

/** An object type that accepts any field. The fields are compared with the schema when the object is merged. */
class AnyFields extends Map<string, Field> {
  override get(name: string): Field {
    return { jsonName: name, type: dynType }
  }
  override has(): boolean {
    return true
  }
}

const anyFields = new AnyFields()
const anyObject = (name: string): ObjectType => ({ kind: 'object', name, fields: anyFields })

/**
 * The type of `Object{…}`, an apply configuration. Nested objects are named by their path: `Object.spec.template{…}`.
 */
export const applyConfigurationType = anyObject('Object')

const patchType = objectType('JSONPatch', { op: stringType, path: stringType, from: stringType, value: dynType })

/** The type of the operations of a JSON patch. */
export const jsonPatchListType = listType(patchType)

/** The environment of mutations, without variables: it also makes objects, and has `jsonpatch.escapeKey`. */
export const mutationEnvironment = Environment.of({
  libraries: [...kubernetesLibraries, jsonPatch],
  messages: { JSONPatch: patchType },
  resolveMessage: (name) => (name === 'Object' || /^Object\../.test(name) ? anyObject(name) : undefined),
})

/**
 * The reason why an object literal does not have the type of its path: `Object{spec: Object.status{}}` sets `spec` to a
 * status. Undefined if it does.
 */
export function typeMismatch(value: Value): string | undefined {
  return value instanceof MessageValue ? mismatchAt(value, value.type!.name) : undefined
}

function mismatchAt(value: Value, path: string): string | undefined {
  if (Array.isArray(value)) return firstOf(value, (item) => mismatchAt(item, path))
  if (!(value instanceof MapValue)) return undefined
  if (!(value instanceof MessageValue)) return firstOf(value.keys(), (key) => mismatchAt(value.get(key)!, path))
  const { name } = value.type!
  if (name !== path) {
    return `unexpected type name "${name}", expected "${path}", which matches field name path from root Object type`
  }
  return firstOf([...value.fields], ([field, inner]) => mismatchAt(inner, `${path}.${field}`))
}

function firstOf<T>(list: readonly T[], select: (item: T) => string | undefined): string | undefined {
  for (const item of list) {
    const found = select(item)
    if (found !== undefined) return found
  }
  return undefined
}

type PatchOperations =
  | { operations: Record<string, unknown>[]; error?: undefined }
  | { operations?: undefined; error: string }

/** The operations of a JSON patch that an expression has made. */
export function patchOperations(patches: Value): PatchOperations {
  const operations: Record<string, unknown>[] = []
  for (const patch of patches as Value[]) {
    const { fields } = patch as MessageValue
    const value = fields.get('value')
    const mismatch = value === undefined ? undefined : typeMismatch(value)
    if (mismatch) return { error: `type mismatch: ${mismatch}` }
    const from = fields.get('from')
    operations.push({
      op: fields.get('op') ?? '',
      path: fields.get('path') ?? '',
      ...(from ? { from } : {}),
      ...(value === undefined ? {} : { value: toJson(value) ?? null }),
    })
  }
  return { operations }
}
