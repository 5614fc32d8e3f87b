/** A workload in a situation, and the cause that `coxswain why` must name for it. */
export interface Situation {
  name: string
  kind: 'Deployment' | 'StatefulSet' | 'CloneSet' | 'Job'
  namespace?: string
  /** Members of the workload's spec. */
  spec?: object
  /** Members of the pod's spec; `container` are members of its one container. */
  pod?: object
  container?: object
  podMetadata?: object
  annotations?: Record<string, string>
  /** Other objects that it needs. */
  with?: object[]
  /** Commands of kubectl that bring it about, once all workloads of this list are available. */
  commands?: string[]
  /** The name of the cause, what its sentence says, and the kind of object that it is about (default: Pod). */
  cause: string
  says: RegExp
  of?: string
  exitCode?: number
}

const exec = { exec: { command: ['true'] }, periodSeconds: 1 }
const never = '1h'
const newImage = (value: string) =>
  JSON.stringify([{ op: 'replace', path: '/spec/template/spec/containers/0/image', value }])

/** Situations in which somebody would ask why, with their true causes. */
export const situations: readonly Situation[] = [
  // Images and containers.
  {
    name: 'image',
    kind: 'Deployment',
    cause: 'ImagePull',
    says: /^cannot pull image "image:1" for container "main": .*no such tag/,
  },
  {
    name: 'crash',
    kind: 'Deployment',
    annotations: { 'exit-code': '3' },
    cause: 'CrashLoop',
    says: /^crashes again and again in container "main": exit code 3, restarted \d+ time/,
  },
  {
    name: 'init',
    kind: 'StatefulSet',
    pod: { initContainers: [{ name: 'setup', image: 'setup:1' }] },
    annotations: { 'exit-code.setup': '2' },
    cause: 'CrashLoop',
    says: /in init container "setup": exit code 2/,
  },
  {
    name: 'memory',
    kind: 'Deployment',
    container: { resources: { limits: { memory: '32Mi' } } },
    annotations: { memory: '64Mi' },
    cause: 'OutOfMemory',
    says: /^runs out of memory in container "main" \(OOMKilled\)/,
  },
  {
    name: 'start',
    kind: 'Deployment',
    annotations: { 'fail-container': 'no such file' },
    cause: 'ContainerCreate',
    says: /^cannot start container "main".*no such file/,
  },
  {
    name: 'readiness',
    kind: 'Deployment',
    container: { readinessProbe: exec },
    annotations: { 'readiness-after': never },
    cause: 'ReadinessProbe',
    says: /^waits for the readiness probe \(exec true\) of container "main"/,
  },
  {
    name: 'startup',
    kind: 'StatefulSet',
    container: { startupProbe: { ...exec, failureThreshold: 1000 } },
    annotations: { 'startup-after': never },
    cause: 'StartupProbe',
    says: /^waits for the startup probe \(exec true\) of container "main"/,
  },
  {
    name: 'environment',
    kind: 'Deployment',
    container: { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'nowhere', key: 'a' } } }] },
    cause: 'ContainerConfig',
    says: /^cannot configure container "main": configmap "nowhere" not found/,
  },

  // Nodes and scheduling.
  {
    name: 'resources',
    kind: 'Deployment',
    container: { resources: { requests: { cpu: '1000' } } },
    cause: 'Unschedulable',
    says: /^cannot be scheduled: 0\/\d+ nodes are available: .*Insufficient cpu/,
  },
  {
    name: 'selector',
    kind: 'CloneSet',
    pod: { nodeSelector: { disk: 'fast' } },
    cause: 'Unschedulable',
    says: /didn't match Pod's node affinity\/selector/,
  },
  {
    name: 'gate',
    kind: 'Deployment',
    pod: { schedulingGates: [{ name: 'example.com/approval' }] },
    cause: 'SchedulingGated',
    says: /scheduling gate "example.com\/approval"/,
    exitCode: 2,
  },
  {
    name: 'lost',
    kind: 'Deployment',
    pod: { nodeSelector: { 'kubernetes.io/hostname': 'far' } },
    cause: 'NodeLost',
    says: /^is on node far, which has stopped reporting/,
  },

  {
    name: 'silent',
    kind: 'StatefulSet',
    pod: { nodeSelector: { 'kubernetes.io/hostname': 'n-3' } },
    cause: 'NodeLost',
    says: /^is on node n-3, which has stopped reporting/,
  },

  // Volumes, claims and sandboxes.
  {
    name: 'claim',
    kind: 'Deployment',
    pod: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'nowhere' } }] },
    cause: 'ClaimMissing',
    says: /^waits for claim nowhere, which does not exist/,
  },
  {
    name: 'pending',
    kind: 'StatefulSet',
    spec: {
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: {
            storageClassName: 'nowhere',
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
          },
        },
      ],
    },
    cause: 'ClaimPending',
    says: /^waits for claim data-pending-0, which is not bound/,
  },

  {
    name: 'config-map',
    kind: 'StatefulSet',
    pod: { volumes: [{ name: 'v', configMap: { name: 'nowhere' } }] },
    cause: 'ConfigMapMissing',
    says: /configmap "nowhere" not found/,
  },
  {
    name: 'secret',
    kind: 'Deployment',
    pod: { volumes: [{ name: 'v', secret: { secretName: 'nowhere' } }] },
    cause: 'SecretMissing',
    says: /secret "nowhere" not found/,
  },
  {
    name: 'key',
    kind: 'CloneSet',
    pod: { volumes: [{ name: 'v', configMap: { name: 'settings', items: [{ key: 'nowhere', path: 'x' }] } }] },
    with: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: 'b' } }],
    cause: 'ConfigMapMissing',
    says: /nowhere/,
  },
  { name: 'csi', kind: 'Deployment', cause: 'VolumeFailed', says: /driver is away/ },
  { name: 'network', kind: 'StatefulSet', cause: 'NetworkFailed', says: /no more addresses/ },
  { name: 'sandbox', kind: 'Deployment', cause: 'SandboxFailed', says: /no such handler/ },

  // Refused by the API server.
  {
    name: 'quota',
    namespace: 'small',
    kind: 'Deployment',
    spec: { replicas: 2 },
    with: [
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'one', namespace: 'small' },
        spec: { hard: { pods: '1' } },
      },
    ],
    cause: 'CreateRefused',
    of: 'Deployment',
    says: /^cannot create a pod: .*exceeded quota: one, requested: pods=1, used: pods=1, limited: pods=1/,
  },
  {
    name: 'limits',
    namespace: 'narrow',
    kind: 'StatefulSet',
    container: { resources: { requests: { cpu: '4' }, limits: { cpu: '4' } } },
    with: [
      {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'two', namespace: 'narrow' },
        spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] },
      },
    ],
    cause: 'CreateRefused',
    of: 'StatefulSet',
    says: /^cannot create a pod: .*maximum cpu usage per Container is 2, but limit is 4/,
  },

  // Pods that run, or are to go.
  {
    name: 'young',
    kind: 'Deployment',
    spec: { minReadySeconds: 300 },
    cause: 'MinReadySeconds',
    says: /counts as available from .* on \(minReadySeconds: 300\)/,
    exitCode: 2,
  },
  {
    name: 'readiness-gate',
    kind: 'Deployment',
    pod: { readinessGates: [{ conditionType: 'example.com/warm' }] },
    cause: 'ReadinessGate',
    says: /readiness gate example.com\/warm/,
    exitCode: 2,
  },
  {
    name: 'finalizer',
    kind: 'StatefulSet',
    podMetadata: { finalizers: ['example.com/archive'] },
    commands: ['delete pod finalizer-0 --wait=false'],
    cause: 'Finalizer',
    says: /finalizer "?example.com\/archive"?/,
  },
  {
    name: 'drained',
    kind: 'Deployment',
    pod: { nodeSelector: { 'kubernetes.io/hostname': 'n-2' } },
    with: [
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'all' },
        spec: { minAvailable: '100%', selector: { matchLabels: { app: 'drained' } } },
      },
    ],
    commands: ['cordon n-2'],
    cause: 'DisruptionBudget',
    of: 'PodDisruptionBudget',
    says: /^allows no eviction: .*; pod drained-\S+ is on node n-2, which is cordoned/,
    exitCode: 2,
  },

  // Rollouts that somebody holds.
  {
    name: 'paused',
    kind: 'Deployment',
    commands: ['rollout pause deploy/paused', 'set image deploy/paused main=paused:2'],
    cause: 'Paused',
    of: 'Deployment',
    says: /^is paused/,
    exitCode: 2,
  },
  {
    name: 'partition',
    kind: 'StatefulSet',
    spec: { replicas: 2, updateStrategy: { rollingUpdate: { partition: 1 } } },
    commands: ['set image sts/partition main=partition:2'],
    cause: 'PartitionReached',
    of: 'StatefulSet',
    says: /^is held by its partition/,
    exitCode: 2,
  },
  {
    name: 'on-delete',
    kind: 'StatefulSet',
    spec: { updateStrategy: { type: 'OnDelete' } },
    commands: ['set image sts/on-delete main=on-delete:2'],
    cause: 'OnDelete',
    of: 'StatefulSet',
    says: /^waits for you to delete 1 outdated pod, such as on-delete-0/,
    exitCode: 2,
  },
  {
    name: 'broken',
    kind: 'StatefulSet',
    annotations: { 'fail-image': 'no such tag' },
    commands: ['set image sts/broken main=broken:2'],
    cause: 'BrokenOldPod',
    says: /^cannot pull image "broken:1" .*; it is of an old revision and keeps the new one from being rolled out/,
  },

  // CloneSets.
  {
    name: 'pre-delete',
    kind: 'CloneSet',
    podMetadata: { finalizers: ['example.com/drain'] },
    spec: { replicas: 2, lifecycle: { preDelete: { finalizersHandler: ['example.com/drain'] } } },
    commands: ['scale clone/pre-delete --replicas=1'],
    cause: 'PreDeleteHook',
    says: /^is held back from its deletion by finalizer example.com\/drain/,
    exitCode: 2,
  },
  {
    name: 'in-place',
    kind: 'CloneSet',
    podMetadata: { labels: { app: 'in-place', 'example.com/serving': 'true' } },
    spec: {
      updateStrategy: { type: 'InPlaceIfPossible' },
      lifecycle: { inPlaceUpdate: { labelsHandler: { 'example.com/serving': 'true' } } },
    },
    commands: [`patch clone in-place --type=json -p '${newImage('in-place:2')}'`],
    cause: 'InPlaceUpdateHook',
    says: /^is held back from its update by label example.com\/serving/,
    exitCode: 2,
  },

  // Jobs.
  {
    name: 'suspended',
    kind: 'Job',
    spec: { suspend: true },
    cause: 'Suspended',
    of: 'Job',
    says: /^is suspended/,
    exitCode: 2,
  },
  {
    name: 'failing',
    kind: 'Job',
    spec: { backoffLimit: 6 },
    annotations: { 'exit-code': '4' },
    cause: 'ContainerFailed',
    says: /^has lost container "main": exit code 4/,
  },
]

