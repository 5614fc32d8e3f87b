import type { LoadBalancerStatus, Service, ServicePort } from '../../../../api/generated/types.ts'
import { notSupportedInOrder } from '../../../../api/validation/field-checks.ts'
import {
  type FieldError,
  duplicate,
  forbidden,
  invalid,
  invalidEach,
  notSupported,
  required,
} from '../../../../api/validation/field-error.ts'
import { isRoutableIp, parseIp, validateCidr, validateIp } from '../../../../api/validation/ip.ts'
import {
  isDns1123Label,
  isDns1123Subdomain,
  isPortName,
  isPortNumber,
  isQualifiedName,
} from '../../../../api/validation/names.ts'
import { validateLabels } from '../../../../api/validation/object-meta.ts'
import { Path } from '../../../../api/validation/path.ts'
import { validateClusterIpFields } from './service-cluster-ips.ts'
import { isExternallyAccessible, isHeadless, needsHealthCheckPort } from './service-fields.ts'

const specPath = Path.of('spec')
const portsPath = specPath.child('ports')
const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const protocols = ['SCTP', 'TCP', 'UDP']
const trafficDistributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
const ipModes = ['Proxy', 'VIP']
const kubeletPort = 10250
const maxAffinitySeconds = 86400
const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'"
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const topologyMode = 'service.kubernetes.io/topology-mode'
export const topologyHints = 'service.kubernetes.io/topology-aware-hints'

/** Validates a service. Values of `old` that are invalid today may be kept. */
export function validateService(service: Service, old?: Service): FieldError[] {
  const spec = service.spec ?? {}
  const errors = validateTopologyAnnotations(service)
  const ports = spec.ports ?? []
  if (ports.length === 0 && !isHeadless(service) && spec.type !== 'ExternalName') errors.push(required(portsPath))
  errors.push(...validateForType(service))
  const names = new Set<string>()
  for (const [i, port] of ports.entries())
    errors.push(...validatePort(port, ports.length > 1, names, portsPath.index(i)))
  errors.push(...validateLabels(spec.selector, specPath.child('selector')))
  errors.push(...validateAffinity(service))
  errors.push(...validateClusterIpFields(service, old))
  for (const [i, ip] of (spec.externalIPs ?? []).entries()) {
    const path = specPath.child('externalIPs').index(i)
    const malformed = validateIp(ip, path, old?.spec?.externalIPs)
    errors.push(...(malformed.length ? malformed : invalidEach(path, ip, isRoutableIp(ip))))
  }
  if (!spec.type) errors.push(required(specPath.child('type')))
  else if (!types.includes(spec.type)) errors.push(notSupported(specPath.child('type'), spec.type, types))
  errors.push(...validatePortsTogether(service))
  errors.push(...validateSourceRanges(service, old))
  errors.push(...validateLoadBalancerFields(service))
  errors.push(...validateTrafficPolicies(service))
  return errors
}

function validateTopologyAnnotations(service: Service): FieldError[] {
  const { [topologyMode]: mode, [topologyHints]: hints } = service.metadata.annotations ?? {}
  if (mode === undefined || hints === undefined || mode === hints) return []
  const path = Path.of('metadata', 'annotations').key(topologyMode)
  return [invalid(path, mode, `must match annotations[${topologyHints}] when both are specified`)]
}

function validateForType(service: Service): FieldError[] {
  const spec = service.spec ?? {}
  const errors: FieldError[] = []
  if (spec.type === 'LoadBalancer') {
    for (const [i, { port }] of (spec.ports ?? []).entries()) {
      if (port === kubeletPort) {
        errors.push(
          invalid(portsPath.index(i), port, `may not expose port ${port} externally since it is used by kubelet`),
        )
      }
    }
  }
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && isHeadless(service)) {
    errors.push(
      invalid(specPath.child('clusterIPs').index(0), 'None', `may not be set to 'None' for ${spec.type} services`),
    )
  }
  if (spec.type === 'ExternalName') {
    const notHere = 'may not be set for ExternalName services'
    if (spec.clusterIPs?.length) errors.push(forbidden(specPath.child('clusterIPs'), notHere))
    if (spec.ipFamilies?.length) errors.push(forbidden(specPath.child('ipFamilies'), notHere))
    if (spec.ipFamilyPolicy !== undefined) errors.push(forbidden(specPath.child('ipFamilyPolicy'), notHere))
    const name = (spec.externalName ?? '').replace(/\.$/, '')
    if (name === '') errors.push(required(specPath.child('externalName')))
    else errors.push(...invalidEach(specPath.child('externalName'), name, isDns1123Subdomain(name)))
  }
  return errors
}

