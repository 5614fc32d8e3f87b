import { jsonText } from './exact.ts'

/**
 * The JSON text of an object for storage or a response. A ControllerRevision is written as Go writes it: Kubernetes'
 * controllers and kubectl compare the bytes of its `data` with their own encoding, and Kubernetes' server keeps the
 * bytes that it receives.
 */
export function objectJson(object: object): string {
  const { apiVersion, kind } = object as { apiVersion?: unknown; kind?: unknown }
  return kind === 'ControllerRevision' && apiVersion === 'apps/v1' ? goJson(object) : jsonText(object)
}

/** Integer-like keys, which JavaScript moves to the front of an object in numeric order. */
const movedKey = /^\d+$/

/** Characters that Go's encoder escapes in addition to those that JSON requires. */
const escaped = /[<>&\u2028\u2029]/g
const escapeOf = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Encodes JSON byte for byte as Go does: `<`, `>`, `&`, U+2028 and U+2029 are escaped, a lone surrogate becomes U+FFFD.
 * Keys keep their order. An object with a key such as `10` is a map in Go, never a struct. Go sorts the keys of maps,
 * and so does this function.
 */
export function goJson(value: unknown): string {
  if (typeof value === 'string') return goString(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  const members: string[] = []
  for (const key of keysInOrder(value)) {
    const item = (value as Record<string, unknown>)[key]
    if (item !== undefined) members.push(`${goString(key)}:${goJson(item)}`)
  }
  return `{${members.join(',')}}`
}

const halfOfPair = /\p{Surrogate}/gu

const goString = (text: string): string => JSON.stringify(text.replace(halfOfPair, '\ufffd')).replace(escaped, escapeOf)

function keysInOrder(value: object): string[] {
  const keys = Object.keys(value)
  return keys.some((key) => movedKey.test(key)) ? keys.sort(compareBytes) : keys
}

/** A copy with the keys of every object sorted, as Go encodes a `map[string]any`. */
export function sortKeys<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: unknown) => sortKeys(item)) as T
  const entries = Object.entries(value).sort(([a], [b]) => compareBytes(a, b))
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item as unknown)])) as T
}

/** Compares by UTF-8 bytes, which is the order of code points. JavaScript compares UTF-16 units. */
function compareBytes(a: string, b: string): number {
  for (let i = 0; ; i++) {
    const [left, right] = [a.codePointAt(i), b.codePointAt(i)]
    if (left === undefined || right === undefined) return a.length - b.length
    if (left !== right) return left - right
  }
}
