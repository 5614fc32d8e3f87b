import type { Int64 } from '../../api/numbers/int64.ts'
import { parseResourceVersion } from '../../api/resource-version.ts'
import { ApiError, badRequest } from '../../api/errors.ts'
import { type FieldError, forbidden } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { invalidOptions, queryBoolean } from './options.ts'

const path = Path.of('resourceVersionMatch')

const unsupported = (value: string, allowed: string): FieldError => ({
  reason: 'FieldValueNotSupported',
  field: path.toString(),
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed}`,
})

/** Validates the options of a list or watch that concern resource versions. */
export function checkListOptions(query: URLSearchParams, isWatch: boolean): void {
  const match = query.get('resourceVersionMatch') ?? ''
  const version = query.get('resourceVersion') ?? ''
  const errors = isWatch ? watchErrors(query, match) : listErrors(query, match, version)
  if (errors.length) throw invalidOptions('ListOptions', errors)
}

function watchErrors(query: URLSearchParams, match: string): FieldError[] {
  if (query.get('sendInitialEvents') === null) {
    if (match === '') return []
    return [
      forbidden(path, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
      ...(match === 'NotOlderThan' ? [] : [unsupported(match, '"NotOlderThan"')]),
    ]
  }
  if (match === '') return [forbidden(path, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')]
  return match === 'NotOlderThan' ? [] : [unsupported(match, '"NotOlderThan"')]
}

function listErrors(query: URLSearchParams, match: string, version: string): FieldError[] {
  const errors: FieldError[] = []
  if (match !== '') {
    if (version === '')
      errors.push(forbidden(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (query.get('continue'))
      errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'))
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(unsupported(match, '"Exact", "NotOlderThan", ""'))
    if (match === 'Exact' && version === '0')
      errors.push(forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (query.get('sendInitialEvents') !== null)
    errors.push(forbidden(Path.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'))
  return errors
}

/** Validates the `timeout` parameter, a Go duration. */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get('timeout')
  if (text === null || text === '') return
  const isDuration =
    /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/.test(text) || text === '0'
  if (!isDuration)
    throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`)
}

export const wantsBookmarks = (query: URLSearchParams): boolean => queryBoolean(query, 'allowWatchBookmarks')

/** The error for a future revision. The client may have seen a newer replica of this server, so it should retry. */
export const tooNew = (asked: Int64, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })

/**
 * The resource version in the query, 0 if there is none. Throws `fail(…)` for a malformed one, and `tooNew` for a
 * future one.
 */
export function askedVersion(query: URLSearchParams, current: number, fail: (message: string) => Error): number {
  const asked = parseResourceVersion(query.get('resourceVersion'), fail)
  if (asked > current) throw tooNew(asked, current)
  return Number(asked)
}
