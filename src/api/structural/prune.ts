import { type Fields, type Json, isFields } from '../object.ts'
import { decodeObject } from '../schema/index.ts'
import { type Schema, isEmbedded, keepsUnknown, valuesOf } from './schema.ts'

/** Called with the path of each dropped field. */
type Note = (path: string) => void

const metaFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

const joined = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

/**
 * Drops fields that are not in the schema, in place. A resource, also an embedded one, always has apiVersion, kind and
 * metadata. Without a schema all fields are dropped.
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
    // The root's metadata was decoded earlier; that of an embedded resource is decoded here.
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

/** Decodes the metadata of an embedded resource. Fields of a wrong type are kept, so that validation rejects them. */
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
