import type { CoreV1EndpointPort, EndpointAddress, EndpointSubset, Pod, Service } from '../../api/generated/types.ts'
import { isPodReady } from '../kit/workload/index.ts'
import { addressesOf, belongsToService, findPort, hostnameOf, targetOf } from '../service-pods.ts'

/** The maximum number of addresses. Others are omitted. */
const maxAddresses = 1000

interface Served {
  address: EndpointAddress
  isReady: boolean
}

/** Ports, and the addresses that offer them. */
interface Offer {
  ports: CoreV1EndpointPort[]
  served: Map<string, Served>
}

/** Computes the subsets of a service: addresses in the same state with the same ports are grouped. */
export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const byPort = new Map<string, Offer>()
  const includeAll = service.spec?.publishNotReadyAddresses === true
  for (const pod of pods) {
    if (!belongsToService(pod, includeAll)) continue
    const address = addressOf(service, pod)
    if (!address) continue
    for (const port of offeredPorts(service, pod)) {
      const key = JSON.stringify(port ?? null)
      const offer = byPort.get(key) ?? { ports: port ? [port] : [], served: new Map() }
      byPort.set(key, offer)
      offer.served.set(`${address.ip}/${address.targetRef?.uid}`, { address, isReady: includeAll || isPodReady(pod) })
    }
  }
  return joined(byPort.values()).map(subsetOf)
}

/** The pod's first address of the service's first family. */
function addressOf(service: Service, pod: Pod): EndpointAddress | undefined {
  const family =
    service.spec?.ipFamilies?.[0] ??
    ((service.spec?.clusterIP ?? pod.status?.podIP ?? '').includes(':') ? 'IPv6' : 'IPv4')
  const [ip] = addressesOf(pod, family as 'IPv4' | 'IPv6')
  if (!ip) return undefined
  const hostname = hostnameOf(pod, service)
  const nodeName = pod.spec?.nodeName
  return { ip, ...(hostname ? { hostname } : {}), ...(nodeName ? { nodeName } : {}), targetRef: targetOf(pod) }
}

/** Undefined for a headless service without ports. */
function offeredPorts(service: Service, pod: Pod): (CoreV1EndpointPort | undefined)[] {
  const servicePorts = service.spec?.ports ?? []
  if (servicePorts.length === 0) return service.spec?.clusterIP === 'None' ? [undefined] : []
  return servicePorts.flatMap((servicePort) => {
    const port = findPort(pod, servicePort)
    const { name, protocol = 'TCP', appProtocol } = servicePort
    return port === undefined
      ? []
      : [{ ...(name ? { name } : {}), port, protocol, ...(appProtocol ? { appProtocol } : {}) }]
  })
}

function joined(offers: Iterable<Offer>): Offer[] {
  const byServed = new Map<string, Offer>()
  for (const offer of offers) {
    const key = [...offer.served]
      .map(([id, { isReady }]) => `${id} ${isReady}`)
      .sort()
      .join()
    const same = byServed.get(key)
    if (same) same.ports.push(...offer.ports)
    else byServed.set(key, offer)
  }
  return [...byServed.values()].sort((a, b) => (portOrder(a.ports[0]) < portOrder(b.ports[0]) ? -1 : 1))
}

function subsetOf({ ports, served }: Offer): EndpointSubset {
  const all = [...served.values()].sort((a, b) => (addressOrder(a.address) < addressOrder(b.address) ? -1 : 1))
  const ready = all.filter((s) => s.isReady).map((s) => s.address)
  const notReady = all.filter((s) => !s.isReady).map((s) => s.address)
  const sorted = [...ports].sort((a, b) => (portOrder(a) < portOrder(b) ? -1 : 1))
  return newSubset(ready, notReady, sorted)
}

const newSubset = (
  addresses: EndpointAddress[] = [],
  notReadyAddresses: EndpointAddress[] = [],
  ports: CoreV1EndpointPort[] = [],
): EndpointSubset => ({
  ...(addresses.length ? { addresses } : {}),
  ...(notReadyAddresses.length ? { notReadyAddresses } : {}),
  ...(ports.length ? { ports } : {}),
})

const addressOrder = ({ ip, targetRef }: EndpointAddress): string => `${ip} ${targetRef?.uid}`
const portOrder = (port: CoreV1EndpointPort | undefined): string =>
  port ? `${String(port.port).padStart(5)} ${port.name ?? ''} ${port.protocol}` : ''

/** Limits the number of addresses: ready ones first, each subset in proportion. */
export function truncate(subsets: readonly EndpointSubset[]): { subsets: EndpointSubset[]; isTruncated: boolean } {
  const count = (list: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0)
  const [ready, notReady] = [count('addresses'), count('notReadyAddresses')]
  if (ready + notReady <= maxAddresses) return { subsets: [...subsets], isTruncated: false }
  const cutsReady = ready > maxAddresses
  const cut = cutsReady ? 'addresses' : 'notReadyAddresses'
  const [room, total] = cutsReady ? [maxAddresses, ready] : [maxAddresses - ready, notReady]
  let left = room
  const result = subsets.map((subset) => {
    const list = subset[cut] ?? []
    const kept = list.slice(0, Math.min(left, Math.ceil((list.length / total) * room)))
    left -= kept.length
    return cutsReady ? newSubset(kept, [], subset.ports) : newSubset(subset.addresses, kept, subset.ports)
  })
  return { subsets: result, isTruncated: true }
}
