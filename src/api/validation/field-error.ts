import { jsonText } from '../json/index.ts'
import type { Path } from './path.ts'

/** Kubernetes' types of field errors, as in `details.causes[].reason`. */
type FieldErrorReason =
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

/** A field error. `message` is the text after the field's path. */
export interface FieldError {
  reason: FieldErrorReason
  field: string
  message: string
}

/** Formats a value as Kubernetes' messages do: quoted strings, structures as JSON, null if absent. */
export function quoteValue(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  return jsonText(value)
}

/** The maximum total length of error paths, since deep objects have long paths. A response has a quarter of that. */
const mostLetters = 4 * 1024 * 1024

class Enough extends Error {}

/**
 * Stops the validation of an object at a maximum number of errors: an object of 3 MB can have a million. Errors that a
 * rule creates but does not report count too; no rule does that for thousands.
 */
export class ErrorLimit {
  readonly #most: number
  #letters = 0
  /** All errors so far. */
  readonly found: FieldError[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** Runs a part of the validation. Returns undefined if it was stopped; `found` then has the errors. */
  run<T>(part: () => T): T | undefined {
    const outer = limitBy(this)
    try {
      return part()
    } catch (e) {
      if (e instanceof Enough) return undefined
      throw e
    } finally {
      limitBy(outer)
    }
  }

  add(error: FieldError): void {
    this.found.push(error)
    this.#letters += error.field.length
    if (this.found.length >= this.#most || this.#letters > mostLetters) throw new Enough()
  }
}

let limit: ErrorLimit | undefined

/** Makes a limit count the errors that are created from now on. Returns the previous one. */
function limitBy(next: ErrorLimit | undefined): ErrorLimit | undefined {
  const before = limit
  limit = next
  return before
}

function counted(error: FieldError): FieldError {
  limit?.add(error)
  return error
}

const join = (head: string, detail: string) => (detail === '' ? head : `${head}: ${detail}`)

/** Longer strings are quoted lazily. */
const shortText = 256

/**
 * An error about a value. Structures and long strings are formatted lazily, since each of many errors may quote all of
 * them, and only some errors are reported.
 */
function about(reason: FieldErrorReason, path: Path, value: unknown, message: (quoted: string) => string): FieldError {
  const field = path.toString()
  const isShort = typeof value === 'string' ? value.length <= shortText : typeof value !== 'object' || value === null
  if (isShort) return counted({ reason, field, message: message(quoteValue(value)) })
  return counted({
    reason,
    field,
    get message() {
      return message(quoteValue(value))
    },
  })
}

const plain = (reason: FieldErrorReason, path: Path, message: string): FieldError =>
  counted({ reason, field: path.toString(), message })

export const required = (path: Path, detail = ''): FieldError =>
  plain('FieldValueRequired', path, join('Required value', detail))

export const invalid = (path: Path, value: unknown, detail: string): FieldError =>
  about('FieldValueInvalid', path, value, (quoted) => join(`Invalid value: ${quoted}`, detail))

/** One error for each problem that was found in a value. */
export const invalidEach = (path: Path, value: unknown, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => invalid(path, value, problem))

/** The value is not supported. Kubernetes lists the supported values sorted. */
export const notSupported = (path: Path, value: unknown, allowed: readonly string[]): FieldError =>
  about('FieldValueNotSupported', path, value, (quoted) => {
    const supported = [...allowed]
      .sort()
      .map((v) => JSON.stringify(v))
      .join(', ')
    return `Unsupported value: ${quoted}${allowed.length ? `: supported values: ${supported}` : ''}`
  })

export const duplicate = (path: Path, value: unknown): FieldError =>
  about('FieldValueDuplicate', path, value, (quoted) => `Duplicate value: ${quoted}`)

export const forbidden = (path: Path, detail: string): FieldError =>
  plain('FieldValueForbidden', path, join('Forbidden', detail))

export const notFoundField = (path: Path, value: unknown): FieldError =>
  about('FieldValueNotFound', path, value, (quoted) => `Not found: ${quoted}`)

/** The string is longer than `max` bytes. The value is not quoted. */
export const tooLong = (path: Path, max: number): FieldError =>
  plain('FieldValueTooLong', path, `Too long: may not be more than ${max} bytes`)

export const tooMany = (path: Path, actual: number, max: number): FieldError =>
  plain('FieldValueTooMany', path, `Too many: ${actual}: must have at most ${max} items`)

export const typeInvalid = (path: Path, value: unknown, detail: string): FieldError =>
  about('FieldValueTypeInvalid', path, value, (quoted) => join(`Invalid value: ${quoted}`, detail))
