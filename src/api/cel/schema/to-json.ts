import { formatDuration, formatTimestamp } from '../time.ts'
import { Double, Duration, MapValue, Optional, Timestamp, TypeValue, Uint, type Value, mapKey } from '../values.ts'
import { toInt64 } from '../../numbers/int64.ts'

/**
 * Converts a value to plain JSON, for audit annotations and mutations. Fields of objects have their JSON names.
 * Undefined for a value that JSON cannot represent, such as an address.
 */
export function toJson(value: Value): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Double) return value.value
  if (value instanceof Uint) return toInt64(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Optional) return value.value === undefined ? undefined : toJson(value.value)
  if (Array.isArray(value)) return value.map((element) => toJson(element) ?? null)
  if (value instanceof MapValue) return objectJson(value)
  return undefined
}

function objectJson(value: MapValue): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  for (const key of value.keys()) {
    const name = typeof key === 'string' ? (value.type?.fields.get(key)?.jsonName ?? key) : String(mapKey(key))
    const part = toJson(value.get(key) ?? null)
    if (part !== undefined) json[name] = part
  }
  return json
}
