/** The gRPC status codes, by the names that Go prints. */
export const statusCodes = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const

export type StatusCode = (typeof statusCodes)[number]

/** The error of a failed call. */
export class RpcError extends Error {
  readonly code: StatusCode
  /** The server's message, or a local one if the server has not answered. */
  readonly detail: string
  /** True if the server has not processed the call and never will, so that it is safe to retry. */
  readonly isUnsent: boolean

  constructor(code: StatusCode, detail: string, isUnsent = false) {
    super(`rpc error: code = ${code} desc = ${detail}`)
    this.name = 'RpcError'
    this.code = code
    this.detail = detail
    this.isUnsent = isUnsent
  }
}

/** The status in header fields or trailers; undefined if they have none. */
export function statusOf(
  fields: readonly { name: string; value: string }[],
): { code: StatusCode; detail: string } | undefined {
  let code: StatusCode | undefined
  let detail = ''
  for (const { name, value } of fields) {
    if (name === 'grpc-status') code = statusCodes[Number(value)] ?? 'Unknown'
    else if (name === 'grpc-message') detail = decodeDetail(value)
  }
  return code && { code, detail }
}

/** Decodes a percent-encoded message. One that is not valid is kept as it is. */
function decodeDetail(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** The status of a response without grpc-status, from its HTTP status. */
export function statusOfHttp(status: number): StatusCode {
  if (status === 400) return 'Internal'
  if (status === 401) return 'Unauthenticated'
  if (status === 403) return 'PermissionDenied'
  if (status === 404) return 'Unimplemented'
  return status === 429 || status === 502 || status === 503 || status === 504 ? 'Unavailable' : 'Unknown'
}
