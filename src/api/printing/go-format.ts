import { isInt64 } from '../numbers/int64.ts'
import { isFields } from '../object.ts'

// Go uses an exponent below 1e-4, with at least two digits; JavaScript below 1e-6, with at least one.
function formatNumber(value: number | bigint): string {
  // Go decodes an integer outside int64 as a float64.
  if (typeof value === 'bigint') return isInt64(value) ? String(value) : String(Number(value))
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential().replace(/e-(\d)$/, 'e-0$1')
  return String(value)
}

/** Formats a JSON value as Go's `%v` does: `map[a:1 b:[x y]]`, sorted keys, unquoted strings, null as `<nil>`. */
export function goFormat(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`
  if (isFields(value)) {
    const entries = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${key}:${goFormat(value[key])}`)
    return `map[${entries.join(' ')}]`
  }
  return typeof value === 'number' || typeof value === 'bigint' ? formatNumber(value) : String(value)
}

/** The kind Go's reflection gives a decoded JSON value. */
type GoKind = 'invalid' | 'bool' | 'string' | 'int64' | 'float64' | 'slice' | 'map'

export function goKind(value: unknown): GoKind {
  if (value === null || value === undefined) return 'invalid'
  if (Array.isArray(value)) return 'slice'
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    case 'bigint':
      return 'int64'
    default:
      return 'map'
  }
}

/** The type Go's `%s` prints for a decoded JSON value: `map[string]interface {}`. */
export function goTypeName(value: unknown): string {
  const kind = goKind(value)
  if (kind === 'slice') return '[]interface {}'
  if (kind === 'map') return 'map[string]interface {}'
  return kind === 'invalid' ? '%!s(<nil>)' : kind
}

/** The name of a value's type in encoding/json's errors: `json: cannot unmarshal … into`. */
export function goJsonName(value: unknown): 'object' | 'array' | 'string' | 'number' | 'bool' | 'null' {
  const kind = goKind(value)
  if (kind === 'invalid') return 'null'
  if (kind === 'map') return 'object'
  if (kind === 'slice') return 'array'
  return kind === 'int64' || kind === 'float64' ? 'number' : kind
}
