import type { Namespace, Service, ServiceCIDR } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { flowControlObjects } from '../resources/flowcontrol/bootstrap-objects.ts'
import { defaultServiceCidr, defaultServiceRange } from '../resources/core/service-addresses.ts'
import { systemPriorityClasses } from '../resources/scheduling/system-priority-classes.ts'

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {}, status: {} }) as Namespace

/** The range that Services get their addresses from. It stays while an address of it is in use. */
const serviceRange: ServiceCIDR = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: defaultServiceCidr, finalizers: ['networking.k8s.io/service-cidr-finalizer'] },
  spec: { cidrs: [defaultServiceRange] },
  status: {},
}

/** How pods reach this server: the first address of the service range is kept for it. */
const kubernetesService: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
  status: { loadBalancer: {} },
}

/** Objects that every cluster has, in the order in which they can be made. */
export const bootstrapObjects: readonly KubeObject[] = [
  ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map(namespace),
  ...systemPriorityClasses,
  ...flowControlObjects,
  serviceRange,
  kubernetesService,
]
