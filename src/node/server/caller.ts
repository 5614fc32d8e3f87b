import type { TLSSocket } from 'node:tls'

/** The API server's name, and groups that may do everything: Kubernetes' own, and kubeadm's. */
const apiServerName = 'kube-apiserver-kubelet-client'
const almighty = ['system:masters', 'kubeadm:cluster-admins']

type Names = string | readonly string[] | undefined

const listOf = (names: Names): readonly string[] =>
  names === undefined ? [] : typeof names === 'string' ? [names] : names

/** Whether the subject of a certificate that the cluster has signed may look into pods. */
export function isApiServer(subject: { CN?: Names; O?: Names }): boolean {
  return listOf(subject.CN).includes(apiServerName) || listOf(subject.O).some((group) => almighty.includes(group))
}

/** Why whoever is at the other end of a connection is not answered; undefined when they are. */
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
