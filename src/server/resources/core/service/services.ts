import { kindNames } from '../../../../api/kind-names.ts'
import { describeField } from '../../../../api/schema/descriptions.ts'
import type { Service, ServicePort } from '../../../../api/generated/types.ts'
import { cidrWarnings, ipWarnings } from '../../../../api/validation/ip.ts'
import { labelName } from '../../../../api/validation/names.ts'
import { Path } from '../../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../../answers/columns.ts'
import { type Resource, defineResource } from '../../../registry/resource.ts'
import type { ServiceAllocation } from './service-allocation.ts'
import { isExternallyAccessible, isHeadless } from './service-fields.ts'
import { topologyHints, validateService, validateServiceStatus, validateServiceUpdate } from './service-validation.ts'

const defaultAffinitySeconds = 10800

function defaults(service: Service): void {
  const spec = (service.spec ??= {})
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') spec.sessionAffinityConfig = undefined
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: defaultAffinitySeconds } }
  }
  spec.type ||= 'ClusterIP'
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP'
    port.targetPort ||= port.port
  }
  if (isExternallyAccessible(service)) spec.externalTrafficPolicy ||= 'Cluster'
  if (['ClusterIP', 'NodePort', 'LoadBalancer'].includes(spec.type)) spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true
    for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP'
  }
}

function warnings(service: Service): string[] {
  const spec = service.spec ?? {}
  const said: string[] = []
  if (service.metadata.annotations?.[topologyHints] !== undefined) {
    said.push(`annotation ${topologyHints} is deprecated, please use service.kubernetes.io/topology-mode instead`)
  }
  if (isHeadless(service)) {
    if (spec.loadBalancerIP) said.push('spec.loadBalancerIP is ignored for headless services')
    if (spec.externalIPs?.length) said.push('spec.externalIPs is ignored for headless services')
    if (spec.sessionAffinity !== 'None') said.push('spec.SessionAffinity is ignored for headless services')
  } else {
    for (const [i, ip] of (spec.clusterIPs ?? []).entries())
      said.push(...ipWarnings(Path.of('spec', 'clusterIPs').index(i), ip))
  }
  for (const [i, ip] of (spec.externalIPs ?? []).entries())
    said.push(...ipWarnings(Path.of('spec', 'externalIPs').index(i), ip))
  if (spec.loadBalancerIP) said.push(...ipWarnings(Path.of('spec', 'loadBalancerIP'), spec.loadBalancerIP))
  for (const [i, range] of (spec.loadBalancerSourceRanges ?? []).entries()) {
    said.push(...cidrWarnings(Path.of('spec', 'loadBalancerSourceRanges').index(i), range))
  }
  if (spec.type === 'ExternalName' && spec.externalIPs?.length)
    said.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (spec.type !== 'ExternalName' && spec.externalName)
    said.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (spec.trafficDistribution === 'PreferClose')
    said.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  return said
}

/** The distinct addresses of a load balancer, in order. */
export const loadBalancerAddresses = (ingress: readonly { ip?: string; hostname?: string }[] = []): string[] =>
  [...new Set(ingress.flatMap((i) => i.ip || i.hostname || []))].sort()

function externalAddresses({ spec = {}, status }: Service): string {
  const own = spec.externalIPs ?? []
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return own.join(',') || '<none>'
    case 'LoadBalancer':
      return [...loadBalancerAddresses(status?.loadBalancer?.ingress), ...own].join(',') || '<pending>'
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

const portText = ({ port, nodePort, protocol }: ServicePort) =>
  nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`

const labelsText = (labels: Record<string, string> = {}) =>
  Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`)
    .join(',') || '<none>'

/** core/v1 Services. `allocation` provides addresses and ports. */
export const services = (allocation: ServiceAllocation): Resource =>
  defineResource<Service>({
    ...kindNames.services,
    nameRule: labelName,
    defaults,
    prepareForCreate(service) {
      service.status = { loadBalancer: {} }
    },
    begin: (service, old, env) => allocation.begin(service, old, env),
    released: () => allocation.released(),
    validate: (service) => validateService(service),
    validateUpdate: validateServiceUpdate,
    warnings,
    allowCreateOnUpdate: true,
    deleteAnswersObject: true,
    status: {
      prepare(service, old) {
        service.spec = old.spec
      },
      validate: validateServiceStatus,
    },
    selectableFields: {
      'spec.clusterIP': (service) => service.spec?.clusterIP ?? '',
      'spec.type': (service) => service.spec?.type ?? '',
    },
    columns: [
      nameColumn(),
      {
        name: 'Type',
        type: 'string',
        description: () => describeField('ServiceSpec', 'type'),
        cell: (s) => s.spec?.type ?? '',
      },
      {
        name: 'Cluster-IP',
        type: 'string',
        description: () => describeField('ServiceSpec', 'clusterIP'),
        cell: (s) => s.spec?.clusterIPs?.[0] ?? '<none>',
      },
      {
        name: 'External-IP',
        type: 'string',
        description: () => describeField('ServiceSpec', 'externalIPs'),
        cell: externalAddresses,
      },
      {
        name: 'Port(s)',
        type: 'string',
        description: () => describeField('ServiceSpec', 'ports'),
        cell: (s) => (s.spec?.ports ?? []).map(portText).join(',') || '<none>',
      },
      ageColumn(),
      {
        name: 'Selector',
        type: 'string',
        priority: 1,
        description: () => describeField('ServiceSpec', 'selector'),
        cell: (s) => labelsText(s.spec?.selector),
      },
    ],
  })
