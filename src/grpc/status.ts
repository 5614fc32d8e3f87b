/** The status codes of gRPC by number, by the names that Go prints. */
export const statusCodes = [
  'OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists', 'PermissionDenied',
  'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented', 'Internal', 'Unavailable',
  'DataLoss', 'Unauthenticated',
] as const

export type StatusCode = (typeof statusCodes)[number]

/** A call that failed. */
export class RpcError extends Error {
  readonly code: StatusCode
  /** The server's message, or ours where no server has answered. */
  readonly detail: string
  /** True if the server has not seen the call and never will, so that it may be sent again. */
  readonly isUnsent: boolean

  constructor(code: StatusCode, detail: string, isUnsent = false) {
    super(`rpc error: code = ${code} desc = ${detail}`)
    this.name = 'RpcError'
    this.code = code
    this.detail = detail
    this.isUnsent = isUnsent
  }
}

/** The status in a message's fields or trailers; undefined where there is none. */
export function statusOf(fields: readonly { name: string; value: string }[]): { code: StatusCode; detail: string } | undefined {
  let code: StatusCode | undefined
  let detail = ''
  for (const { name, value } of fields) {
    if (name === 'grpc-status') code = statusCodes[Number(value)] ?? 'Unknown'
    else if (name === 'grpc-message') detail = decodeDetail(value)
  }
  return code && { code, detail }
}

/** Percent signs escape bytes of UTF-8; what is no escape stands for itself. */
function decodeDetail(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** The status of an answer that has none of its own, by its HTTP status. */
export function statusOfHttp(status: number): StatusCode {
  if (status === 400) return 'Internal'
  if (status === 401) return 'Unauthenticated'
  if (status === 403) return 'PermissionDenied'
  if (status === 404) return 'Unimplemented'
  return status === 429 || status === 502 || status === 503 || status === 504 ? 'Unavailable' : 'Unknown'
}
