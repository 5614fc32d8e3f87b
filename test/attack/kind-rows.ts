import { type Row, type Sent, inDefault, items, json, map, pod, pods } from './row.ts'

type Make = (bytes: number) => Sent
type Listed = [name: string, make: Make, mark?: 'short']

const name = { name: 'attack' }
const ofPod = (spec: (n: number) => object): Make => (n) => json(pods, pod(spec(n)))
const ofContainer = (container: (n: number) => object): Make => (n) => json(pods, pod({}, container(n)))
const of = (group: string, kind: string, plural: string, rest: (n: number) => object): Make => (n) =>
  json(inDefault(group, plural), { apiVersion: group, kind, metadata: name, ...rest(n) })
const inCluster = (group: string, kind: string, plural: string, rest: (n: number) => object): Make => (n) =>
  json(`/${group.includes('/') ? 'apis' : 'api'}/${group}/${plural}`, { apiVersion: group, kind, metadata: name, ...rest(n) })

const terms = (n: number) => items(n, (i) => ({ key: `k${i}`, operator: 'In', values: [`v${i}`] }))
const selector = { matchLabels: { app: 'a' } }
const template = (spec: object = {}) => ({ metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } })

const ofPods: Listed[] = [
  ['containers', (n) => json(pods, { ...pod({}), spec: { containers: items(n, (i) => ({ name: `c${i}`, image: 'i' })) } }), 'short'],
  ['containers with one name', (n) => json(pods, { ...pod({}), spec: { containers: items(n, () => ({ name: 'c', image: 'i' })) } })],
  ['empty containers', (n) => json(pods, { ...pod({}), spec: { containers: items(n, () => ({})) } }), 'short'],
  ['init containers', ofPod((n) => ({ initContainers: items(n, (i) => ({ name: `i${i}`, image: 'i', restartPolicy: 'Always' })) }))],
  ['quantities with exponents', ofContainer((n) => ({ resources: { limits: map(n, (i) => `example.com/r${i}`, (i) => `${i + 1}e9${String(i % 1000).padStart(3, '0')}`) } })), 'short'],
  ['quantities with one exponent', ofContainer((n) => ({ resources: { limits: map(n, (i) => `example.com/r${i}`, () => '1e9999') } }))],
  ['quantities with many digits', ofContainer((n) => ({ resources: { requests: map(n, (i) => `example.com/r${i}`, (i) => `${i}${'7'.repeat(900)}Ei`) } })), 'short'],
  ['quantities with small exponents', ofContainer((n) => ({ resources: { requests: map(n, (i) => `example.com/r${i}`, (i) => `${i}e-9${i % 1000}`) } }))],
  ['quantities that are wrong', ofContainer((n) => ({ resources: { limits: { cpu: '1'.repeat(n) } } }))],
  ['requests over limits', ofContainer((n) => ({ resources: { requests: map(n / 2, (i) => `example.com/r${i}`, () => '2'), limits: map(n / 2, (i) => `example.com/r${i}`, () => '1') } }))],
  ['environment', ofContainer((n) => ({ env: items(n, (i) => ({ name: `E${i}`, value: `$(E${i - 1})` })) })), 'short'],
  ['environment without names', ofContainer((n) => ({ env: items(n, () => ({ name: '' })) }))],
  ['sources of environment', ofContainer((n) => ({ envFrom: items(n, (i) => ({ configMapRef: { name: `c${i}` } })) }))],
  ['volumes and mounts', (n) => json(pods, pod({ volumes: items(n / 2, (i) => ({ name: `v${i}`, emptyDir: {} })) }, { volumeMounts: items(n / 2, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) })), 'short'],
  ['mounts of no volume', ofContainer((n) => ({ volumeMounts: items(n, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }))],
  ['volumes with one name', ofPod((n) => ({ volumes: items(n, () => ({ name: 'v', emptyDir: {} })) }))],
  ['a projected volume of many sources', ofPod((n) => ({ volumes: [{ name: 'v', projected: { sources: items(n, (i) => ({ configMap: { name: 'c', items: [{ key: 'k', path: `p${i}` }] } })) } }] })), 'short'],
  ['a volume of many items', ofPod((n) => ({ volumes: [{ name: 'v', configMap: { name: 'c', items: items(n, (i) => ({ key: `k${i}`, path: `a/../p${i}` })) } }] }))],
  ['a long path with dots', ofPod((n) => ({ volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: 'a/../'.repeat(n / 5) }] } }] }))],
  ['tolerations', ofPod((n) => ({ tolerations: items(n, (i) => ({ key: `k${i}`, operator: 'Exists', effect: 'NoExecute' })) })), 'short'],
  ['topology constraints', ofPod((n) => ({ topologySpreadConstraints: items(n, (i) => ({ maxSkew: 1, topologyKey: `t${i}`, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector })) })), 'short'],
  ['one topology constraint again and again', ofPod((n) => ({ topologySpreadConstraints: items(n, () => ({ maxSkew: 1, topologyKey: 't', whenUnsatisfiable: 'DoNotSchedule' })) }))],
  ['terms of node affinity', ofPod((n) => ({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: terms(n) }] } } } }))],
  ['terms of pod affinity', ofPod((n) => ({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: items(n, (i) => ({ topologyKey: `t${i}`, labelSelector: selector })) } } })), 'short'],
  ['ports', ofContainer((n) => ({ ports: items(n, (i) => ({ name: `p${i}`, containerPort: (i % 65_535) + 1, protocol: i % 2 ? 'TCP' : 'UDP' })) })), 'short'],
  ['one port again and again', ofContainer((n) => ({ ports: items(n, () => ({ name: 'p', containerPort: 80, hostPort: 80 })) }))],
  ['host aliases', ofPod((n) => ({ hostAliases: items(n, (i) => ({ ip: '1.2.3.4', hostnames: [`h${i}`] })) }))],
  ['sysctls', ofPod((n) => ({ securityContext: { sysctls: items(n, (i) => ({ name: `kernel.k${i}`, value: '1' })) } })), 'short'],
  ['supplemental groups', ofPod((n) => ({ securityContext: { supplementalGroups: items(n, (i) => i) } }))],
  ['scheduling gates', ofPod((n) => ({ schedulingGates: items(n, (i) => ({ name: `a.b/g${i}` })) })), 'short'],
  ['readiness gates', ofPod((n) => ({ readinessGates: items(n, (i) => ({ conditionType: `a.b/g${i}` })) }))],
  ['image pull secrets', ofPod((n) => ({ imagePullSecrets: items(n, (i) => ({ name: `s${i}` })) })), 'short'],
  ['resource claims', ofPod((n) => ({ resourceClaims: items(n, (i) => ({ name: `r${i}`, resourceClaimName: `c${i}` })) }))],
  ['name servers and searches', ofPod((n) => ({ dnsPolicy: 'None', dnsConfig: { nameservers: items(n / 3, () => '1.2.3.4'), searches: items(n / 3, (i) => `s${i}.example.com`), options: items(n / 3, (i) => ({ name: `o${i}` })) } }))],
  ['arguments', ofContainer((n) => ({ args: items(n, (i) => `a${i}`) }))],
  ['headers of a probe', ofContainer((n) => ({ livenessProbe: { httpGet: { port: 80, httpHeaders: items(n, (i) => ({ name: `h${i}`, value: 'v' })) } } }))],
  ['a long image', ofContainer((n) => ({ image: `${'a/'.repeat(n / 2)}:` }))],
  ['a node selector', ofPod((n) => ({ nodeSelector: map(n, (i) => `k${i}`, () => 'v') }))],
  ['capabilities', ofContainer((n) => ({ securityContext: { capabilities: { add: items(n, (i) => `C${i}`) } } }))],
  ['resize policies', ofContainer((n) => ({ resizePolicy: items(n, (i) => ({ resourceName: i % 2 ? 'cpu' : 'memory', restartPolicy: 'NotRequired' })) })), 'short'],
]

