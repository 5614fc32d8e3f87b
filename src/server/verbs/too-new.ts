import { ApiError } from '../../api/errors.ts'

/** A revision from the future: the client may have talked to a newer copy of this server, so it is told to try again. */
export const tooNew = (asked: number, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
