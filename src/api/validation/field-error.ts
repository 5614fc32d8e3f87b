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

/** The errors of an object that is being judged: no more are looked for once there are so many. */
interface Judgement {
  found: FieldError[]
  most: number
}

class Enough extends Error {}

let judgement: Judgement | undefined

function counted(error: FieldError): FieldError {
  if (!judgement) return error
  judgement.found.push(error)
  if (judgement.found.length >= judgement.most) throw new Enough()
  return error
}

/**
 * Judges an object, and breaks off at so many errors: an object of 3 MB can have a million, each with its path, and nobody reads them.
 * Errors count that a rule makes and does not hand on; no rule does that for thousands.
 */
export function withMostErrors(most: number, judge: () => FieldError[]): FieldError[] {
  const outer = judgement
  const own: Judgement = { found: [], most }
  judgement = own
  try {
    return judge()
  } catch (e) {
    if (e instanceof Enough) return own.found
    throw e
  } finally {
    judgement = outer
  }
}

const join = (head: string, detail: string) => (detail === '' ? head : `${head}: ${detail}`)

/**
 * An error about a value. A structure is put into words when somebody reads them: each of many errors of one list may quote all of it,
 * and only so many are told.
 */
function about(reason: FieldErrorReason, path: Path, value: unknown, message: (quoted: string) => string): FieldError {
  const field = path.toString()
  if (typeof value !== 'object' || value === null) return counted({ reason, field, message: message(quoteValue(value)) })
  return counted({
    reason,
    field,
    get message() {
      return message(quoteValue(value))
    },
  })
}

const plain = (reason: FieldErrorReason, path: Path, message: string): FieldError => counted({ reason, field: path.toString(), message })

export const required = (path: Path, detail = ''): FieldError => plain('FieldValueRequired', path, join('Required value', detail))

export const invalid = (path: Path, value: unknown, detail: string): FieldError =>
  about('FieldValueInvalid', path, value, (quoted) => join(`Invalid value: ${quoted}`, detail))

/** The value is not one of those allowed; Kubernetes lists them sorted. */
export const notSupported = (path: Path, value: unknown, allowed: readonly string[]): FieldError =>
  about('FieldValueNotSupported', path, value, (quoted) => {
    const supported = [...allowed].sort().map((v) => JSON.stringify(v)).join(', ')
    return `Unsupported value: ${quoted}${allowed.length ? `: supported values: ${supported}` : ''}`
  })

export const duplicate = (path: Path, value: unknown): FieldError =>
  about('FieldValueDuplicate', path, value, (quoted) => `Duplicate value: ${quoted}`)

export const forbidden = (path: Path, detail: string): FieldError => plain('FieldValueForbidden', path, join('Forbidden', detail))

export const notFoundField = (path: Path, value: unknown): FieldError =>
  about('FieldValueNotFound', path, value, (quoted) => `Not found: ${quoted}`)

/** The text is longer than `max` bytes; the value itself is not repeated. */
export const tooLong = (path: Path, max: number): FieldError =>
  plain('FieldValueTooLong', path, `Too long: may not be more than ${max} bytes`)

export const tooMany = (path: Path, actual: number, max: number): FieldError =>
  plain('FieldValueTooMany', path, `Too many: ${actual}: must have at most ${max} items`)

export const typeInvalid = (path: Path, value: unknown, detail: string): FieldError =>
  about('FieldValueTypeInvalid', path, value, (quoted) => join(`Invalid value: ${quoted}`, detail))
