import type { Namespace, Service } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { flowControlObjects } from './resources/flowcontrol/bootstrap-objects.ts'
import { systemPriorityClasses } from './resources/scheduling/system-priority-classes.ts'

const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: {}, status: {} }) as Namespace

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
  kubernetesService,
]
