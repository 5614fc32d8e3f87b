import type { Json } from '../object.ts'
import { decodeObject } from '../schema/index.ts'
import { type Fields, type Schema, isEmbedded, isFields, keepsUnknown, valuesOf } from './schema.ts'

/** Notes the path of each field that is dropped. */
type Note = (path: string) => void

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

const joined = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

/**
 * Drops from a value, in place, the fields that its schema does not have. A resource, the whole or an embedded one, has
 * apiVersion, kind and metadata without saying so. Without a schema nothing is kept.
 */
export function prune(value: unknown, schema: Schema, isResource: boolean, note?: Note): void {
  pruneAt(
    value,
    isResource && !isEmbedded(schema) ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema,
    '',
    note,
  )
}

function pruneAt(value: unknown, schema: Schema | undefined, path: string, note: Note | undefined): void {
  if (Array.isArray(value)) {
    const items = schema?.items
    if (schema && keepsUnknown(schema) && !items) return
    for (const [i, item] of value.entries()) pruneAt(item, items, note ? `${path}[${i}]` : '', note)
  } else if (isFields(value)) pruneFields(value, schema, path, note)
}

function pruneFields(value: Fields, schema: Schema | undefined, path: string, note: Note | undefined): void {
  const isResource = schema !== undefined && isEmbedded(schema)
  const keepsAll = schema !== undefined && (keepsUnknown(schema) || schema.additionalProperties === true)
  const { properties } = schema ?? {}
  const values = schema && valuesOf(schema)
  for (const name in value) {
    const at = note ? joined(path, name) : ''
    // The root's metadata have been read before; those of an embedded resource are read here.
    if (isResource && metaFields.has(name)) {
      if (name === 'metadata' && path !== '' && isFields(value[name])) value[name] = readMetadata(value[name], at, note)
      continue
    }
    const inner = properties && Object.hasOwn(properties, name) ? properties[name] : values
    if (inner) pruneAt(value[name], inner, at, note)
    else if (!keepsAll) {
      delete value[name]
      note?.(at)
    }
  }
}

/** Metadata of an embedded resource: what does not fit its type is left as it is, for validation to refuse. */
function readMetadata(value: Fields, path: string, note: Note | undefined): unknown {
  try {
    const { object, unknown } = decodeObject('ObjectMeta', value as Json)
    for (const field of unknown) note?.(`${path}.${field}`)
    if (!('creationTimestamp' in value)) delete object.creationTimestamp
    return object
  } catch {
    return value
  }
}
