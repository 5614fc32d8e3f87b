import type { TLSSocket } from 'node:tls'
import type { Credentials } from '../auth/authenticate.ts'

const certificates = new WeakMap<TLSSocket, { subject: Credentials['certificate'] }>()

/** The subject of the client's certificate, read once a connection. */
export function certificateOf(socket: TLSSocket): Credentials['certificate'] {
  let known = certificates.get(socket)
  if (!known) certificates.set(socket, (known = { subject: readCertificate(socket) }))
  return known.subject
}

function readCertificate(socket: TLSSocket): Credentials['certificate'] {
  if (!socket.authorized) return undefined
  const subject = socket.getPeerCertificate()?.subject as { CN?: string | string[]; O?: string | string[] } | undefined
  if (!subject?.CN) return undefined
  const { CN, O = [] } = subject
  return { commonName: Array.isArray(CN) ? CN[0]! : CN, organizations: Array.isArray(O) ? O : [O] }
}
