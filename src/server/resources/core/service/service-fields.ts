import type { Service, ServicePort } from '../../../../api/generated/types.ts'
import { deepEqual } from '../../../../api/deep-equal.ts'

/** True if the service has no cluster IP. */
export const isHeadless = ({ spec }: Service): boolean =>
  spec?.clusterIPs?.length === 1 && spec.clusterIPs[0] === 'None'

const needsClusterIp = ({ spec }: Service): boolean => spec?.type !== 'ExternalName'

/** True for types with ports on every node. */
export const isOnNodes = ({ spec }: Service): boolean => spec?.type === 'NodePort' || spec?.type === 'LoadBalancer'

/** True if ports without a node port are assigned one. */
export const getsNodePorts = ({ spec }: Service): boolean =>
  spec?.type === 'NodePort' || (spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)

/**
 * True if the service needs a health check port: a load balancer with externalTrafficPolicy Local asks each node for
 * endpoints.
 */
export const needsHealthCheckPort = ({ spec }: Service): boolean =>
  spec?.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'

export const isExternallyAccessible = ({ spec }: Service): boolean =>
  spec?.type === 'LoadBalancer' ||
  spec?.type === 'NodePort' ||
  (spec?.type === 'ClusterIP' && Boolean(spec.externalIPs?.length))

export const hasSameClusterIps = (a: Service, b: Service): boolean =>
  deepEqual(a.spec?.clusterIPs ?? [], b.spec?.clusterIPs ?? [])

export const hasSameIpFamilies = (a: Service, b: Service): boolean =>
  deepEqual(a.spec?.ipFamilies ?? [], b.spec?.ipFamilies ?? [])

/** The node ports of a service's ports, without the health check node port. */
export const nodePortsOf = ({ spec }: Service): number[] =>
  (spec?.ports ?? []).flatMap((p) => (p.nodePort ? [p.nodePort] : []))

/** All node ports of a service, including the health check node port. */
export const portsOnNodesOf = (service: Service): number[] => {
  const check = service.spec?.healthCheckNodePort
  return [...new Set([...nodePortsOf(service), ...(check ? [check] : [])])]
}

/** Restores allocated values that an update leaves out, so that the original manifest can be applied again. */
export function keepAllocatedValues(service: Service, old: Service): void {
  const spec = service.spec!
  const was = old.spec ?? {}
  if (needsClusterIp(service) && needsClusterIp(old)) {
    if (!spec.clusterIP) spec.clusterIP = was.clusterIP
    if (!spec.clusterIPs?.length && was.clusterIPs?.length && spec.clusterIP === was.clusterIP)
      spec.clusterIPs = [...was.clusterIPs]
  }
  if (isOnNodes(service) && isOnNodes(old)) keepNodePorts(spec.ports ?? [], was.ports ?? [])
  if (needsHealthCheckPort(service) && needsHealthCheckPort(old)) spec.healthCheckNodePort ||= was.healthCheckNodePort
}

function keepNodePorts(ports: readonly ServicePort[], old: readonly ServicePort[]): void {
  const asked = new Set(ports.map((p) => p.nodePort ?? 0))
  const taken = new Set(old.map((p) => p.nodePort ?? 0).filter((p) => p !== 0 && asked.has(p)))
  const byName = new Map(old.map((p) => [p.name ?? '', p.nodePort ?? 0]))
  for (const port of ports) {
    if (port.nodePort) continue
    const before = byName.get(port.name ?? '') ?? 0
    if (before === 0 || taken.has(before)) continue
    port.nodePort = before
    taken.add(before)
  }
}

/** Aligns clusterIP and clusterIPs if only one of them was set or changed. */
export function alignClusterIps(service: Service, old: Service | undefined): void {
  const spec = service.spec!
  if (!old) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP]
    return
  }
  const was = old.spec ?? {}
  const [now, before] = [spec.clusterIP ?? '', was.clusterIP ?? '']
  if (was.clusterIPs?.length && !spec.clusterIPs?.length && now === before) spec.clusterIPs = [...was.clusterIPs]
  if (now === before || !hasSameClusterIps(service, old)) return
  spec.clusterIPs = now === '' ? undefined : [now]
}

/** Clears fields that depend on the previous type, unless the update changes them too, which validation rejects. */
export function dropTypeDependentFields(service: Service, old: Service): void {
  const spec = service.spec!
  const was = old.spec ?? {}
  if (needsClusterIp(old) && !needsClusterIp(service)) {
    if (hasSameClusterIps(service, old) && spec.clusterIP === was.clusterIP) {
      spec.clusterIP = undefined
      spec.clusterIPs = undefined
    }
    if (hasSameIpFamilies(service, old)) spec.ipFamilies = undefined
    if (spec.ipFamilyPolicy === was.ipFamilyPolicy) spec.ipFamilyPolicy = undefined
    if (spec.internalTrafficPolicy === was.internalTrafficPolicy) spec.internalTrafficPolicy = undefined
  }
  if (isOnNodes(old) && !isOnNodes(service)) {
    const before = new Set(nodePortsOf(old))
    if (nodePortsOf(service).every((p) => before.has(p))) for (const port of spec.ports ?? []) port.nodePort = undefined
  }
  if (
    needsHealthCheckPort(old) &&
    !needsHealthCheckPort(service) &&
    spec.healthCheckNodePort === was.healthCheckNodePort
  ) {
    spec.healthCheckNodePort = undefined
  }
  if (was.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === was.allocateLoadBalancerNodePorts)
      spec.allocateLoadBalancerNodePorts = undefined
    if (spec.loadBalancerClass === was.loadBalancerClass) spec.loadBalancerClass = undefined
  }
  if (
    isExternallyAccessible(old) &&
    !isExternallyAccessible(service) &&
    spec.externalTrafficPolicy === was.externalTrafficPolicy
  ) {
    spec.externalTrafficPolicy = undefined
  }
  if (spec.type !== 'LoadBalancer' && service.status?.loadBalancer?.ingress)
    service.status = { ...service.status, loadBalancer: {} }
}
