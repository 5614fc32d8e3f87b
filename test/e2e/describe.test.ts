import { beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { masked } from '../kubectl/masks.ts'
import { oneOfEachKind } from '../kubectl/one-of-each-kind.ts'

const cluster = useCluster()

/** Lines of what `kubectl describe` says, by kind and group. */
const keyLines: Record<string, string[]> = {
  Namespace: ['Name:         sample', 'Labels:       kubernetes.io/metadata.name=sample', 'Status:       Active', 'No resource quota.', 'No LimitRange resource.'],
  ConfigMap: ['Namespace:    default', 'colour:', '----', 'blue', 'logo: 3 bytes', 'Events:  <none>'],
  Endpoints: ['  Addresses:          192.0.2.9', '    <unset>  80    TCP'],
  Event: ['Message:         all is well', 'Reason:                Tested', 'First Timestamp:  <nil>'],
  LimitRange: ['Container   cpu       -    2    500m             500m           -'],
  Node: [
    'CreationTimestamp:  TIME',
    'Taints:             dedicated=db:NoSchedule',
    'Unschedulable:      false',
    'Lease:              Failed to get lease: leases.coordination.k8s.io "sample" not found',
    '  memory:  8Gi',
    'PodCIDR:                      10.1.0.0/24',
    'Non-terminated Pods:          (0 in total)',
    '  cpu                0 (0%)    0 (0%)',
  ],
  PersistentVolumeClaim: ['StorageClass:  sample', 'Status:        Pending', 'Finalizers:    [kubernetes.io/pvc-protection]', 'VolumeMode:    Filesystem', 'Used By:       <none>'],
  PersistentVolume: ['Finalizers:      [kubernetes.io/pv-protection]', 'Reclaim Policy:  Retain', 'Access Modes:    RWO', 'Capacity:        1Gi', '    VolumeHandle:      vol-1'],
  Pod: [
    'Priority:         0',
    'Service Account:  default',
    'Node:             <none>',
    'Status:           Pending',
    '    Image:      nginx:1.27',
    '      cpu:  100m',
    '      A:         b',
    'QoS Class:       Burstable',
    'Tolerations:     node.kubernetes.io/not-ready:NoExecute op=Exists for 300s',
    '                 node.kubernetes.io/unreachable:NoExecute op=Exists for 300s',
  ],
  PodTemplate: ['      Image:              nginx:1.27', '    Restart Policy:                Always'],
  ReplicationController: ['Selector:     app=web', 'Replicas:     0 current / 1 desired', 'Pods Status:  0 Running / 0 Waiting / 0 Succeeded / 0 Failed'],
  ResourceQuota: ['Resource    Used  Hard'],
  Secret: ['Type:  Opaque', 'password:  7 bytes'],
  ServiceAccount: ['Image pull secrets:  <none>'],
  Service: [
    'Type:                     ClusterIP',
    'IP Family Policy:         SingleStack',
    'IP:                       10.0.0.60',
    'Port:                     <unset>  80/TCP',
    'TargetPort:               8080/TCP',
    'Session Affinity:         None',
  ],
  'ControllerRevision.apps': ['Revision:              3'],
  'DaemonSet.apps': ['Annotations:    deprecated.daemonset.template.generation: 1', 'Desired Number of Nodes Scheduled: 0', 'Node-Selector:  <none>'],
  'Deployment.apps': [
    'Replicas:               2 desired | 0 updated | 0 total | 0 available | 0 unavailable',
    'StrategyType:           RollingUpdate',
    'RollingUpdateStrategy:  25% max unavailable, 25% max surge',
    '    Image:         nginx:1.27',
    '    Port:          80/TCP',
  ],
  'ReplicaSet.apps': ['Replicas:     0 current / 2 desired'],
  'StatefulSet.apps': ['Replicas:           2 desired | 0 total', 'Update Strategy:    RollingUpdate', '  Partition:        0', 'Volume Claims:     <none>'],
  'HorizontalPodAutoscaler.autoscaling': [
    'Reference:                                             Deployment/web',
    '  resource cpu on pods  (as a percentage of request):  <unknown> / 80%',
    'Deployment pods:                                       0 current / 0 desired',
  ],
  'CloneSet.apps.kruise.io': ['  Replicas:                   2', '      Partition:          50%', '      Pod Update Policy:  ReCreate', 'Events:                    <none>'],
  'CronJob.batch': ['Schedule:                      0 3 * * *', 'Concurrency Policy:            Allow', 'Suspend:                       False', 'Last Schedule Time:  <unset>'],
  'Job.batch': [
    'Selector:         batch.kubernetes.io/controller-uid=UID',
    'Completion Mode:  NonIndexed',
    'Backoff Limit:    3',
    'Pods Statuses:    0 Active / 0 Succeeded / 0 Failed',
    '           batch.kubernetes.io/job-name=sample',
  ],
  'Lease.coordination.k8s.io': ['  Holder Identity:         me', '  Lease Duration Seconds:  15'],
  'EndpointSlice.discovery.k8s.io': ['AddressType:  IPv4', '  http  80    TCP', '  - Addresses:  192.0.2.9', '      Ready:   <unset>'],
  'Event.events.k8s.io': ['Note:                  something is up', 'Reporting Controller:  example.com/test', 'Event Time:  TIME'],
  'IngressClass.networking.k8s.io': ['Controller:   example.com/ingress'],
  'Ingress.networking.k8s.io': ['Default backend:  <default>', '  example.com  ', '               /   web:80 (<error: services "web" not found>)'],
  'NetworkPolicy.networking.k8s.io': ['  PodSelector:     app=web', '    To Port: 80/TCP', '  Not affecting egress traffic', '  Policy Types: Ingress'],
  'CertificateSigningRequest.certificates.k8s.io': ['Status:             Pending', '         Common Name:    ann'],
  'APIService.apiregistration.k8s.io': ['  Group Priority Minimum:  1000', '    Reason:                ServiceNotFound'],
  'ValidatingWebhookConfiguration.admissionregistration.k8s.io': ['  Failure Policy:  Fail', '      Name:        hooks'],
  'MutatingWebhookConfiguration.admissionregistration.k8s.io': ['  Reinvocation Policy:  Never', '  Timeout Seconds:  10'],
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io': ['  Failure Policy:  Fail', '    Expression:  !has(object.spec.paused)'],
  'ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io': ['  Policy Name:  sample', '    Deny'],
  'MutatingAdmissionPolicy.admissionregistration.k8s.io': ['  Failure Policy:  Fail', '  Reinvocation Policy:  Never'],
  'MutatingAdmissionPolicyBinding.admissionregistration.k8s.io': ['  Policy Name:  sample'],
  'FlowSchema.flowcontrol.apiserver.k8s.io': ['  Matching Precedence:  1000'],
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io': ['    Nominal Concurrency Shares:  7'],
  'IPAddress.networking.k8s.io': ['Parent Reference:', '  Resource:   services', '  Namespace:  default', '  Name:       elsewhere'],
  'ServiceCIDR.networking.k8s.io': ['CIDRs:        10.55.0.0/24'],
  'RuntimeClass.node.k8s.io': ['Handler:      runc'],
  'PodDisruptionBudget.policy': ['Min available:  1', '    Allowed disruptions:  0'],
  'ClusterRole.rbac.authorization.k8s.io': ['  nodes      []                 []              [get]'],
  'ClusterRoleBinding.rbac.authorization.k8s.io': ['  Kind:  ClusterRole', '  User  ann   '],
  'Role.rbac.authorization.k8s.io': ['  deployments.apps  []                 []              [get list]'],
  'RoleBinding.rbac.authorization.k8s.io': ['  Kind:  Role', '  Group  crew  '],
  'DeviceClass.resource.k8s.io': ["      Expression:  device.driver == 'gpu.example.com'"],
  'ResourceClaim.resource.k8s.io': ['        Allocation Mode:    ExactCount', '        Device Class Name:  sample'],
  'ResourceClaimTemplate.resource.k8s.io': ['          Count:              2', '        Name:                 gpu'],
  'ResourceSlice.resource.k8s.io': ['        String:  A100', '        Value:  40Gi', '  Driver:       gpu.example.com'],
  'PriorityClass.scheduling.k8s.io': ['Value:             7', 'GlobalDefault:     false', 'PreemptionPolicy:  PreemptLowerPriority', 'Description:       a sample'],
  'CSIDriver.storage.k8s.io': ['  Attach Required:     false', '  Fs Group Policy:     ReadWriteOnceWithFSType', '    Persistent'],
  'CSINode.storage.k8s.io': ['    disk.example.com:', '      Node ID:  n-1'],
  'CSIStorageCapacity.storage.k8s.io': ['Capacity:     10Gi', 'Storage Class Name:    sample'],
  'StorageClass.storage.k8s.io': ['IsDefaultClass:        No', 'Parameters:            kind=fast', 'ReclaimPolicy:         Delete', 'VolumeBindingMode:     Immediate'],
  'CustomResourceDefinition.apiextensions.k8s.io': ['Name:         boats.example.com', 'Kind:         CustomResourceDefinition'],
  'VolumeAttachment.storage.k8s.io': ['  Attacher:   disk.example.com', '  Attached:  false'],
  'VolumeAttributesClass.storage.k8s.io': ['DriverName:   disk.example.com', 'Parameters:   iops=100'],
}

/** A definition that brings no kind: one more would have to be described, too. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'boats', kind: 'Boat' },
    versions: [{ name: 'v1', served: false, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const all = [...oneOfEachKind, definition]
const samples = all.map(({ apiVersion = '', kind = '', metadata }) => {
  const [version, group] = apiVersion.split('/').reverse() as [string, string | undefined]
  return { kind: group ? `${kind}.${group}` : kind, reference: `${kind.toLowerCase()}.${version}.${group ?? ''}`, name: metadata.name! }
})

beforeAll(() => cluster.kubectl.ok('create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: all })))

describe('kubectl describe', () => {
  it('is tried with every kind that is stored', async () => {
    // Metrics of nodes and pods, and component statuses, are computed on request and cannot be watched.
    const rows = (await cluster.kubectl.ok('api-resources --verbs=list,watch --no-headers')).trim().split('\n')
    const served = rows.map((row) => row.trim().split(/ +/)).map((cells) => ({ kind: cells.at(-1)!, group: cells.at(-3)!.replace(/\/?v\d+(beta\d+)?$/, '') }))
    expect(samples.map((s) => s.kind).sort()).toEqual(served.map(({ kind, group }) => (group ? `${kind}.${group}` : kind)).sort())
  })

  it.concurrent.each(samples)('$kind', async ({ kind, reference, name }) => {
    const { code, out, err } = await cluster.kubectl.run(`describe ${reference} ${name}`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(masked(out).split('\n')).toEqual(expect.arrayContaining(keyLines[kind] ?? ['a line of every kind']))
  })

  it('shows the events of an object', async () => {
    const { kubectl } = cluster
    const uid = await kubectl.ok('get pod sample -o jsonpath={.metadata.uid}')
    const time = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, '')
    const event = {
      apiVersion: 'v1', kind: 'Event', metadata: { name: 'shown' }, involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'sample', namespace: 'default', uid },
      type: 'Warning', reason: 'FailedScheduling', message: 'no nodes available', source: { component: 'scheduler' }, firstTimestamp: time, lastTimestamp: time, count: 1,
    }
    await kubectl.ok('create -f -', JSON.stringify(event))
    expect((await kubectl.ok('describe pod sample')).split('Events:')[1]!.split('\n').slice(1)).toEqual([
      '  Type     Reason            Age   From       Message',
      '  ----     ------            ----  ----       -------',
      expect.stringMatching(/^ {2}Warning {2}FailedScheduling {2}6\ds {3}scheduler {2}no nodes available$/),
      '',
    ])
  })

  it('describes what a selector selects, and what a prefix fits', async () => {
    expect(await cluster.kubectl.ok('describe secrets -l sample=yes')).toContain('password:  7 bytes')
    expect(await cluster.kubectl.ok('describe service samp')).toContain('IP:                       10.0.0.60')
  })

  it('says that there is no such object', async () => {
    expect(await cluster.kubectl.refused('describe pod nope')).toBe('Error from server (NotFound): pods "nope" not found\n')
  })
})
