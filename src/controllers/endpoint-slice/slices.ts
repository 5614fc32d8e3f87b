import type {
  DiscoveryV1EndpointPort,
  Endpoint,
  EndpointHints,
  EndpointSlice,
  Node,
  Pod,
  Service,
} from '../../api/generated/types.ts'
import { isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import { addressesOf, findPort, headlessLabel, hostnameOf, isHeadless, targetOf } from '../service-pods.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const managedBy = 'endpointslice-controller.k8s.io'

export type Family = 'IPv4' | 'IPv6'

const longestName = 253

/** The address families of a service. */
export function familiesOf({ spec }: Service): Family[] {
  const families = (spec?.ipFamilies ?? []).filter((family): family is Family => family === 'IPv4' || family === 'IPv6')
  if (families.length > 0) return families
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [spec.clusterIP.includes(':') ? 'IPv6' : 'IPv4']
  return ['IPv4', 'IPv6']
}

/** A slice has the labels of its service, and names the service. */
export function labelsOf(service: Service): Record<string, string> {
  const labels = { ...service.metadata.labels }
  delete labels[headlessLabel]
  return {
    ...labels,
    ...(isHeadless(service) ? { [headlessLabel]: '' } : {}),
    [serviceNameLabel]: service.metadata.name ?? '',
    [managedByLabel]: managedBy,
  }
}

export function newSlice(
  service: Service,
  addressType: Family,
  ports: DiscoveryV1EndpointPort[],
  endpoints: Endpoint[],
): EndpointSlice {
  const { name = '', namespace } = service.metadata
  const generateName = name.length < longestName ? `${name}-` : name
  return { metadata: { generateName, namespace, labels: labelsOf(service) }, addressType, ports, endpoints }
}

/** Identifies a set of ports, independent of their order. */
export const portsKey = (ports: readonly DiscoveryV1EndpointPort[] | null | undefined): string =>
  (ports ?? [])
    .map(({ name = '', port, protocol = 'TCP', appProtocol = '' }) =>
      JSON.stringify([name, port, protocol, appProtocol]),
    )
    .sort()
    .join()

/** Identifies an endpoint, independent of its state. */
export const endpointKey = ({ addresses, hostname = '', targetRef }: Endpoint): string =>
  JSON.stringify([[...addresses].sort(), hostname, targetRef?.namespace, targetRef?.name])

const zoneLabel = 'topology.kubernetes.io/zone'
const nearby = ['PreferClose', 'PreferSameZone', 'PreferSameNode']

export const zoneOf = (node: Node | undefined): string | undefined => node?.metadata.labels?.[zoneLabel] || undefined

/** The endpoint of a pod. */
export function endpointOf(pod: Pod, node: Node | undefined, service: Service, family: Family): Endpoint {
  const serving = isPodReady(pod)
  const terminating = isPodTerminating(pod)
  // Old clients read `ready` only, and must not reach terminating pods unless the service requires it.
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const nodeName = pod.spec?.nodeName || undefined
  const zone = zoneOf(node)
  const hostname = hostnameOf(pod, service)
  const hints = ready ? hintsFor(service, zone, nodeName) : undefined
  return {
    addresses: addressesOf(pod, family),
    conditions: { ready, serving, terminating },
    ...(hostname ? { hostname } : {}),
    targetRef: targetOf(pod),
    ...(nodeName ? { nodeName } : {}),
    ...(zone ? { zone } : {}),
    ...(hints ? { hints } : {}),
  }
}

/** The zones and nodes that should use an endpoint, if the service prefers nearby endpoints. */
function hintsFor(
  { spec }: Service,
  zone: string | undefined,
  nodeName: string | undefined,
): EndpointHints | undefined {
  const wanted = spec?.trafficDistribution ?? ''
  if (!nearby.includes(wanted)) return undefined
  const hints: EndpointHints = {
    ...(zone ? { forZones: [{ name: zone }] } : {}),
    ...(nodeName && wanted === 'PreferSameNode' ? { forNodes: [{ name: nodeName }] } : {}),
  }
  return hints.forZones || hints.forNodes ? hints : undefined
}

/** The ports of a service on one pod. A missing named port is omitted. */
export function portsOf(service: Service, pod: Pod): DiscoveryV1EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((servicePort) => {
    const port = findPort(pod, servicePort)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return [{ name, port, protocol, ...(appProtocol ? { appProtocol } : {}) }]
  })
}
