import type { Container, ObjectReference, Pod, Service, ServicePort } from '../../api/generated/types.ts'
import { isPodFinished, isPodTerminating } from '../kit/workload/index.ts'

/** Whether a pod has an address and has not ended; one that is going only if asked for. */
export const belongsToService = (pod: Pod, includeTerminating: boolean): boolean =>
  !isPodFinished(pod) && Boolean(pod.status?.podIP || pod.status?.podIPs?.length) && (includeTerminating || !isPodTerminating(pod))

/** The pod's addresses of one family. */
export const addressesOf = ({ status }: Pod, family: 'IPv4' | 'IPv6'): string[] =>
  (status?.podIPs ?? (status?.podIP ? [{ ip: status.podIP }] : [])).map(({ ip }) => ip).filter((ip) => ip.includes(':') === (family === 'IPv6'))

/** The name by which a pod is known in the domain of its service, if it has one. */
export const hostnameOf = (pod: Pod, service: Service): string | undefined =>
  pod.spec?.hostname && pod.spec.subdomain === service.metadata.name ? pod.spec.hostname : undefined

export const targetOf = ({ metadata: { namespace, name, uid } }: Pod): ObjectReference => ({ kind: 'Pod', namespace, name, uid })

/** The number of the port behind a service's port; undefined if no container has one of that name. */
export function findPort(pod: Pod, { targetPort, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  for (const { ports = [] } of portHolders(pod)) {
    const port = ports.find((p) => p.name === targetPort && (p.protocol ?? 'TCP') === protocol)
    if (port) return port.containerPort
  }
  return undefined
}

/** Init containers that go on running serve, too. */
const portHolders = ({ spec }: Pod): Container[] => [
  ...(spec?.containers ?? []),
  ...(spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always'),
]
