import type { Namespace, Service, ServiceCIDR } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { addressAt } from '../../api/validation/ip.ts'
import { flowControlObjects } from '../resources/flowcontrol/bootstrap-objects.ts'
import { defaultServiceCidr, defaultServiceRange } from '../resources/core/service/service-addresses.ts'
import { systemPriorityClasses } from '../resources/scheduling/system-priority-classes.ts'

const namespace = (name: string): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {}, status: {} }) as Namespace

/** The default ServiceCIDR. The finalizer keeps it while an address of it is in use. */
const serviceRange = (range: string): ServiceCIDR => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: defaultServiceCidr, finalizers: ['networking.k8s.io/service-cidr-finalizer'] },
  spec: { cidrs: [range] },
  status: {},
})

/** The Service `kubernetes` for pods to reach this server. It has the first address of the service range. */
const kubernetesService = (ip: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    clusterIP: ip,
    clusterIPs: [ip],
    ipFamilies: [ip.includes(':') ? 'IPv6' : 'IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
  status: { loadBalancer: {} },
})

/** The objects of every cluster, in creation order. `range` is the range of cluster IPs. */
export const bootstrapObjects = (range: string = defaultServiceRange): readonly KubeObject[] => [
  ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map(namespace),
  ...systemPriorityClasses,
  ...flowControlObjects,
  serviceRange(range),
  kubernetesService(addressAt(range, 1)),
]
