import { ApiError, type Status, type StatusDetails, type StatusReason } from '../../api/errors.ts'
import { type AnswerHeaders, headerOf } from './wire.ts'

/** What an answer means whose body does not say. */
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

/** Pages of gateways can be long; their beginning says enough. */
const shownCharacters = 500

/** The seconds of a Retry-After header, which has them or a date. */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  if (!header) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}

/** The error that an ERROR event or the body of a failed request tells about. */
export function errorOfStatus(status: Partial<Status>, code = 500, retryAfter?: number): ApiError {
  const details: StatusDetails | undefined =
    retryAfter !== undefined && !status.details?.retryAfterSeconds ? { ...status.details, retryAfterSeconds: retryAfter } : status.details
  return new ApiError(status.code || code, status.reason || reasons[code] || '', status.message || `the server has answered ${code}`, details, status.metadata)
}

/** The error that a failed request was answered with, whoever answered it: the API, or a proxy before it. */
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
    // Not from the API: it is shown as it is.
    return undefined
  }
}
