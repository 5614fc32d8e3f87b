import { type MergeType, builtInMergeType } from './managed-fields/index.ts'
import type { Json } from './object.ts'
import { applyStrategicMergePatch } from './patches/strategic-merge-patch.ts'
import { restoreProblem } from './patches/restore.ts'
import { type DecodeOptions, type Decoded, decodeObject, fieldOf, structOf } from './schema/index.ts'

/** The type of a kind's objects, as the server needs it. Kubernetes' own kinds derive it from the schema table. */
export interface ObjectType {
  /** The name in the schema table, and in OpenAPI. */
  readonly name: string
  /**
   * Decodes a value. Throws DecodeError if it does not fit the type. The result shares nothing with the value, unless
   * the options allow it.
   */
  decode(value: Json, options?: DecodeOptions): Decoded
  /** An empty status, with the fields that are always serialized. */
  emptyStatus(): object
  /** The type in the schema table by which protobuf messages are decoded. Absent for types without protobuf. */
  readonly protobufType?: string
  /** The merge type for server-side apply. A type without it has no schema. */
  readonly mergeType?: MergeType
  /** The structural schema of a custom kind, for OpenAPI. */
  readonly schema?: object
  /** True for a custom kind. */
  readonly isCustom?: boolean
  /** Applies a strategic merge patch, and reports why the result does not fit. Absent for types without merge hints. */
  readonly strategic?: { merge(doc: Json, patch: Json): Json; problem(patched: Json): string | undefined }
}

const types = new Map<string, ObjectType>()

/** A type of Kubernetes, by its name in the schema table. */
export function builtInType(name: string): ObjectType {
  let type = types.get(name)
  if (!type) types.set(name, (type = makeType(name)))
  return type
}

function makeType(name: string): ObjectType {
  return {
    name,
    ...(structOf(name) ? { protobufType: name } : {}),
    decode: (value, options) => decodeObject(name, value, options),
    emptyStatus() {
      const field = fieldOf(name, 'status')
      return field?.type.kind === 'struct' ? decodeObject(field.type.name, {}).object : {}
    },
    get mergeType() {
      return builtInMergeType(name)
    },
    strategic: {
      merge: (doc, patch) => applyStrategicMergePatch(doc, patch, name),
      problem: (patched) => restoreProblem(patched, name),
    },
  }
}
