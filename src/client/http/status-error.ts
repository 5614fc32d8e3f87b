import { ApiError, type Status, type StatusDetails, type StatusReason } from '../../api/errors.ts'
import { type AnswerHeaders, headerOf } from './wire.ts'

/** Reasons by status code, for responses whose body has none. */
const reasons: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** Error pages of gateways are truncated to this length. */
const shownCharacters = 500

/** Parses a Retry-After header, in seconds or as a date. */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  if (!header) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}

/** Converts a Status, from an ERROR event or the body of a failed request, to an error. */
export function errorOfStatus(status: Partial<Status>, code = 500, retryAfter?: number): ApiError {
  const details: StatusDetails | undefined =
    retryAfter !== undefined && !status.details?.retryAfterSeconds
      ? { ...status.details, retryAfterSeconds: retryAfter }
      : status.details
  return new ApiError(
    status.code || code,
    status.reason || reasons[code] || '',
    status.message || `the server has answered ${code}`,
    details,
    status.metadata,
  )
}

/** Converts a failed response, of the API or of a proxy, to an error. */
export function errorOfAnswer(code: number, headers: AnswerHeaders, text: string, now: number): ApiError {
  const retryAfter = retryAfterSeconds(headerOf(headers, 'retry-after'), now)
  const status = parseStatus(text)
  if (status) return errorOfStatus(status, code, retryAfter)
  const shown = text.trim().slice(0, shownCharacters)
  return errorOfStatus({ message: shown ? `the server has answered ${code}: ${shown}` : '' }, code, retryAfter)
}

function parseStatus(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const value = JSON.parse(text) as Partial<Status>
    return value.kind === 'Status' ? (value as Status) : undefined
  } catch {
    // Not a Status: the caller shows the text.
    return undefined
  }
}
