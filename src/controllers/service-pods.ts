import { deepEqual } from '../api/deep-equal.ts'
import type { Container, ObjectReference, Pod, Service, ServicePort } from '../api/generated/types.ts'
import { pods, services } from '../client/index.ts'
import type { Caches, Watch } from './kit/index.ts'
import {
  findCondition,
  isPodFinished,
  isPodReady,
  isPodTerminating,
  selected,
  selectedPods,
  selectorIndex,
} from './kit/workload/index.ts'

export const headlessLabel = 'service.kubernetes.io/headless'

const selectorOf = ({ spec }: Service) => {
  const matchLabels = spec?.selector
  return matchLabels && Object.keys(matchLabels).length > 0 ? { matchLabels } : undefined
}

/** Services by their selector. */
export const servicesByPod = selectorIndex(services, selectorOf)

/** The pods that a service selects. */
export const podsServing = (caches: Caches, service: Service): Pod[] =>
  selectedPods(caches, service.metadata.namespace ?? '', selectorOf(service))

/** Reports whether a service has a selector. Others have their endpoints from elsewhere, or none. */
export const isServedByPods = (service: Service): boolean =>
  service.spec?.type !== 'ExternalName' && selectorOf(service) !== undefined

/** Reports whether a service has no cluster IP. */
export const isHeadless = ({ spec }: Service): boolean => !spec?.clusterIP || spec.clusterIP === 'None'

const ipsOf = ({ status }: Pod): string => status?.podIPs?.map(({ ip }) => ip).join() ?? status?.podIP ?? ''

/** Reports whether a change of a pod can change the endpoints of a service. */
const podConcerns = (before: Pod, after: Pod): boolean =>
  isPodReady(before) !== isPodReady(after) ||
  isPodFinished(before) !== isPodFinished(after) ||
  ipsOf(before) !== ipsOf(after) ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
  before.spec?.nodeName !== after.spec?.nodeName ||
  before.spec?.hostname !== after.spec?.hostname ||
  before.spec?.subdomain !== after.spec?.subdomain ||
  !deepEqual(before.metadata.labels, after.metadata.labels)

/** Reconciles the services of changed pods. */
export const watchPods: Watch = selected(servicesByPod, pods, podConcerns)

/** Reports whether a pod has an address and has not finished. Terminating pods are included on request. */
export const belongsToService = (pod: Pod, includeTerminating: boolean): boolean =>
  !isPodFinished(pod) &&
  Boolean(pod.status?.podIP || pod.status?.podIPs?.length) &&
  (includeTerminating || !isPodTerminating(pod))

/** The pod's addresses of one family. */
export const addressesOf = ({ status }: Pod, family: 'IPv4' | 'IPv6'): string[] =>
  (status?.podIPs ?? (status?.podIP ? [{ ip: status.podIP }] : []))
    .map(({ ip }) => ip)
    .filter((ip) => ip.includes(':') === (family === 'IPv6'))

/** The host name of a pod in the domain of its service, if it has one. */
export const hostnameOf = (pod: Pod, service: Service): string | undefined =>
  pod.spec?.hostname && pod.spec.subdomain === service.metadata.name ? pod.spec.hostname : undefined

export const targetOf = ({ metadata: { namespace, name, uid } }: Pod): ObjectReference => ({
  kind: 'Pod',
  namespace,
  name,
  uid,
})

/** The port number behind a service's port. Undefined if no container has a port of the name. */
export function findPort(pod: Pod, { targetPort, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  for (const { ports = [] } of portHolders(pod)) {
    const port = ports.find((p) => p.name === targetPort && (p.protocol ?? 'TCP') === protocol)
    if (port) return port.containerPort
  }
  return undefined
}

/** Init containers that keep running serve as well. */
const portHolders = ({ spec }: Pod): Container[] => [
  ...(spec?.containers ?? []),
  ...(spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always'),
]

/** The annotation with the time of the last change, from which the delay of endpoints is measured. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

/** The time at which a pod became ready, or stopped being ready. */
export const readySince = (pod: Pod): string | undefined =>
  findCondition(pod.status?.conditions, 'Ready')?.lastTransitionTime ?? undefined
