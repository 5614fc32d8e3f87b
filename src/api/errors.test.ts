import { describe, expect, it } from 'vitest'
import {
  ApiError, alreadyExists, badRequest, conflict, conflictModified, entityTooLarge, expired, forbiddenError, internalError, invalidObject, isAlreadyExists, isConflict, isExpired, isInvalid,
  isNotFound, methodNotAllowed, notFound, notFoundPath, serviceUnavailable, tooManyRequests, unauthorized,
} from './errors.ts'

const pods = { group: '', resource: 'pods' }
const deployments = { group: 'apps', resource: 'deployments' }

describe('errors in the words of Kubernetes', () => {
  it.each([
    ['badRequest', badRequest('no'), 400, 'BadRequest', 'no', undefined],
    ['unauthorized', unauthorized(), 401, 'Unauthorized', 'Unauthorized', undefined],
    ['forbidden', forbiddenError(pods, 'p', 'no'), 403, 'Forbidden', 'pods "p" is forbidden: no', { name: 'p', kind: 'pods' }],
    ['forbidden, of nothing', forbiddenError({ group: '', resource: '' }, '', 'no'), 403, 'Forbidden', 'forbidden: no', {}],
    ['notFound', notFound(deployments, 'd'), 404, 'NotFound', 'deployments.apps "d" not found', { name: 'd', group: 'apps', kind: 'deployments' }],
    ['notFoundPath', notFoundPath(), 404, 'NotFound', 'the server could not find the requested resource', {}],
    ['methodNotAllowed', methodNotAllowed(), 405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}],
    ['alreadyExists', alreadyExists(pods, 'p'), 409, 'AlreadyExists', 'pods "p" already exists', { name: 'p', kind: 'pods' }],
    ['conflict', conflict(pods, 'p', 'why'), 409, 'Conflict', 'Operation cannot be fulfilled on pods "p": why', { name: 'p', kind: 'pods' }],
    ['entityTooLarge', entityTooLarge('big'), 413, 'RequestEntityTooLarge', 'big', undefined],
    ['internalError', internalError('oops'), 500, 'InternalError', 'Internal error occurred: oops', { causes: [{ message: 'oops' }] }],
    ['serviceUnavailable', serviceUnavailable('later'), 503, 'ServiceUnavailable', 'later', undefined],
  ])('%s', (_name, error, code, reason, message, details) => {
    expect(error).toMatchObject({ code, reason, message })
    expect(error.details).toEqual(details)
  })

  it('a conflict of versions says what to do', () => {
    expect(conflictModified(pods, 'p').message).toMatch(/the object has been modified; please apply your changes to the latest version and try again$/)
  })

  it('too many requests say when to come again', () => {
    expect(tooManyRequests('slow', 10).details).toEqual({ retryAfterSeconds: 10 })
    expect(tooManyRequests('slow', 0, [{ message: 'x' }]).details).toEqual({ causes: [{ message: 'x' }] })
  })
})

describe('ApiError.toStatus()', () => {
  it('has every field that is known, and none that is not', () => {
    expect(new ApiError(500, '', 'plain').toStatus()).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'plain', code: 500 })
    expect(expired('old', { continue: 'abc' }).toStatus()).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: { continue: 'abc' }, status: 'Failure', message: 'old', reason: 'Expired', code: 410 })
  })
})

describe('invalidObject()', () => {
  const error = (field: string, message = 'Required value') => ({ reason: 'FieldValueRequired' as const, field, message })

  it('names one problem as it is, and several in a list', () => {
    expect(invalidObject({ group: 'apps', kind: 'Deployment' }, 'd', [error('spec')]).message).toBe('Deployment.apps "d" is invalid: spec: Required value')
    expect(invalidObject({ group: '', kind: 'Pod' }, 'p', [error('a'), error('b')]).message).toBe('Pod "p" is invalid: [a: Required value, b: Required value]')
  })

  it('says what is found twice once, and lists it twice', () => {
    const { message, details } = invalidObject({ group: '', kind: 'Pod' }, '', [error('a'), error('a')])
    expect(message).toBe('Pod "" is invalid: a: Required value')
    expect(details).toEqual({ kind: 'Pod', causes: [error('a'), error('a')] })
  })
})

it('invalidObject() does not tell more than anybody reads', () => {
  const errors = Array.from({ length: 100_000 }, (_, i) => ({ reason: 'FieldValueInvalid' as const, field: `f[${i}]`, message: 'bad' }))
  const { message, details } = invalidObject({ group: '', kind: 'Pod' }, 'p', errors)
  expect(details!.causes).toHaveLength(1000)
  expect(message).toMatch(/f\[999\]: bad, and 99000 more\]$/)
})

it('is…() tell one reason from another, and from other errors', () => {
  const all = [notFound(pods, 'p'), alreadyExists(pods, 'p'), conflictModified(pods, 'p'), invalidObject({ group: '', kind: 'Pod' }, 'p', []), expired('x'), new Error('x'), undefined]
  const answers = [isNotFound, isAlreadyExists, isConflict, isInvalid, isExpired].map((is) => all.findIndex((e) => is(e)))
  expect(answers).toEqual([0, 1, 2, 3, 4])
})
