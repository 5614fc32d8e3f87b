import { type MergeType, builtInMergeType } from './managed-fields/index.ts'
import type { Json } from './object.ts'
import { applyStrategicMergePatch } from './patches/strategic-merge-patch.ts'
import { restoreProblem } from './patches/restore.ts'
import { decodeProtobuf } from './protobuf/index.ts'
import { type DecodeOptions, type Decoded, decodeObject, fieldOf, structOf } from './schema/index.ts'

/** The type of a kind's objects: all that a server asks of a schema. Kubernetes' own kinds have theirs from the schema table. */
export interface ObjectType {
  /** The name in the schema table, and in OpenAPI. */
  readonly name: string
  /** Reads a value by the type; throws DecodeError where it does not fit. The result shares nothing with the value, unless the options allow it. */
  decode(value: Json, options?: DecodeOptions): Decoded
  /** A status that says nothing yet, with the fields that are always written out. */
  emptyStatus(): object
  /** What protobuf calls the type, and how its message is read. Absent for types that are sent as text only. */
  readonly protobuf?: { readonly goName: string; read(message: Buffer): { [key: string]: Json } }
  /** How versions of an object are merged, and which fields can be owned apart. A type without it has no schema. */
  readonly mergeType?: MergeType
  /** The structural schema of a custom kind, which OpenAPI tells. */
  readonly schema?: object
  /** The type of a kind that a user brings. */
  readonly isCustom?: boolean
  /** How a strategic merge patch is applied, and why the result does not fit. Absent for types that have no hints for merging. */
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
  const goName = structOf(name)?.goName
  return {
    name,
    decode: (value, options) => decodeObject(name, value, options),
    emptyStatus() {
      const field = fieldOf(name, 'status')
      return field?.type.kind === 'struct' ? decodeObject(field.type.name, {}).object : {}
    },
    ...(goName === undefined ? {} : { protobuf: { goName, read: (message) => decodeProtobuf(message, name) } }),
    get mergeType() {
      return builtInMergeType(name)
    },
    strategic: {
      merge: (doc, patch) => applyStrategicMergePatch(doc, patch, name),
      problem: (patched) => restoreProblem(patched, name),
    },
  }
}
