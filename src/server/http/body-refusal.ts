import { ApiError, entityTooLarge } from '../../api/errors.ts'

/** Why a body is not read to its end. */
export const bodyTooLarge = (limit: number): ApiError => entityTooLarge(`Request entity too large: limit is ${limit}`)
export const bodyTooSlow = (): ApiError => new ApiError(504, 'Timeout', 'Timeout: request did not complete within requested timeout', {})
