import type { KubeObject } from '../../src/api/object.ts'
import { base64, sampleRequest } from '../../src/api/x509/sample-request.ts'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1.27', ports: [{ containerPort: 80 }] }] } }
const selector = { matchLabels: { app: 'web' } }
const job = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'job', image: 'busybox:1.36', command: ['date'] }] } } }
const backend = { service: { name: 'web', port: { number: 80 } } }
const deviceClaim = { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'sample', count: 2 } }] } }
/** A kind that no test has: hooks and policies in a shared server must not be asked about others. */
const matched = { operations: ['CREATE'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['nobodies'] }
const webhook = {
  name: 'hook.example.com',
  clientConfig: { service: { namespace: 'default', name: 'hooks', path: '/check' } },
  rules: [matched],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }

const objects: [apiVersion: string, kind: string, fields: object][] = [
  ['v1', 'Namespace', {}],
  ['v1', 'ConfigMap', { data: { colour: 'blue' }, binaryData: { logo: 'AAEC' } }],
  ['v1', 'Endpoints', { subsets: [{ addresses: [{ ip: '192.0.2.9' }], ports: [{ port: 80 }] }] }],
  ['v1', 'Event', { involvedObject: { kind: 'Pod', name: 'sample', namespace: 'default' }, reason: 'Tested', message: 'all is well', type: 'Normal' }],
  ['v1', 'LimitRange', { spec: { limits: [{ type: 'Container', default: { cpu: '500m' }, max: { cpu: '2' } }] } }],
  [
    'v1',
    'Node',
    {
      spec: { podCIDR: '10.1.0.0/24', taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] },
      status: { capacity: { cpu: '4', memory: '8Gi', pods: '110' }, allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
    },
  ],
  ['v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'sample', resources: { requests: { storage: '1Gi' } } } }],
  [
    'v1',
    'PersistentVolume',
    { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], storageClassName: 'sample', csi: { driver: 'disk.example.com', volumeHandle: 'vol-1' } } },
  ],
  ['v1', 'Pod', { spec: { ...template.spec, containers: [{ ...template.spec.containers[0], resources: { requests: { cpu: '100m' } }, env: [{ name: 'A', value: 'b' }] }] } }],
  ['v1', 'PodTemplate', { template }],
  ['v1', 'ReplicationController', { spec: { replicas: 1, selector: { app: 'web' }, template } }],
  ['v1', 'ResourceQuota', { spec: { hard: { pods: '10' } } }],
  ['v1', 'Secret', { stringData: { password: 'hunter2' } }],
  ['v1', 'ServiceAccount', {}],
  ['v1', 'Service', { spec: { clusterIP: '10.0.0.60', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] } }],
  ['apps/v1', 'ControllerRevision', { revision: 3, data: { spec: { template: {} } } }],
  ['apps/v1', 'DaemonSet', { spec: { selector, template } }],
  ['apps/v1', 'Deployment', { spec: { replicas: 2, selector, template } }],
  ['apps/v1', 'ReplicaSet', { spec: { replicas: 2, selector, template } }],
  ['apps/v1', 'StatefulSet', { spec: { replicas: 2, serviceName: 'web', selector, template } }],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { spec: { scaleTargetRef: web, minReplicas: 1, maxReplicas: 5, metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }] } },
  ],
  ['batch/v1', 'CronJob', { spec: { schedule: '0 3 * * *', jobTemplate: { spec: job } } }],
  ['batch/v1', 'Job', { spec: { ...job, backoffLimit: 3 } }],
  ['coordination.k8s.io/v1', 'Lease', { spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } }],
  ['discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.9'] }], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }],
  [
    'events.k8s.io/v1',
    'Event',
    {
      eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'example.com/test', reportingInstance: 'test-1', action: 'Testing', reason: 'Tested', type: 'Warning',
      note: 'something is up', regarding: { kind: 'Pod', name: 'sample', namespace: 'default' },
    },
  ],
  ['networking.k8s.io/v1', 'IngressClass', { spec: { controller: 'example.com/ingress' } }],
  ['networking.k8s.io/v1', 'Ingress', { spec: { rules: [{ host: 'example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] } }],
  ['networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: selector, policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 80 }] }] } }],
  ['networking.k8s.io/v1', 'IPAddress', { spec: { parentRef: { resource: 'services', namespace: 'default', name: 'elsewhere' } } }],
  ['networking.k8s.io/v1', 'ServiceCIDR', { spec: { cidrs: ['10.55.0.0/24'] } }],
  ['node.k8s.io/v1', 'RuntimeClass', { handler: 'runc' }],
  ['policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: 1, selector } }],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', { rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }] }],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'sample' }, subjects: [{ kind: 'User', name: 'ann' }] }],
  ['rbac.authorization.k8s.io/v1', 'Role', { rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] }] }],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'sample' }, subjects: [{ kind: 'Group', name: 'crew' }] }],
  ['resource.k8s.io/v1', 'DeviceClass', { spec: { selectors: [{ cel: { expression: "device.driver == 'gpu.example.com'" } }] } }],
  ['resource.k8s.io/v1', 'ResourceClaim', { spec: deviceClaim }],
  ['resource.k8s.io/v1', 'ResourceClaimTemplate', { spec: { spec: deviceClaim } }],
  [
    'resource.k8s.io/v1',
    'ResourceSlice',
    {
      spec: {
        driver: 'gpu.example.com', nodeName: 'sample', pool: { name: 'sample', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'gpu-0', attributes: { model: { string: 'A100' }, cores: { int: 64 } }, capacity: { memory: { value: '40Gi' } } }],
      },
    },
  ],
  ['scheduling.k8s.io/v1', 'PriorityClass', { value: 7, description: 'a sample' }],
  ['storage.k8s.io/v1', 'CSIDriver', { spec: { attachRequired: false } }],
  ['storage.k8s.io/v1', 'CSINode', { spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n-1' }] } }],
  ['storage.k8s.io/v1', 'CSIStorageCapacity', { storageClassName: 'sample', capacity: '10Gi' }],
  ['storage.k8s.io/v1', 'StorageClass', { provisioner: 'disk.example.com', parameters: { kind: 'fast' } }],
  ['storage.k8s.io/v1', 'VolumeAttachment', { spec: { attacher: 'disk.example.com', nodeName: 'sample', source: { persistentVolumeName: 'sample' } } }],
  [
    'certificates.k8s.io/v1',
    'CertificateSigningRequest',
    { spec: { request: base64(sampleRequest().request), signerName: 'example.com/signer', usages: ['client auth'] } },
  ],
  [
    'apiregistration.k8s.io/v1',
    'APIService',
    {
      spec: {
        group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15,
        service: { namespace: 'default', name: 'api' },
      },
    },
  ],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', { webhooks: [webhook] }],
  ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', { webhooks: [webhook] }],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicy',
    { spec: { matchConstraints: { resourceRules: [matched] }, validations: [{ expression: '!has(object.spec.paused)' }] } },
  ],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingAdmissionPolicyBinding',
    { spec: { policyName: 'sample', validationActions: ['Deny'] } },
  ],
  [
    'admissionregistration.k8s.io/v1',
    'MutatingAdmissionPolicy',
    {
      spec: {
        matchConstraints: { resourceRules: [matched] },
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "test", path: "/kind", value: "none"}]' } }],
        reinvocationPolicy: 'Never',
      },
    },
  ],
  ['admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', { spec: { policyName: 'sample' } }],
  [
    'flowcontrol.apiserver.k8s.io/v1',
    'FlowSchema',
    {
      spec: {
        priorityLevelConfiguration: { name: 'workload-low' },
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'ann' } }],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/logs/*'] }],
          },
        ],
      },
    },
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1',
    'PriorityLevelConfiguration',
    { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 7, limitResponse: { type: 'Reject' } } } },
  ],
  ['apps.kruise.io/v1beta1', 'CloneSet', { spec: { replicas: 2, selector, template, updateStrategy: { rollingUpdate: { partition: '50%' } } } }],
  ['storage.k8s.io/v1', 'VolumeAttributesClass', { driverName: 'disk.example.com', parameters: { iops: '100' } }],
]

/** Names of those that cannot be called `sample`: events of both groups are stored in one place, and an IPAddress is called as its address. */
const ownNames: Readonly<Record<string, string>> = {
  'apiregistration.k8s.io/v1 APIService': 'v1.example.com',
  'events.k8s.io/v1 Event': 'sample-new',
  'networking.k8s.io/v1 IPAddress': '192.0.2.77',
}

/** One object, named `sample` where its kind lets it, of every kind that is stored whatever the gates. */
export const oneOfEachKind: readonly KubeObject[] = objects.map(([apiVersion, kind, fields]) => ({
  apiVersion,
  kind,
  metadata: { name: ownNames[`${apiVersion} ${kind}`] ?? 'sample', labels: { sample: 'yes' } },
  ...fields,
}))
