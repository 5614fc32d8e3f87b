import { JsonSyntaxError, parseYaml } from '../api/json/index.ts'
import type { Json } from '../api/object.ts'
import type { FieldError } from '../api/validation/field-error.ts'

/** The expected type of a field in a Kubernetes configuration file. */
export type Shape =
  | 'string'
  | 'bool'
  | 'int'
  | 'any'
  | { readonly each: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> }

export interface ConfigDocument {
  apiVersion: string
  kind: string
  value: Record<string, Json>
}

/** Parses a configuration file in YAML or JSON. Throws if it is not an object or if a field has the wrong type. */
export function readConfigDocument(text: string, shape: Shape): { document: ConfigDocument; unknown: string[] } {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('failed decoding: the file does not hold an object')
  const { apiVersion, kind, ...rest } = value
  if (typeof kind !== 'string' || kind === '') throw new Error("failed decoding: Object 'Kind' is missing")
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw new Error("failed decoding: Object 'apiVersion' is missing")
  const unknown: string[] = []
  const known = checkShape(rest, shape, '', unknown) as Record<string, Json>
  return { document: { apiVersion, kind, value: known }, unknown }
}

function parsed(text: string): Json {
  try {
    return parseYaml(text).value
  } catch (e) {
    if (e instanceof JsonSyntaxError) throw new Error(`failed decoding: ${e.message}`, { cause: e })
    throw e
  }
}

/** Returns the value without nulls, and adds the paths of unknown fields to `unknown`. */
function checkShape(value: Json, shape: Shape, path: string, unknown: string[]): Json {
  const mustBe = (what: string) => new Error(`failed decoding: ${path || 'the file'} must be ${what}`)
  if (shape === 'any') return value
  if (shape === 'string') {
    if (typeof value !== 'string') throw mustBe('a string')
    return value
  }
  if (shape === 'bool') {
    if (typeof value !== 'boolean') throw mustBe('true or false')
    return value
  }
  if (shape === 'int') {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw mustBe('an integer')
    return value
  }
  if ('each' in shape) {
    if (!Array.isArray(value)) throw mustBe('a list')
    return value.map((item, i) => checkShape(item, shape.each, `${path}[${i}]`, unknown))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mustBe('an object')
  const known: Record<string, Json> = {}
  for (const [name, member] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (field === undefined) unknown.push(at)
    else if (member !== null) known[name] = checkShape(member, field, at, unknown)
  }
  return known
}

/** All errors in one text, in the format of Go's errors.Join. */
export function joinedErrors(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
}
