import { ApiError, badRequest } from '../errors.ts'
import { goFormat, goTypeName } from '../printing/go-format.ts'

/** An error of the patch that Kubernetes reports as a plain 500 with its own message. */
export const fault = (message: string) => new ApiError(500, '', message)

export const noMergeKey = (item: unknown, mergeKey: string) =>
  fault(`map: ${goFormat(item)} does not contain declared merge key: ${mergeKey}`)

export const unknownDirective = (directive: unknown, item: unknown) =>
  fault(`unknown patch type: ${goFormat(directive)} in map: ${goFormat(item)}`)

export const notAList = (value: unknown) => fault(`expected a []interface {}, but received a ${goTypeName(value)}`)

export const notAnObject = (value: unknown) =>
  fault(`expected a map[string]interface {}, but received a ${goTypeName(value)}`)

export const badPrimitiveList = () => badRequest('invalid patch format of primitive list')

export const badRetainKeys = () => badRequest('invalid patch format of retainKeys')

export const badElementOrder = () => badRequest('invalid patch format of setElementOrder list')

/** Lists of lists are rejected without a reason. */
export const listOfLists = () =>
  new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {})
