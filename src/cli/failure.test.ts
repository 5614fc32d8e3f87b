import { describe, expect, it } from 'vitest'
import { ApiError, notFound } from '../api/errors.ts'
import { TransportError } from '../client/index.ts'
import { exitCodeOf, failureText } from './failure.ts'
import { CommandError, isNotReadable, isUnknownPath } from '../insight/failure.ts'

const unknownPath = new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})
const missing = notFound({ group: 'apps', resource: 'deployments' }, 'web')
const forbidden = new ApiError(403, 'Forbidden', 'nodes is forbidden', { kind: 'nodes' })

describe('failureText() is what kubectl would say', () => {
  it.each([
    ['an object that does not exist', missing, 'Error from server (NotFound): deployments.apps "web" not found'],
    ['something forbidden', forbidden, 'Error from server (Forbidden): nodes is forbidden'],
    ['a failure without a reason', new ApiError(500, '', 'broken'), 'Error from server: broken'],
    [
      'nobody',
      new ApiError(401, 'Unauthorized', 'Unauthorized'),
      'error: You must be logged in to the server (Unauthorized)',
    ],
    [
      'no connection',
      new TransportError('connection refused', true),
      'Unable to connect to the server: connection refused',
    ],
    ['a flag that makes no sense', new CommandError('no such kind'), 'error: no such kind'],
  ])('about %s', (_, error, text) => expect(failureText(error)).toBe(text))
})

it.each([
  [new CommandError('x', 3), 3],
  [new CommandError('x'), 1],
  [missing, 1],
])('exitCodeOf() %#', (error, code) => expect(exitCodeOf(error)).toBe(code))

it.each([
  ['a kind that is not served', unknownPath, true, true],
  ['an object that does not exist', missing, true, false],
  ['what is forbidden', forbidden, true, false],
  ['a server that fails', new ApiError(500, 'InternalError', 'x'), false, false],
  ['no connection', new TransportError('x', true), false, false],
])('%s is not readable, or not known at all', (_, error, notReadable, unknown) => {
  expect([isNotReadable(error), isUnknownPath(error)]).toEqual([notReadable, unknown])
})
