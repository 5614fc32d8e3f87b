import { claimEvaluator } from './claim-evaluator.ts'
import { type QuotaEvaluator, countName } from './evaluator.ts'
import { podEvaluator } from './pod-evaluator.ts'
import type { Service } from '../generated/types.ts'

const serviceCount = countName('', 'services')
const serviceNames = new Set([serviceCount, 'services', 'services.nodeports', 'services.loadbalancers'])

/** The number of node ports that a service will have. They may not be allocated yet. */
function nodePorts({ spec }: Service): number {
  const ports = spec?.ports ?? []
  if (spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false)
    return ports.filter(({ nodePort }) => nodePort).length
  return spec?.type === 'NodePort' || spec?.type === 'LoadBalancer' ? ports.length : 0
}

/** The quota of services: their number, load balancers, and node ports. */
const serviceEvaluator: QuotaEvaluator<Service> = {
  uses: (name) => serviceNames.has(name),
  usage: (service) => ({
    [serviceCount]: '1',
    services: '1',
    'services.loadbalancers': service.spec?.type === 'LoadBalancer' ? '1' : '0',
    'services.nodeports': String(nodePorts(service)),
  }),
  matchesScope: () => false,
  mayDiffer: (before, after) => before.spec?.type !== after.spec?.type || nodePorts(before) !== nodePorts(after),
  concerns: ({ subresource }) => subresource === '',
}

/** Core resources that are also counted by their plain name. */
const plainlyCounted = ['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets']

/** Counts objects of any kind. */
function countEvaluator(group: string, plural: string): QuotaEvaluator {
  const names = [countName(group, plural), ...(group === '' && plainlyCounted.includes(plural) ? [plural] : [])]
  return {
    uses: (name) => names.includes(name),
    usage: () => Object.fromEntries(names.map((name) => [name, '1'])),
    matchesScope: () => false,
    mayDiffer: () => false,
    concerns: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
  }
}

const known = new Map<string, QuotaEvaluator | undefined>([
  ['/pods', podEvaluator as QuotaEvaluator],
  ['/persistentvolumeclaims', claimEvaluator as QuotaEvaluator],
  ['/services', serviceEvaluator as QuotaEvaluator],
  // Quotas do not apply to events.
  ['/events', undefined],
  ['events.k8s.io/events', undefined],
])

/** The evaluator of a kind; undefined if quotas do not apply to it. */
export function evaluatorOf(group: string, plural: string): QuotaEvaluator | undefined {
  const key = `${group}/${plural}`
  if (!known.has(key)) known.set(key, countEvaluator(group, plural))
  return known.get(key)
}
