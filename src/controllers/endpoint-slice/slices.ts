import type { DiscoveryV1EndpointPort, Endpoint, EndpointSlice, Service } from '../../api/generated/types.ts'
import { headlessLabel, isHeadless } from '../service-pods/index.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const managedBy = 'endpointslice-controller.k8s.io'

export type Family = 'IPv4' | 'IPv6'

const longestName = 253

/** The kinds of addresses that a service has. */
export function familiesOf({ spec }: Service): Family[] {
  const families = (spec?.ipFamilies ?? []).filter((family): family is Family => family === 'IPv4' || family === 'IPv6')
  if (families.length > 0) return families
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [spec.clusterIP.includes(':') ? 'IPv6' : 'IPv4']
  return ['IPv4', 'IPv6']
}

/** A slice has the labels of its service, and says whose it is. */
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

export function newSlice(service: Service, addressType: Family, ports: DiscoveryV1EndpointPort[], endpoints: Endpoint[]): EndpointSlice {
  const { name = '', namespace } = service.metadata
  const generateName = name.length < longestName ? `${name}-` : name
  return { metadata: { generateName, namespace, labels: labelsOf(service) }, addressType, ports, endpoints }
}

/** What tells groups of ports apart, in whichever order they stand. */
export const portsKey = (ports: readonly DiscoveryV1EndpointPort[] | null | undefined): string =>
  (ports ?? [])
    .map(({ name = '', port, protocol = 'TCP', appProtocol = '' }) => JSON.stringify([name, port, protocol, appProtocol]))
    .sort()
    .join()

/** What makes an endpoint the same one, however its state changes. */
export const endpointKey = ({ addresses, hostname = '', targetRef }: Endpoint): string =>
  JSON.stringify([[...addresses].sort(), hostname, targetRef?.namespace, targetRef?.name])
