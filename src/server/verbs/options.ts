import { type ApiError, badRequest, invalidObject } from '../../api/errors.ts'
import { type Int64, parseInt64 } from '../../api/numbers/int64.ts'
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'

/** The handling of unknown and duplicate fields in a body. */
export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

export interface WriteOptions {
  dryRun: boolean
  /** For apply: override conflicts. */
  force: boolean
  fieldValidation: FieldValidation
}

type OptionsKind = 'apply' | 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions'

/** The error for invalid options, in Kubernetes' words. */
export const invalidOptions = (kind: string, errors: readonly FieldError[]): ApiError =>
  invalidObject({ group: 'meta.k8s.io', kind }, '', errors)

export function checkDryRun(values: readonly string[]): FieldError[] {
  return values.every((v) => v === 'All') ? [] : [notSupported(Path.of('dryRun'), values, ['All'])]
}

function checkFieldManager(manager: string): FieldError[] {
  const path = Path.of('fieldManager')
  const errors: FieldError[] = Buffer.byteLength(manager) > 128 ? [tooLong(path, 128)] : []
  let position = 0
  for (const char of manager) {
    const code = char.codePointAt(0)!
    // Go's unicode.IsPrint: no control, format, surrogate, private or unassigned characters, and no spaces other than
    // U+0020.
    if (char !== ' ' && /[\p{C}\p{Z}]/u.test(char)) {
      errors.push(
        invalid(
          path,
          manager,
          `invalid character U+${code.toString(16).toUpperCase().padStart(4, '0')} (at position ${position})`,
        ),
      )
    }
    position += Buffer.byteLength(char)
  }
  return errors
}

/** Parses the query parameters that create, update and patch share. */
export function parseWriteOptions(query: URLSearchParams, kind: OptionsKind): WriteOptions {
  const dryRun = query.getAll('dryRun')
  const fieldValidation = query.get('fieldValidation') ?? ''
  const errors = [...checkFieldManager(query.get('fieldManager') ?? ''), ...checkDryRun(dryRun)]
  // Only an apply can be forced, and it must name a field manager.
  if (kind === 'apply' && !query.get('fieldManager'))
    errors.unshift(required(Path.of('fieldManager'), 'is required for apply patch'))
  if (kind === 'PatchOptions' && query.has('force'))
    errors.unshift(forbidden(Path.of('force'), 'may not be specified for non-apply patch'))
  if (!['', 'Strict', 'Warn', 'Ignore'].includes(fieldValidation)) {
    errors.push(notSupported(Path.of('fieldValidation'), fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  if (errors.length) throw invalidOptions(kind === 'apply' ? 'PatchOptions' : kind, errors)
  return {
    dryRun: dryRun.length > 0,
    force: kind === 'apply' && queryBoolean(query, 'force'),
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
  }
}

/** An int64 parameter. Undefined if it is missing. */
export function queryInteger(query: URLSearchParams, name: string): Int64 | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = parseInt64(text)
  if (value === undefined) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  return value
}

/** A boolean parameter as Kubernetes parses it: true if present and neither `false` nor `0`. */
export function queryBoolean(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value.toLowerCase() !== 'false' && value !== '0'
}
