/** Go's messages for connection errors. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ECONNRESET: 'EOF',
  EPIPE: 'EOF',
}

/** The reason of a failed request, in Go's words if there are any. */
export const reasonOf = (error: NodeJS.ErrnoException): string => reasons[error.code ?? ''] ?? error.message

const unknownAuthority = 'x509: certificate signed by unknown authority'

/** Go's messages for OpenSSL's certificate errors. */
const certificateProblems: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'x509: certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'x509: certificate has expired or is not yet valid',
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  INVALID_PURPOSE: 'x509: certificate specifies an incompatible key usage',
}

/** Formats the names of a certificate, `DNS:a, IP Address:127.0.0.1`, like Go. */
function namesOf(altNames: string | undefined): string {
  return (altNames ?? '').replaceAll(/(?:DNS|IP Address):/g, '')
}

type TlsFailure = NodeJS.ErrnoException & { host?: string; cert?: { subjectaltname?: string } }

function certificateProblem({ code = '', host = '', cert }: TlsFailure): string | undefined {
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return certificateProblems[code]
  const names = namesOf(cert?.subjectaltname)
  if (names) return `x509: certificate is valid for ${names}, not ${host}`
  return 'x509: certificate relies on legacy Common Name field, use SANs instead'
}

/** The error of a failed request to another server, in the words of Go's HTTP client. */
export function requestFailure(error: TlsFailure, address: string): string {
  const problem = certificateProblem(error)
  if (problem) return `tls: failed to verify certificate: ${problem}`
  if (error.code === 'EPROTO') return 'http: server gave HTTP response to HTTPS client'
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') {
    return `dial tcp: lookup ${(error as { hostname?: string }).hostname ?? ''}: no such host`
  }
  return error.syscall === 'connect' ? `dial tcp ${address}: ${reasonOf(error)}` : reasonOf(error)
}
