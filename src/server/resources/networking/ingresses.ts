import { kindNames } from '../../../api/kind-names.ts'
import type { Ingress } from '../../../api/generated/types.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { loadBalancerAddresses } from '../core/service/services.ts'
import { classAnnotation, validateIngress, validateIngressStatus, validateIngressUpdate } from './ingress-validation.ts'

const shownHosts = 3

/** Formats the first three hosts and the number of further ones. */
function hostsText({ spec = {} }: Ingress): string {
  const rules = spec.rules ?? []
  const hosts: string[] = []
  for (const { host } of rules) {
    if (hosts.length === shownHosts) return `${hosts.join(',')} + ${rules.length - shownHosts} more...`
    if (host) hosts.push(host)
  }
  return hosts.join(',') || '*'
}

export const ingresses = defineResource<Ingress>({
  ...kindNames.ingresses,
  nameRule: subdomainName,
  prepareForCreate(ingress) {
    ingress.status = { loadBalancer: {} }
  },
  validate: validateIngress,
  validateUpdate: validateIngressUpdate,
  warnings: (ingress, old) =>
    ingress.metadata.annotations?.[classAnnotation] !== undefined && !old
      ? [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`]
      : [],
  generation: true,
  status: {
    prepare(ingress, old) {
      ingress.spec = old.spec
    },
    validate: validateIngressStatus,
  },
  columns: [
    nameColumn(),
    {
      name: 'Class',
      type: 'string',
      description: 'The name of the IngressClass resource that should be used for additional configuration',
      cell: (ingress) => ingress.spec?.ingressClassName ?? '<none>',
    },
    {
      name: 'Hosts',
      type: 'string',
      description: 'Hosts that incoming requests are matched against before the ingress rule',
      cell: hostsText,
    },
    {
      name: 'Address',
      type: 'string',
      description: 'Address is a list containing ingress points for the load-balancer',
      cell: (ingress) => loadBalancerAddresses(ingress.status?.loadBalancer?.ingress).join(','),
    },
    {
      name: 'Ports',
      type: 'string',
      description: 'Ports of TLS configurations that open',
      cell: (ingress) => (ingress.spec?.tls?.length ? '80, 443' : '80'),
    },
    ageColumn(),
  ],
})