function validatePort(port: ServicePort, needsName: boolean, names: Set<string>, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (port.name) {
    errors.push(...invalidEach(path.child('name'), port.name, isDns1123Label(port.name)))
    if (names.has(port.name)) errors.push(duplicate(path.child('name'), port.name))
    names.add(port.name)
  } else if (needsName) {
    errors.push(required(path.child('name')))
  }
  const number = port.port ?? 0
  errors.push(...invalidEach(path.child('port'), number, isPortNumber(number)))
  if (!port.protocol) errors.push(required(path.child('protocol')))
  else if (!protocols.includes(port.protocol))
    errors.push(notSupported(path.child('protocol'), port.protocol, protocols))
  const target = port.targetPort ?? 0
  errors.push(
    ...invalidEach(
      path.child('targetPort'),
      target,
      typeof target === 'number' ? isPortNumber(target) : isPortName(target),
    ),
  )
  const { appProtocol } = port
  if (appProtocol !== undefined)
    errors.push(...invalidEach(path.child('appProtocol'), appProtocol, isQualifiedName(appProtocol)))
  return errors
}

function validatePortsTogether(service: Service): FieldError[] {
  const { type, ports = [] } = service.spec ?? {}
  const errors: FieldError[] = []
  if (type === 'ClusterIP') {
    for (const [i, { nodePort }] of ports.entries()) {
      if (nodePort)
        errors.push(forbidden(portsPath.index(i).child('nodePort'), "may not be used when `type` is 'ClusterIP'"))
    }
  }
  const nodePorts = new Set<string>()
  for (const [i, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue
    if (nodePorts.has(`${protocol} ${nodePort}`)) errors.push(duplicate(portsPath.index(i).child('nodePort'), nodePort))
    nodePorts.add(`${protocol} ${nodePort}`)
  }
  const numbers = new Set<string>()
  for (const [i, { port, protocol }] of ports.entries()) {
    if (numbers.has(`${protocol} ${port}`)) {
      // Kubernetes' message quotes its Go structure.
      const key = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 }
      errors.push(duplicate(portsPath.index(i), key))
    }
    numbers.add(`${protocol} ${port}`)
  }
  return errors
}