const others: Listed[] = [
  ['Service: ports', of('v1', 'Service', 'services', (n) => ({ spec: { selector: { a: 'b' }, ports: items(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })) } })), 'short'],
  ['Service: node ports', of('v1', 'Service', 'services', (n) => ({ spec: { type: 'NodePort', ports: items(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })) } })), 'short'],
  ['Service: addresses', of('v1', 'Service', 'services', (n) => ({ spec: { ports: [{ port: 80 }], externalIPs: items(n, (i) => `1.2.${(i >> 8) & 255}.${i & 255}`) } })), 'short'],
  ['Service: source ranges', of('v1', 'Service', 'services', (n) => ({ spec: { type: 'LoadBalancer', ports: [{ port: 80 }], loadBalancerSourceRanges: items(n, (i) => `1.2.${i & 255}.0/24`) } }))],
  ['NetworkPolicy: ranges', of('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', (n) => ({ spec: { podSelector: {}, ingress: [{ from: items(n, (i) => ({ ipBlock: { cidr: `10.${(i >> 8) & 255}.${i & 255}.0/24` } })) }] } })), 'short'],
  ['NetworkPolicy: exceptions', of('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', (n) => ({ spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0', except: items(n, (i) => `10.${(i >> 8) & 255}.${i & 255}.0/24`) } }] }] } })), 'short'],
  ['NetworkPolicy: ranges of IPv6', of('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', (n) => ({ spec: { podSelector: {}, egress: [{ to: items(n, (i) => ({ ipBlock: { cidr: `2001:db8:${(i & 0xffff).toString(16)}::/48` } })) }] } }))],
  ['NetworkPolicy: ports', of('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', (n) => ({ spec: { podSelector: {}, egress: [{ ports: items(n, (i) => ({ port: (i % 65_000) + 1, endPort: 65_001 })) }] } }))],
  ['NetworkPolicy: terms of selectors', of('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', (n) => ({ spec: { podSelector: { matchExpressions: terms(n) } } }))],
  ['Ingress: paths', of('networking.k8s.io/v1', 'Ingress', 'ingresses', (n) => ({ spec: { rules: [{ host: 'a.b', http: { paths: items(n, (i) => ({ path: `/p${i}`, pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } })) } }] } })), 'short'],
  ['Ingress: hosts', of('networking.k8s.io/v1', 'Ingress', 'ingresses', (n) => ({ spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, tls: [{ hosts: items(n, (i) => `h${i}.example.com`), secretName: 's' }] } }))],
  ['Endpoints: addresses', of('v1', 'Endpoints', 'endpoints', (n) => ({ subsets: [{ addresses: items(n, (i) => ({ ip: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}` })), ports: [{ port: 80 }] }] })), 'short'],
  ['Endpoints: subsets', of('v1', 'Endpoints', 'endpoints', (n) => ({ subsets: items(n, (i) => ({ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: (i % 65_535) + 1 }] })) })), 'short'],
  ['EndpointSlice: ports', of('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', (n) => ({ addressType: 'IPv4', endpoints: [], ports: items(n, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })) }))],
  ['EndpointSlice: endpoints', of('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', (n) => ({ addressType: 'IPv4', endpoints: items(n, () => ({ addresses: ['10.1.2.3'] })) }))],
  ['Secret: data', of('v1', 'Secret', 'secrets', (n) => ({ data: map(n, (i) => `k${i}`, () => 'AAAA') })), 'short'],
  ['Secret: text', of('v1', 'Secret', 'secrets', (n) => ({ stringData: map(n, (i) => `k${i}`, () => 'v') }))],
  ['Secret: Docker settings', of('v1', 'Secret', 'secrets', (n) => ({ type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '['.repeat(n) } }))],
  ['ServiceAccount: secrets', of('v1', 'ServiceAccount', 'serviceaccounts', (n) => ({ secrets: items(n, (i) => ({ name: `s${i}` })) }))],
  ['LimitRange: limits', of('v1', 'LimitRange', 'limitranges', (n) => ({ spec: { limits: items(n, () => ({ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } })) } })), 'short'],
  ['LimitRange: resources', of('v1', 'LimitRange', 'limitranges', (n) => ({ spec: { limits: [{ type: 'Container', max: map(n, (i) => `example.com/r${i}`, (i) => `${i}e9${i % 1000}`) }] } }))],
  ['ResourceQuota: resources', of('v1', 'ResourceQuota', 'resourcequotas', (n) => ({ spec: { hard: map(n, (i) => `requests.example.com/r${i}`, (i) => `${i}`) } })), 'short'],
  ['ResourceQuota: scopes', of('v1', 'ResourceQuota', 'resourcequotas', (n) => ({ spec: { scopes: items(n, (i) => `S${i}`) } }))],
  ['ResourceQuota: terms of scopes', of('v1', 'ResourceQuota', 'resourcequotas', (n) => ({ spec: { scopeSelector: { matchExpressions: items(n, () => ({ scopeName: 'PriorityClass', operator: 'In', values: ['a'] })) } } }))],
  ['PersistentVolumeClaim: access modes', of('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', (n) => ({ spec: { accessModes: items(n, () => 'ReadWriteOnce'), resources: { requests: { storage: '1' } } } }))],
  ['Event: a long message', of('v1', 'Event', 'events', (n) => ({ involvedObject: { namespace: 'default' }, message: 'm'.repeat(n) }))],
  ['ReplicationController: containers', of('v1', 'ReplicationController', 'replicationcontrollers', (n) => ({ spec: { selector: { app: 'a' }, template: template({ containers: items(n, (i) => ({ name: `c${i}`, image: 'i' })) }) } }))],
  ['Deployment: terms of its selector', of('apps/v1', 'Deployment', 'deployments', (n) => ({ spec: { selector: { matchExpressions: terms(n) }, template: template() } })), 'short'],
  ['Deployment: values of a term', of('apps/v1', 'Deployment', 'deployments', (n) => ({ spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: items(n, (i) => `v${i}`) }] }, template: template() } })), 'short'],
  ['Deployment: containers', of('apps/v1', 'Deployment', 'deployments', (n) => ({ spec: { selector, template: template({ containers: items(n, (i) => ({ name: `c${i}`, image: 'i' })) }) } }))],
  ['StatefulSet: claims', of('apps/v1', 'StatefulSet', 'statefulsets', (n) => ({ spec: { selector, serviceName: 's', template: template(), volumeClaimTemplates: items(n, (i) => ({ metadata: { name: `c${i}` }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } })) } })), 'short'],
  ['DaemonSet: labels', of('apps/v1', 'DaemonSet', 'daemonsets', (n) => ({ spec: { selector: { matchLabels: map(n, (i) => `k${i}`, () => 'v') }, template: template() } }))],
  ['Job: rules of failures', of('batch/v1', 'Job', 'jobs', (n) => ({ spec: { template: template({ restartPolicy: 'Never' }), podFailurePolicy: { rules: items(n, (i) => ({ action: 'Ignore', onExitCodes: { operator: 'In', values: [i + 1] } })) } } })), 'short'],
  ['Job: exit codes', of('batch/v1', 'Job', 'jobs', (n) => ({ spec: { template: template({ restartPolicy: 'Never' }), podFailurePolicy: { rules: [{ action: 'Ignore', onExitCodes: { operator: 'In', values: items(n, (i) => i + 1) } }] } } }))],
  ['Job: rules of success', of('batch/v1', 'Job', 'jobs', (n) => ({ spec: { completionMode: 'Indexed', completions: 100_000, parallelism: 1, template: template({ restartPolicy: 'Never' }), successPolicy: { rules: [{ succeededIndexes: items(n, (i) => i * 2).join() }] } } }))],
  ['CronJob: a long schedule', of('batch/v1', 'CronJob', 'cronjobs', (n) => ({ spec: { schedule: `${'1,'.repeat(n / 2)}1 * * * *`, jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } } })), 'short'],
  ['CronJob: a long time zone', of('batch/v1', 'CronJob', 'cronjobs', (n) => ({ spec: { schedule: '* * * * *', timeZone: 'A/'.repeat(n / 2), jobTemplate: { spec: { template: template({ restartPolicy: 'Never' }) } } } }))],
  ['HorizontalPodAutoscaler: metrics', of('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', (n) => ({ spec: { scaleTargetRef: { kind: 'Deployment', name: 'a' }, maxReplicas: 3, metrics: items(n, () => ({ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } } })) } }))],
  ['PodDisruptionBudget: terms', of('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', (n) => ({ spec: { minAvailable: 1, selector: { matchExpressions: terms(n) } } }))],
  ['CloneSet: strategies', of('apps.kruise.io/v1alpha1', 'CloneSet', 'clonesets', (n) => ({ spec: { selector, template: template(), updateStrategy: { scatterStrategy: items(n, (i) => ({ key: `k${i}`, value: 'v' })) } } })), 'short'],
  ['CloneSet: pods to delete', of('apps.kruise.io/v1alpha1', 'CloneSet', 'clonesets', (n) => ({ spec: { selector, template: template(), scaleStrategy: { podsToDelete: items(n, (i) => `p${i}`) } } }))],
  ['Role: rules', of('rbac.authorization.k8s.io/v1', 'Role', 'roles', (n) => ({ rules: items(n, (i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] })) }))],
  ['Role: verbs', of('rbac.authorization.k8s.io/v1', 'Role', 'roles', (n) => ({ rules: [{ apiGroups: [''], resources: ['r'], verbs: items(n, (i) => `v${i}`) }] }))],
  ['RoleBinding: subjects', of('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', (n) => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: items(n, (i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `u${i}` })) }))],
  ['Node: taints', inCluster('v1', 'Node', 'nodes', (n) => ({ spec: { taints: items(n, (i) => ({ key: `k${i}`, effect: 'NoSchedule' })) } })), 'short'],
  ['Node: images', inCluster('v1', 'Node', 'nodes', (n) => ({ status: { images: items(n, (i) => ({ names: [`i${i}`] })) } }))],
  ['Node: pod ranges', inCluster('v1', 'Node', 'nodes', (n) => ({ spec: { podCIDRs: items(n, (i) => `10.1.${i & 255}.0/24`) } }))],
  ['Namespace: finalizers', inCluster('v1', 'Namespace', 'namespaces', (n) => ({ spec: { finalizers: items(n, (i) => `a.b/f${i}`) } }))],
  ['StorageClass: parameters', inCluster('storage.k8s.io/v1', 'StorageClass', 'storageclasses', (n) => ({ provisioner: 'a.b/c', parameters: map(n, (i) => `k${i}`, () => 'v') }))],
  ['StorageClass: topologies', inCluster('storage.k8s.io/v1', 'StorageClass', 'storageclasses', (n) => ({ provisioner: 'a.b/c', allowedTopologies: items(n, (i) => ({ matchLabelExpressions: [{ key: 'k', values: [`v${i}`] }] })) })), 'short'],
  ['CSINode: drivers', inCluster('storage.k8s.io/v1', 'CSINode', 'csinodes', (n) => ({ spec: { drivers: items(n, (i) => ({ name: `d${i}`, nodeID: 'n', topologyKeys: ['k'] })) } })), 'short'],
  ['SelfSubjectAccessReview: a long name', (n) => json('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes: { name: 'n'.repeat(n), verb: 'get', resource: 'pods' } } })],
  ['SubjectAccessReview: groups', (n) => json('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'u', groups: items(n, (i) => `g${i}`), resourceAttributes: { verb: 'get', resource: 'pods' } } })],
  ['TokenReview: a long token', (n) => json('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: `${'a'.repeat(n / 3)}.${'b'.repeat(n / 3)}.${'c'.repeat(n / 3)}` } })],
  ['TokenRequest: audiences', (n) => json(`${inDefault('v1', 'serviceaccounts')}/default/token`, { spec: { audiences: items(n, (i) => `a${i}`) } })],
]

const rows = (listed: Listed[], prefix: string): Row[] =>
  listed.map(([rowName, make, mark]) => ({ name: prefix + rowName, make, short: mark === 'short' }))

/** Bodies by the fields of kinds. */
export const kindRows: Row[] = [...rows(ofPods, 'Pod: '), ...rows(others, '')]
