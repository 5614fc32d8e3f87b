import type { DiscoveryV1EndpointPort, Endpoint, EndpointHints, Node, Pod, Service } from '../../api/generated/types.ts'
import { isPodReady, isPodTerminating } from '../kit/workload/index.ts'
import { addressesOf, findPort, hostnameOf, targetOf } from '../service-pods/index.ts'
import type { Family } from './slices.ts'

const zoneLabel = 'topology.kubernetes.io/zone'
const nearby = ['PreferClose', 'PreferSameZone', 'PreferSameNode']

export const zoneOf = (node: Node | undefined): string | undefined => node?.metadata.labels?.[zoneLabel] || undefined

/** A pod as an endpoint of a service. */
export function endpointOf(pod: Pod, node: Node | undefined, service: Service, family: Family): Endpoint {
  const serving = isPodReady(pod)
  const terminating = isPodTerminating(pod)
  // Old clients know `ready` only: they must not be sent to a pod that is going, unless the service wants it.
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

/** For whom an endpoint is meant first, where the service wants traffic to stay near. */
function hintsFor({ spec }: Service, zone: string | undefined, nodeName: string | undefined): EndpointHints | undefined {
  const wanted = spec?.trafficDistribution ?? ''
  if (!nearby.includes(wanted)) return undefined
  const hints: EndpointHints = {
    ...(zone ? { forZones: [{ name: zone }] } : {}),
    ...(nodeName && wanted === 'PreferSameNode' ? { forNodes: [{ name: nodeName }] } : {}),
  }
  return hints.forZones || hints.forNodes ? hints : undefined
}

/** The ports behind a service on one pod. A named port that the pod does not have is left out. */
export function portsOf(service: Service, pod: Pod): DiscoveryV1EndpointPort[] {
  return (service.spec?.ports ?? []).flatMap((servicePort) => {
    const port = findPort(pod, servicePort)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return [{ name, port, protocol, ...(appProtocol ? { appProtocol } : {}) }]
  })
}
