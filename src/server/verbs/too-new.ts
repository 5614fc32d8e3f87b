import { ApiError } from '../../api/errors.ts'
import type { Int64 } from '../../api/int64.ts'
import { parseResourceVersion } from '../../api/resource-version.ts'

/** A revision from the future: the client may have talked to a newer copy of this server, so it is told to try again. */
export const tooNew = (asked: Int64, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })

/**
 * The resource version that a query asks for, 0 if none. Throws what `fail` makes of one that cannot be read, and for
 * one that does not exist yet.
 */
export function askedVersion(query: URLSearchParams, current: number, fail: (message: string) => Error): number {
  const asked = parseResourceVersion(query.get('resourceVersion'), fail)
  if (asked > current) throw tooNew(asked, current)
  return Number(asked)
}
