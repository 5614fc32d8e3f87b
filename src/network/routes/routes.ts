import type { Endpoint, EndpointSlice, Service, ServicePort } from '../../api/generated/types.ts'

/** The address and port of an endpoint. */
export interface Target {
  address: string
  port: number
}

/** One port of a Service and the endpoints that receive its traffic. */
export interface Route {
  namespace: string
  name: string
  /** The port name; empty for a single unnamed port. */
  portName: string
  protocol: 'TCP' | 'UDP'
  clusterIps: readonly string[]
  port: number
  nodePort: number | undefined
  /** The timeout of session affinity (`sessionAffinity: ClientIP`); undefined without affinity. */
  affinityMs: number | undefined
  /** The endpoints for traffic to a cluster IP. */
  internal: readonly Target[]
  /** The endpoints for traffic to the node port. */
  external: readonly Target[]
  /** `externalTrafficPolicy: Local`: the external endpoints are on this node and see the addresses of clients. */
  isExternalLocal: boolean
}

/** The node of the clients. */
export interface Origin {
  nodeName: string
  zone: string | undefined
}

/** The label of an EndpointSlice that names its Service. */
export const serviceNameLabel = 'kubernetes.io/service-name'

const defaultAffinitySeconds = 10_800

/**
 * The routes of a Service by kube-proxy's rules. Headless Services and ExternalNames have none: clients resolve them by
 * DNS.
 */
export function routesOf(service: Service, slices: readonly EndpointSlice[], origin: Origin): Route[] {
  const { metadata, spec } = service
  const { type, clusterIP = '', clusterIPs = [], ports = [], sessionAffinity, sessionAffinityConfig } = spec
  if (type === 'ExternalName' || clusterIP === 'None' || clusterIP === '') return []
  const clusterIps = clusterIPs.length > 0 ? clusterIPs : [clusterIP]
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds
  return ports.flatMap((port): Route[] => {
    const { name: portName = '', protocol = 'TCP', nodePort } = port
    if (protocol !== 'TCP' && protocol !== 'UDP') return []
    const all = endpointsOf(slices, port)
    const isExternalLocal = spec.externalTrafficPolicy === 'Local'
    return [
      {
        namespace: metadata.namespace ?? '',
        name: metadata.name ?? '',
        portName,
        protocol,
        clusterIps,
        port: port.port,
        nodePort: nodePort || undefined,
        affinityMs: sessionAffinity === 'ClientIP' ? seconds * 1000 : undefined,
        internal: usable(all, origin, spec.internalTrafficPolicy === 'Local'),
        external: usable(all, origin, isExternalLocal),
        isExternalLocal,
      },
    ]
  })
}

interface Reachable {
  endpoint: Endpoint
  target: Target
}

/** The endpoints of a Service port. An EndpointSlice has its own port numbers and the port names of the Service. */
function endpointsOf(slices: readonly EndpointSlice[], { name = '', protocol = 'TCP' }: ServicePort): Reachable[] {
  const found = new Map<string, Reachable>()
  for (const slice of slices) {
    if (slice.addressType === 'FQDN') continue
    const port = slice.ports?.find((p) => (p.name ?? '') === name && (p.protocol ?? 'TCP') === protocol)?.port
    if (port === undefined) continue
    for (const endpoint of slice.endpoints ?? []) {
      const address = endpoint.addresses[0]
      // An endpoint that moves between slices is in both for a moment. If the two differ, it is unknown which is newer.
      if (address !== undefined) found.set(`${address} ${port}`, { endpoint, target: { address, port } })
    }
  }
  return [...found.values()]
}

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready !== false
const isServing = ({ conditions }: Endpoint): boolean => conditions?.serving ?? isReady({ conditions } as Endpoint)
const isTerminating = ({ conditions }: Endpoint): boolean => conditions?.terminating === true

/** The ready endpoints, or else those that terminate and still serve. */
function usable(all: readonly Reachable[], origin: Origin, onlyHere: boolean): Target[] {
  const near = onlyHere ? all.filter(({ endpoint }) => endpoint.nodeName === origin.nodeName) : all
  const ready = near.filter(({ endpoint }) => isReady(endpoint))
  const chosen =
    ready.length > 0
      ? onlyHere
        ? ready
        : byHints(ready, origin)
      : near.filter(({ endpoint }) => isServing(endpoint) && isTerminating(endpoint))
  return chosen.map(({ target }) => target)
}

/** Topology hints apply only if every endpoint has one and one of them is for this node or zone. */
function byHints(ready: readonly Reachable[], { nodeName, zone }: Origin): readonly Reachable[] {
  const forNode = ready.filter(({ endpoint }) => endpoint.hints?.forNodes?.some(({ name }) => name === nodeName))
  if (forNode.length > 0 && ready.every(({ endpoint }) => endpoint.hints?.forNodes?.length)) return forNode
  const forZone = ready.filter(({ endpoint }) => endpoint.hints?.forZones?.some(({ name }) => name === zone))
  if (forZone.length > 0 && ready.every(({ endpoint }) => endpoint.hints?.forZones?.length)) return forZone
  return ready
}
