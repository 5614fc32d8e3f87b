import { jsonText } from '../json/index.ts'
import type { Path } from './path.ts'

/** Kubernetes' names for what can be wrong with a field, as they stand in `details.causes[].reason`. */
export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueNotFound'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

/** One thing that is wrong with one field. `message` is what Kubernetes puts behind the field's path. */
export interface FieldError {
  reason: FieldErrorReason
  field: string
  message: string
}

/** A value as Kubernetes quotes it in messages: strings in quotes, structures as JSON, absent as null. */
export function quoteValue(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  return jsonText(value)
}

const join = (head: string, detail: string) => (detail === '' ? head : `${head}: ${detail}`)

export const required = (path: Path, detail = ''): FieldError => ({
  reason: 'FieldValueRequired',
  field: path.toString(),
  message: join('Required value', detail),
})

export const invalid = (path: Path, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field: path.toString(),
  message: join(`Invalid value: ${quoteValue(value)}`, detail),
})

/** The value is not one of those allowed; Kubernetes lists them sorted. */
export const notSupported = (path: Path, value: unknown, allowed: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field: path.toString(),
  message:
    `Unsupported value: ${quoteValue(value)}` +
    (allowed.length ? `: supported values: ${[...allowed].sort().map((v) => JSON.stringify(v)).join(', ')}` : ''),
})

export const duplicate = (path: Path, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  field: path.toString(),
  message: `Duplicate value: ${quoteValue(value)}`,
})

export const forbidden = (path: Path, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field: path.toString(),
  message: join('Forbidden', detail),
})

export const notFoundField = (path: Path, value: unknown): FieldError => ({
  reason: 'FieldValueNotFound',
  field: path.toString(),
  message: `Not found: ${quoteValue(value)}`,
})

/** The text is longer than `max` bytes; the value itself is not repeated. */
export const tooLong = (path: Path, max: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field: path.toString(),
  message: `Too long: may not be more than ${max} bytes`,
})

export const tooMany = (path: Path, actual: number, max: number): FieldError => ({
  reason: 'FieldValueTooMany',
  field: path.toString(),
  message: `Too many: ${actual}: must have at most ${max} items`,
})

export const typeInvalid = (path: Path, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueTypeInvalid',
  field: path.toString(),
  message: join(`Invalid value: ${quoteValue(value)}`, detail),
})
