import type { TLSSocket } from 'node:tls'

/** The API server's user name, and the administrator groups of Kubernetes and kubeadm. */
const apiServerName = 'kube-apiserver-kubelet-client'
const almighty = ['system:masters', 'kubeadm:cluster-admins']

type Names = string | readonly string[] | undefined

const listOf = (names: Names): readonly string[] =>
  names === undefined ? [] : typeof names === 'string' ? [names] : names

/** True if the subject of a client certificate may access pods. */
export function isApiServer(subject: { CN?: Names; O?: Names }): boolean {
  return listOf(subject.CN).includes(apiServerName) || listOf(subject.O).some((group) => almighty.includes(group))
}

/** Returns the HTTP error for a client without permission, or undefined. */
export function mayAsk(socket: TLSSocket): { code: number; message: string } | undefined {
  if (!socket.authorized) return { code: 401, message: 'Unauthorized' }
  const { subject } = socket.getPeerCertificate()
  return subject && isApiServer(subject)
    ? undefined
    : {
        code: 403,
        message: `Forbidden (user=${String(subject?.CN ?? '')}, verb=get, resource=nodes, subresource=proxy)`,
      }
}
