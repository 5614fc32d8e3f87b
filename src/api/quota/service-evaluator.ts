import type { Service } from '../generated/types.ts'
import { type QuotaEvaluator, countName } from './evaluator.ts'

const serviceCount = countName('', 'services')
const names = new Set([serviceCount, 'services', 'services.nodeports', 'services.loadbalancers'])

/** How many node ports a service will have: they may not be allocated yet, so what counts is what it wants. */
function nodePorts({ spec }: Service): number {
  const ports = spec?.ports ?? []
  if (spec?.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === false) return ports.filter(({ nodePort }) => nodePort).length
  return spec?.type === 'NodePort' || spec?.type === 'LoadBalancer' ? ports.length : 0
}

/** Services: their number, of those with load balancers, and of node ports. */
export const serviceEvaluator: QuotaEvaluator<Service> = {
  uses: (name) => names.has(name),
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
