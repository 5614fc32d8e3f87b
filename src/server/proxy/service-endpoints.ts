import { notFound, serviceUnavailable } from '../../api/errors.ts'
import type { EndpointSlice, Endpoints, Service } from '../../api/generated/types.ts'
import type { Random } from '../../base/random.ts'
import type { ObjectReader } from '../objects/objects.ts'

/** An endpoint of a service. */
interface ServiceEndpoint {
  address: string
  port: number
  /** Undefined if the address is not a pod's. */
  podName: string | undefined
}

const podOf = (ref: { kind?: string; name?: string } | undefined): string | undefined =>
  ref?.kind === 'Pod' ? ref.name : undefined

/** The ready endpoints of a service port, from EndpointSlices, or from Endpoints if there are none. */
export function endpointsOf(
  namespace: string,
  name: string,
  portName: string,
  objects: ObjectReader,
): ServiceEndpoint[] {
  const slices = objects
    .list<EndpointSlice>('discovery.k8s.io', 'endpointslices', namespace)
    .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name)
  if (slices.length > 0) return slices.flatMap((slice) => sliceEndpoints(slice, portName))
  const subsets = objects.get<Endpoints>('', 'endpoints', namespace, name)?.subsets ?? []
  return subsets.flatMap(({ addresses, ports }) => {
    const port = ports?.find((p) => (p.name ?? '') === portName)?.port
    if (port === undefined) return []
    return (addresses ?? []).map(({ ip, targetRef }) => ({ address: ip, port, podName: podOf(targetRef) }))
  })
}

function sliceEndpoints({ endpoints, ports }: EndpointSlice, portName: string): ServiceEndpoint[] {
  const port = ports?.find((p) => (p.name ?? '') === portName)?.port
  if (port === undefined) return []
  return (endpoints ?? []).flatMap(({ addresses, conditions, targetRef }) => {
    if (conditions?.ready === false) return []
    return (addresses ?? []).map((address) => ({ address, port, podName: podOf(targetRef) }))
  })
}

/** The name of a service port, by which endpoints refer to it. */
export function portNameOf(service: Service, name: string, port: number): string {
  const found = service.spec.ports?.find((p) => p.port === port)
  if (!found) throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
  return found.name ?? ''
}

/** Chooses an endpoint of a service that the cluster configuration names: a webhook or an extension API server. */
export function resolveService(
  { namespace, name, port }: { namespace: string; name: string; port: number },
  objects: ObjectReader,
  random: Random,
): { host: string; port: number } {
  const service = objects.get<Service>('', 'services', namespace, name)
  if (!service) throw notFound({ group: '', resource: 'services' }, name)
  const { type, externalName } = service.spec
  if (type === 'ExternalName') return { host: externalName ?? '', port }
  const endpoints = endpointsOf(namespace, name, portNameOf(service, name, port), objects)
  const chosen = endpoints[Math.floor(random.next() * endpoints.length)]
  if (!chosen) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  return { host: chosen.address, port: chosen.port }
}