function validateAffinity(service: Service): FieldError[] {
  const { sessionAffinity: affinity, sessionAffinityConfig: config } = service.spec ?? {}
  const path = specPath.child('sessionAffinity')
  const configPath = specPath.child('sessionAffinityConfig')
  if (!affinity) return [required(path)]
  if (affinity === 'None') return config ? [forbidden(configPath, 'must not be set when session affinity is None')] : []
  if (affinity !== 'ClientIP') return [notSupported(path, affinity, ['ClientIP', 'None'])]
  const why = 'when session affinity type is ClientIP'
  if (!config) return [required(configPath, why)]
  if (!config.clientIP) return [required(configPath.child('clientIP'), why)]
  const { timeoutSeconds: seconds } = config.clientIP
  const secondsPath = configPath.child('clientIP', 'timeoutSeconds')
  if (seconds === undefined) return [required(secondsPath, why)]
  if (seconds > 0 && seconds <= maxAffinitySeconds) return []
  return [invalid(secondsPath, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`)]
}

function validateSourceRanges(service: Service, old: Service | undefined): FieldError[] {
  const { type, loadBalancerSourceRanges: ranges = [] } = service.spec ?? {}
  const annotation = service.metadata.annotations?.[sourceRangesAnnotation]
  const errors: FieldError[] = []
  if (ranges.length) {
    const path = specPath.child('LoadBalancerSourceRanges')
    if (type !== 'LoadBalancer') errors.push(forbidden(path, onlyForLoadBalancers))
    const stored = old?.spec?.loadBalancerSourceRanges?.map((r) => r.trim())
    for (const [i, range] of ranges.entries()) errors.push(...validateCidr(range.trim(), path.index(i), stored))
  } else if (annotation !== undefined) {
    const path = Path.of('metadata', 'annotations').key(sourceRangesAnnotation)
    if (type !== 'LoadBalancer') errors.push(forbidden(path, onlyForLoadBalancers))
    const stored = old?.metadata.annotations?.[sourceRangesAnnotation]?.split(',').map((r) => r.trim())
    if (annotation.trim() !== '')
      for (const range of annotation.split(',')) errors.push(...validateCidr(range.trim(), path, stored))
  }
  return errors
}

function validateLoadBalancerFields(service: Service): FieldError[] {
  const { type, allocateLoadBalancerNodePorts: allocate } = service.spec ?? {}
  const path = specPath.child('allocateLoadBalancerNodePorts')
  const errors: FieldError[] = []
  if (allocate !== undefined && type !== 'LoadBalancer') errors.push(forbidden(path, onlyForLoadBalancers))
  if (allocate === undefined && type === 'LoadBalancer') errors.push(required(path))
  return [...errors, ...validateLoadBalancerClass(service)]
}

function validateLoadBalancerClass(service: Service): FieldError[] {
  const { type, loadBalancerClass: name } = service.spec ?? {}
  const path = specPath.child('loadBalancerClass')
  if (name === undefined) return []
  return type === 'LoadBalancer'
    ? invalidEach(path, name, isQualifiedName(name))
    : [forbidden(path, onlyForLoadBalancers)]
}

function validateTrafficPolicies(service: Service): FieldError[] {
  const { type = '', healthCheckNodePort: port = 0, trafficDistribution } = service.spec ?? {}
  const { externalTrafficPolicy: external, internalTrafficPolicy: internal } = service.spec ?? {}
  const errors: FieldError[] = []
  const externalPath = specPath.child('externalTrafficPolicy')
  if (!isExternallyAccessible(service)) {
    if (external) errors.push(invalid(externalPath, external, 'may only be set for externally-accessible services'))
  } else if (!external) {
    errors.push(required(externalPath))
  } else if (external !== 'Cluster' && external !== 'Local') {
    errors.push(notSupported(externalPath, external, ['Cluster', 'Local']))
  }
  const portPath = specPath.child('healthCheckNodePort')
  if (!needsHealthCheckPort(service)) {
    if (port)
      errors.push(
        invalid(portPath, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"),
      )
  } else if (!port) {
    errors.push(required(portPath))
  } else {
    errors.push(...invalidEach(portPath, port, isPortNumber(port)))
  }
  const internalPath = specPath.child('internalTrafficPolicy')
  if (internal === undefined) {
    if (['ClusterIP', 'NodePort', 'LoadBalancer'].includes(type)) errors.push(required(internalPath))
  } else if (internal !== 'Cluster' && internal !== 'Local') {
    errors.push(notSupported(internalPath, internal, ['Cluster', 'Local']))
  }
  if (trafficDistribution !== undefined && !trafficDistributions.includes(trafficDistribution)) {
    errors.push(notSupportedInOrder(specPath.child('trafficDistribution'), trafficDistribution, trafficDistributions))
  }
  return errors
}

/** Validates an update: immutable fields, then the service. */
export function validateServiceUpdate(service: Service, old: Service): FieldError[] {
  const errors: FieldError[] = []
  if (service.spec?.type !== 'ExternalName' && old.spec?.type !== 'ExternalName') {
    errors.push(...validateClusterIpChange(service, old), ...validateFamilyChange(service, old))
  }
  const [name, before] = [service.spec?.loadBalancerClass, old.spec?.loadBalancerClass]
  if (service.spec?.type === 'LoadBalancer' && old.spec?.type === 'LoadBalancer' && name !== before) {
    errors.push(invalid(specPath.child('loadBalancerClass'), name, 'may not change once set'))
  }
  errors.push(...validateLoadBalancerClass(service), ...validateService(service, old))
  return errors
}

const notSingleStack = ({ spec }: Service, released: string): FieldError =>
  invalid(
    specPath.child('ipFamilyPolicy'),
    spec?.ipFamilyPolicy,
    `must be set to 'SingleStack' when releasing the secondary ${released}`,
  )

function validateClusterIpChange(service: Service, old: Service): FieldError[] {
  if (isHeadless(service) && isHeadless(old)) return []
  const path = specPath.child('clusterIPs')
  const [ips, before] = [service.spec?.clusterIPs ?? [], old.spec?.clusterIPs ?? []]
  const errors: FieldError[] = []
  for (const i of before.keys()) {
    if (i > 0 && ips.length !== before.length) break
    if (ips.length && ips[i] !== before[i]) errors.push(invalid(path.index(i), ips, 'may not change once set'))
  }
  if (before.length > ips.length) {
    if (ips.length === 0) errors.push(invalid(path.index(0), ips, 'primary clusterIP can not be unset'))
    if (ips.length === 1 && service.spec?.ipFamilyPolicy !== 'SingleStack') {
      errors.push(notSingleStack(service, 'clusterIP'))
    }
  }
  return errors
}

function validateFamilyChange(service: Service, old: Service): FieldError[] {
  if (isHeadless(service) || isHeadless(old)) return []
  const path = specPath.child('ipFamilies').index(0)
  const [families, before] = [service.spec?.ipFamilies ?? [], old.spec?.ipFamilies ?? []]
  if (families.length === before.length) {
    return before.filter((f, i) => f !== families[i]).map(() => invalid(path, families, 'may not change once set'))
  }
  const ips = service.spec?.clusterIPs ?? []
  const errors: FieldError[] = []
  if (families.length < before.length && !ips.length)
    errors.push(invalid(path, families, 'primary ipFamily can not be unset'))
  if (families.length && before.length && families[0] !== before[0])
    errors.push(invalid(path, ips, 'may not change once set'))
  if (families.length === 1 && before.length > 1 && service.spec?.ipFamilyPolicy !== 'SingleStack') {
    errors.push(notSingleStack(service, 'ipFamily'))
  }
  return errors
}

/** Validates the load balancer status. */
export function validateServiceStatus(service: Service, old: Service): FieldError[] {
  const path = Path.of('status', 'loadBalancer', 'ingress')
  const status: LoadBalancerStatus = service.status?.loadBalancer ?? {}
  const ingress = status.ingress ?? []
  if (service.spec?.type !== 'LoadBalancer') {
    return ingress.length ? [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")] : []
  }
  const stored = (old.status?.loadBalancer?.ingress ?? []).flatMap((i) => (i.ip ? [i.ip] : []))
  return ingress.flatMap(({ ip, ipMode, hostname }, i) => {
    const at = path.index(i)
    const errors = ip ? validateIp(ip, at.child('ip'), stored) : []
    if (ip && ipMode === undefined) errors.push(required(at.child('ipMode'), 'must be specified when `ip` is set'))
    else if (!ip && ipMode !== undefined)
      errors.push(forbidden(at.child('ipMode'), 'may not be specified when `ip` is not set'))
    else if (ipMode !== undefined && !ipModes.includes(ipMode))
      errors.push(notSupported(at.child('ipMode'), ipMode, ipModes))
    if (hostname) errors.push(...validateLoadBalancerHost(hostname, at.child('hostname')))
    return errors
  })
}

/** Validates a load balancer's host name. */
export function validateLoadBalancerHost(host: string, path: Path): FieldError[] {
  const errors = invalidEach(path, host, isDns1123Subdomain(host))
  if (parseIp(host)) errors.push(invalid(path, host, 'must be a DNS name, not an IP address'))
  return errors
}
