import { TransportError } from '../transport/transport.ts'

/** Node's error codes in words. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network cannot be reached',
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is signed by an unknown authority",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT: "the server's certificate is signed by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the server's certificate is signed by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate is signed by an unknown authority",
}

/** Describes a connection error. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Several addresses of one host were tried; report the first error.
  const first =
    error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : (error as NodeJS.ErrnoException)
  return words[first.code ?? ''] ?? (first.message || error.message || error.name)
}

/** Returns the error for a request that was not sent. */
export const unsent = (error: unknown): TransportError =>
  new TransportError(describeFailure(error), true, { cause: error })

/** Returns the error for a request whose outcome is unknown. */
export const unanswered = (error: unknown): TransportError =>
  new TransportError(describeFailure(error), false, { cause: error })