/** Faults of the cluster's plan. The others are annotations of the pods. */
export const faults = [
  { name: 'image', stage: 'image', pods: { name: 'image-*' }, fail: 'no such tag' },
  { name: 'csi', stage: 'volumes', pods: { name: 'csi-*' }, fail: 'the driver is away' },
  { name: 'network', stage: 'network', pods: { name: 'network-*' }, fail: 'no more addresses' },
  { name: 'sandbox', stage: 'sandbox', pods: { name: 'sandbox-*' }, fail: 'no such handler' },
  { name: 'silent', stage: 'heartbeat', nodes: 'n-3', fail: true },
]

/** The objects of a situation as kubectl takes them. */
export function objectsOf({
  name,
  kind,
  namespace = 'default',
  spec = {},
  pod = {},
  container = {},
  podMetadata = {},
  annotations = {},
  with: others = [],
}: Situation): object[] {
  const labels = { app: name }
  const simulated = Object.fromEntries(
    Object.entries(annotations).map(([what, value]) => [`coxswain.dev/simulate-${what}`, value]),
  )
  const podSpec = {
    terminationGracePeriodSeconds: 0,
    ...(kind === 'Job' ? { restartPolicy: 'Never' } : {}),
    containers: [{ name: 'main', image: `${name}:1`, ...container }],
    ...pod,
  }
  const template = { metadata: { labels, annotations: simulated, ...podMetadata }, spec: podSpec }
  const apiVersion = {
    Deployment: 'apps/v1',
    StatefulSet: 'apps/v1',
    CloneSet: 'apps.kruise.io/v1alpha1',
    Job: 'batch/v1',
  }[kind]
  const kindSpec =
    kind === 'Job'
      ? {}
      : { selector: { matchLabels: labels }, replicas: 1, ...(kind === 'StatefulSet' ? { serviceName: name } : {}) }
  return [...others, { apiVersion, kind, metadata: { name, namespace }, spec: { ...kindSpec, ...spec, template } }]
}
