import { badRequest } from '../../api/errors.ts'
import { type FieldError, forbidden } from '../../api/validation/field-error.ts'
import { Path } from '../../api/validation/path.ts'
import { invalidOptions, queryBoolean } from './options.ts'

const path = Path.of('resourceVersionMatch')

const unsupported = (value: string, allowed: string): FieldError => ({
  reason: 'FieldValueNotSupported',
  field: path.toString(),
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed}`,
})

/** Judges the options of a list or watch that have to do with resource versions. */
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
    if (version === '') errors.push(forbidden(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (query.get('continue')) errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'))
    if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(unsupported(match, '"Exact", "NotOlderThan", ""'))
    if (match === 'Exact' && version === '0') errors.push(forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (query.get('sendInitialEvents') !== null) errors.push(forbidden(Path.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'))
  return errors
}

/** The `timeout` of any request: a Go duration. */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get('timeout')
  if (text === null || text === '') return
  const isDuration = /^[+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/.test(text) || text === '0'
  if (!isDuration) throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(text)}`)
}

export const wantsBookmarks = (query: URLSearchParams): boolean => queryBoolean(query, 'allowWatchBookmarks')
