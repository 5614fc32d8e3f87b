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

/** An object may have a hundred thousand errors, of which a thousand are told at most: only these are put into words. */
const fieldError = (reason: FieldErrorReason, path: Path, message: () => string): FieldError => ({
  reason,
  get field() {
    return path.toString()
  },
  get message() {
    return message()
  },
})

export const required = (path: Path, detail = ''): FieldError => fieldError('FieldValueRequired', path, () => join('Required value', detail))

export const invalid = (path: Path, value: unknown, detail: string): FieldError =>
  fieldError('FieldValueInvalid', path, () => join(`Invalid value: ${quoteValue(value)}`, detail))

/** The value is not one of those allowed; Kubernetes lists them sorted. */
export const notSupported = (path: Path, value: unknown, allowed: readonly string[]): FieldError =>
  fieldError('FieldValueNotSupported', path, () => {
    const supported = [...allowed].sort().map((v) => JSON.stringify(v)).join(', ')
    return `Unsupported value: ${quoteValue(value)}${allowed.length ? `: supported values: ${supported}` : ''}`
  })

export const duplicate = (path: Path, value: unknown): FieldError =>
  fieldError('FieldValueDuplicate', path, () => `Duplicate value: ${quoteValue(value)}`)

export const forbidden = (path: Path, detail: string): FieldError => fieldError('FieldValueForbidden', path, () => join('Forbidden', detail))

export const notFoundField = (path: Path, value: unknown): FieldError =>
  fieldError('FieldValueNotFound', path, () => `Not found: ${quoteValue(value)}`)

/** The text is longer than `max` bytes; the value itself is not repeated. */
export const tooLong = (path: Path, max: number): FieldError =>
  fieldError('FieldValueTooLong', path, () => `Too long: may not be more than ${max} bytes`)

export const tooMany = (path: Path, actual: number, max: number): FieldError =>
  fieldError('FieldValueTooMany', path, () => `Too many: ${actual}: must have at most ${max} items`)

export const typeInvalid = (path: Path, value: unknown, detail: string): FieldError =>
  fieldError('FieldValueTypeInvalid', path, () => join(`Invalid value: ${quoteValue(value)}`, detail))
