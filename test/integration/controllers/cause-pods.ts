import { persistentvolumeclaims } from '../../../src/client/index.ts'
import {
  type CauseRow, container, ended, reported, unplaced, unready, waiting, withContainers,
} from './cause-row.ts'
import type { CauseScene } from './cause-scene.ts'
import type { KindName } from './every-kind-scene.ts'

const since = ', since TIME.'
const withMain = (more: object) => ({ containers: [{ name: 'main', image: 'app:1', resources: {}, ...more }] })

/** A pod whose one container waits. */
const waits = (reason: string, message?: string) =>
  reported(withContainers('Pending', container(waiting(reason, message))))

const images: CauseRow[] = [
  {
    it: 'the image is not in the registry', what: 'ImagePull',
    says: `Pod POD cannot pull image "app:1" for container "main": manifest unknown${since}`,
    stage: waits('ErrImagePull', 'manifest unknown'),
  },
  {
    it: 'the same between two attempts', what: 'ImagePull', isVariant: true,
    says: `Pod POD cannot pull image "app:1" for container "main": manifest unknown${since}`,
    stage: waits('ImagePullBackOff', 'Back-off pulling image "app:1": ErrImagePull: manifest unknown'),
  },
  {
    it: 'the image cannot be pulled, and the node does not say why', what: 'ImagePull',
    says: `Pod POD cannot pull image "app:1" for container "main"${since}`,
    stage: waits('ImagePullBackOff', 'Back-off pulling image "app:1"'),
  },
  {
    it: 'the same in the first attempt', what: 'ImagePull', isVariant: true,
    says: `Pod POD cannot pull image "app:1" for container "main"${since}`,
    stage: waits('ErrImagePull'),
  },
  {
    it: 'the image may not be pulled, and is not on the node', what: 'ImagePull',
    says: 'Pod POD cannot pull image "app:1" for container "main": ' +
      `Container image "app:1" is not present with pull policy of Never${since}`,
    stage: waits('ErrImageNeverPull', 'Container image "app:1" is not present with pull policy of Never'),
  },
  {
    it: 'the name of the image is none', what: 'ImagePull',
    says: `Pod POD cannot pull image "App One" for container "main": couldn't parse image name${since}`,
    podSpec: withMain({ image: 'App One' }),
    stage: waits('InvalidImageName', 'couldn\'t parse image name'),
  },
  {
    it: 'the image of the second container', what: 'ImagePull', isVariant: true,
    says: `Pod POD cannot pull image "proxy:2" for container "proxy": denied${since}`,
    podSpec: {
      containers: [{ name: 'main', image: 'app:1', resources: {} }, { name: 'proxy', image: 'proxy:2', resources: {} }],
    },
    stage: reported(withContainers(
      'Pending',
      container({ running: {} }, { ready: true, started: true }),
      container(waiting('ErrImagePull', 'denied'), { name: 'proxy', image: 'proxy:2' }),
    )),
  },
  {
    it: 'the image of an init container', what: 'ImagePull',
    says: `Pod POD cannot pull image "setup:1" for init container "setup": denied${since}`,
    podSpec: { initContainers: [{ name: 'setup', image: 'setup:1', resources: {} }] },
    stage: reported((now) => ({
      phase: 'Pending', conditions: [unready(now)],
      initContainerStatuses: [container(waiting('ErrImagePull', 'denied'), { name: 'setup', image: 'setup:1' })],
      containerStatuses: [container(waiting('PodInitializing'))],
    })),
  },
]

const crash = (last: object, restartCount: number) =>
  reported(
    withContainers(
      'Running', container(waiting('CrashLoopBackOff', 'back-off 40s'), { restartCount, lastState: last }),
    ),
  )

const containers: CauseRow[] = [
  {
    it: 'a container refers to a ConfigMap, Secret or key that does not exist', what: 'ContainerConfig',
    says: `Pod POD cannot configure container "main": configmap "settings" not found${since}`,
    stage: waits('CreateContainerConfigError', 'configmap "settings" not found'),
  },
  {
    it: 'the container runtime refuses a container', what: 'ContainerCreate',
    says: `Pod POD cannot start container "main" (CreateContainerError): the name is in use${since}`,
    stage: waits('CreateContainerError', 'the name is in use'),
  },
  {
    it: 'the command of a container does not exist', what: 'ContainerCreate',
    says: `Pod POD cannot start container "main" (RunContainerError): exec: "serve": executable file not found${since}`,
    stage: waits('RunContainerError', 'exec: "serve": executable file not found'),
  },
  {
    it: 'a container crashes', what: 'CrashLoop',
    says: `Pod POD crashes again and again in container "main": exit code 1, restarted 4 times${since}`,
    stage: crash(ended(1, { reason: 'Error' }), 4),
  },
  {
    it: 'a container crashes and says why', what: 'CrashLoop',
    says: 'Pod POD crashes again and again in container "main": ' +
      `exit code 2: unknown flag --port, restarted 1 time${since}`,
    stage: crash(ended(2, { reason: 'Error', message: 'unknown flag --port' }), 1),
  },
  {
    it: 'an init container crashes', what: 'CrashLoop', isVariant: true,
    says: `Pod POD crashes again and again in init container "setup": exit code 1, restarted 2 times${since}`,
    podSpec: { initContainers: [{ name: 'setup', image: 'setup:1', resources: {} }] },
    stage: reported((now) => ({
      phase: 'Pending', conditions: [unready(now)],
      initContainerStatuses: [
        container(waiting('CrashLoopBackOff'), { name: 'setup', restartCount: 2, lastState: ended(1) }),
      ],
      containerStatuses: [container(waiting('PodInitializing'))],
    })),
  },
  {
    it: 'a container ends without an error, where it must keep running', what: 'CrashLoop',
    says: `Pod POD ends again and again in container "main", without an error, restarted 3 times${since}`,
    stage: crash(ended(0, { reason: 'Completed' }), 3),
  },
  {
    it: 'a container needs more memory than it may have', what: 'OutOfMemory',
    says: `Pod POD runs out of memory in container "main" (OOMKilled), restarted 2 times${since}`,
    stage: crash(ended(137, { reason: 'OOMKilled' }), 2),
  },
  {
    it: 'a container has just ended', what: 'ContainerFailed',
    says: `Pod POD has lost container "main": exit code 3${since}`,
    stage: reported(withContainers('Running', container(ended(3, { reason: 'Error' })))),
  },
]

const probeKinds: [string, object, string][] = [
  ['http', { httpGet: { port: 8080, path: '/healthz' } }, 'GET :8080/healthz'],
  ['tcp', { tcpSocket: { port: 5432 } }, 'TCP :5432'],
  ['exec', { exec: { command: ['cat', '/tmp/ready'] } }, 'exec cat /tmp/ready'],
  ['grpc', { grpc: { port: 9090 } }, 'gRPC :9090'],
]
const runs = (more: object = {}) =>
  reported(withContainers('Running', container({ running: {} }, { started: true, ...more })))

const probes: CauseRow[] = [
  ...probeKinds.map(([kind, startupProbe, text], i): CauseRow => ({
    it: `a startup probe fails (${kind})`, what: 'StartupProbe', ...(i > 0 ? { isVariant: true } : {}),
    says: `Pod POD waits for the startup probe (${text}) of container "main"${since}`,
    podSpec: withMain({ startupProbe }),
    stage: runs({ started: false }),
  })),
  ...probeKinds.map(([kind, readinessProbe, text]): CauseRow => ({
    it: `a readiness probe fails (${kind})`, what: 'ReadinessProbe',
    says: `Pod POD waits for the readiness probe (${text}) of container "main"${since}`,
    podSpec: withMain({ readinessProbe }),
    stage: runs(),
  })),
  {
    it: 'a liveness probe has a container restarted, which is not ready again', what: 'ReadinessProbe',
    says: 'Pod POD waits for the readiness probe (TCP :80) of container "main", ' +
      `restarted 3 times after exit code 137${since}`,
    podSpec: withMain({ readinessProbe: { tcpSocket: { port: 80 } }, livenessProbe: { tcpSocket: { port: 80 } } }),
    stage: runs({ restartCount: 3, lastState: ended(137, { reason: 'Error' }) }),
  },
  {
    it: 'a container without a probe is not ready', what: 'NotReady',
    says: `Pod POD waits for container "main" to become ready${since}`,
    stage: runs(),
  },
  {
    it: 'the startup probe of a sidecar fails', what: 'StartupProbe', isVariant: true,
    says: `Pod POD waits for the startup probe (TCP :15) of init container "mesh"${since}`,
    podSpec: {
      initContainers: [
        {
          name: 'mesh', image: 'mesh:1', restartPolicy: 'Always', resources: {},
          startupProbe: { tcpSocket: { port: 15 } },
        },
      ],
    },
    stage: reported((now) => ({
      phase: 'Pending', conditions: [unready(now)],
      initContainerStatuses: [container({ running: {} }, { name: 'mesh', image: 'mesh:1' })],
      containerStatuses: [container(waiting('PodInitializing'))],
    })),
  },
]

const starts: CauseRow[] = [
  {
    it: 'no scheduler has looked at the pod', what: 'NotScheduledYet', when: 'at the deadline',
    says: `Pod POD has no node yet${since}`,
  },
  {
    it: 'the node prepares the sandbox', what: 'SandboxStarting', when: 'at the deadline',
    says: `Pod POD waits for its sandbox${since}`,
    stage: reported((now) => ({
      phase: 'Pending',
      conditions: [unready(now), { type: 'PodReadyToStartContainers', status: 'False', lastTransitionTime: now }],
    })),
  },
  {
    it: 'the containers are being made', what: 'Starting', when: 'at the deadline',
    says: `Pod POD waits for its containers to start${since}`,
    stage: waits('ContainerCreating'),
  },
  {
    it: 'an init container runs', what: 'Starting', when: 'at the deadline',
    says: `Pod POD runs its init container "setup"${since}`,
    podSpec: { initContainers: [{ name: 'setup', image: 'setup:1', resources: {} }] },
    stage: reported((now) => ({
      phase: 'Pending', conditions: [unready(now)],
      initContainerStatuses: [container({ running: {} }, { name: 'setup', image: 'setup:1', started: true })],
      containerStatuses: [container(waiting('PodInitializing'))],
    })),
  },
]

const unscheduled = (message: string) =>
  unplaced((now) => ({
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: now }],
  }))

/** Takes the scheduling gates off, after which the pod gets ready. */
async function openGates(s: CauseScene, name: KindName): Promise<void> {
  const pod = await s.pod(name)
  await s.changePod(pod, { spec: { schedulingGates: null } })
  await s.ready(await s.pod(name))
}

const places: CauseRow[] = [
  {
    it: 'no node has room', what: 'Unschedulable',
    says: 'Pod POD cannot be scheduled: 0/3 nodes are available: ' +
      `1 Insufficient cpu, 2 node(s) had untolerated taint(s)${since}`,
    stage: unscheduled('0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s).'),
  },
  {
    it: 'the pod has a scheduling gate', what: 'SchedulingGated',
    says: `Pod POD is held back by scheduling gate "example.com/quota"${since}`,
    podSpec: { schedulingGates: [{ name: 'example.com/quota' }] },
    mend: openGates,
  },
  {
    it: 'the pod has several scheduling gates', what: 'SchedulingGated', isVariant: true,
    says: `Pod POD is held back by scheduling gates "example.com/quota", "example.com/cost"${since}`,
    podSpec: { schedulingGates: [{ name: 'example.com/quota' }, { name: 'example.com/cost' }] },
    mend: openGates,
  },
  {
    it: 'the node has stopped reporting', what: 'NodeLost',
    says: `Pod POD is on node n1, which has stopped reporting${since}`,
    before: (s) =>
      s.setNode('Unknown', { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }),
    stage: runs(),
    mend: nodeIsBack,
  },
  {
    it: 'the node is not ready', what: 'NodeNotReady',
    says: `Pod POD is on node n1, which is not ready: container runtime is down${since}`,
    before: (s) => s.setNode('False', { reason: 'KubeletNotReady', message: 'container runtime is down' }),
    stage: runs(),
    mend: nodeIsBack,
  },
  {
    it: 'the node is not ready, and does not say why', what: 'NodeNotReady', isVariant: true,
    says: `Pod POD is on node n1, which is not ready: KubeletNotReady${since}`,
    before: (s) => s.setNode('False', { reason: 'KubeletNotReady' }),
    stage: runs(),
    mend: nodeIsBack,
  },
]

async function nodeIsBack(s: CauseScene, name: KindName): Promise<void> {
  await s.setNode('True', { reason: 'KubeletReady' })
  await s.ready(await s.pod(name))
}

const sandbox = (reason: string, message: string) =>
  reported((now) => ({
    phase: 'Pending',
    conditions: [
      unready(now), { type: 'PodReadyToStartContainers', status: 'False', reason, message, lastTransitionTime: now },
    ],
  }))

const mount = (volume: string, why: string) => `MountVolume.SetUp failed for volume "${volume}" : ${why}`
const failed = 'Failed to create pod sandbox'

const sandboxes: CauseRow[] = ([
  [
    'a ConfigMap of a volume does not exist',
    'ConfigMapMissing', 'ConfigMapNotFound', mount('cfg', 'configmap "app" not found'),
  ],
  [
    'a key of a ConfigMap does not exist',
    'ConfigMapMissing', 'ConfigMapKeyNotFound', mount('cfg', 'non-existent config key: a'),
  ],
  ['a Secret of a volume does not exist', 'SecretMissing', 'SecretNotFound', mount('keys', 'secret "db" not found')],
  [
    'a key of a Secret does not exist',
    'SecretMissing', 'SecretKeyNotFound', mount('keys', 'non-existent secret key: a'),
  ],
  ['a volume cannot be mounted', 'VolumeFailed', 'VolumeMountFailed', mount('data', 'rpc error: deadline exceeded')],
  ['the network of the pod cannot be set up', 'NetworkFailed', 'NetworkNotReady', `${failed}: no addresses left`],
  ['the sandbox cannot be made', 'SandboxFailed', 'SandboxCreateFailed', `${failed}: no such runtime handler`],
  ['the sandbox has ended', 'SandboxFailed', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created'],
  ['the node gives a reason of its own', 'SandboxFailed', 'SomethingNew', 'out of patience'],
] as const).map(([it, what, reason, message]) => ({
  it, what, says: `Pod POD cannot get its sandbox: ${message}${since}`, stage: sandbox(reason, `${message}.`),
  ...(reason === 'SomethingNew' || reason.includes('Key') ? { isVariant: true } : {}),
}))

const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const claim = (phase?: string) => async (s: CauseScene) => {
  await s.client.create(persistentvolumeclaims, { metadata: { name: 'data', namespace: 'default' }, spec } as never)
  if (phase) await setClaim(s, phase)
}
const setClaim = (s: CauseScene, phase: string) =>
  s.client.patch(
    persistentvolumeclaims, 'default', 'data', { status: { phase } }, { type: 'merge', subresource: 'status' },
  )
const unbound = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims'
const notFound = '0/1 nodes are available: persistentvolumeclaim "data" not found'

const claims: CauseRow[] = [
  {
    it: 'a claim does not exist', what: 'ClaimMissing',
    says: `Pod POD waits for claim data, which does not exist: ${notFound}${since}`,
    podSpec: { volumes }, stage: unscheduled(`${notFound}.`),
  },
  {
    it: 'a claim is not bound', what: 'ClaimPending', before: claim(),
    says: `Pod POD waits for claim data, which is not bound: ${unbound}${since}`,
    podSpec: { volumes }, stage: unscheduled(`${unbound}.`),
  },
  {
    it: 'a claim has lost its volume', what: 'ClaimLost', before: claim('Lost'),
    says: `Pod POD waits for claim data, which has lost its volume: ${unbound}${since}`,
    podSpec: { volumes }, stage: unscheduled(`${unbound}.`),
  },
  {
    it: 'a claim waits for the pod to get a node, and no node has room', what: 'Unschedulable', before: claim(),
    isVariant: true,
    says: `Pod POD cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu${since}`,
    podSpec: { volumes }, stage: unscheduled('0/3 nodes are available: 3 Insufficient cpu.'),
  },
]

const gateSpec = { readinessGates: [{ conditionType: 'example.com/lb' }] }
const gate = (...more: object[]) =>
  reported((now) => ({
    phase: 'Running', conditions: [unready(now), ...more.map((c) => ({ ...c, lastTransitionTime: now }))],
    containerStatuses: [container({ running: {} }, { ready: true, started: true })],
  }))

const gates: CauseRow[] = [
  {
    it: 'nobody has opened a readiness gate', what: 'ReadinessGate', podSpec: gateSpec,
    says: `Pod POD waits for its readiness gate example.com/lb${since}`,
    stage: gate(),
  },
  {
    it: 'a readiness gate is shut, with a message', what: 'ReadinessGate', podSpec: gateSpec,
    says: `Pod POD waits for its readiness gate example.com/lb: not registered yet${since}`,
    stage: gate({ type: 'example.com/lb', status: 'False', reason: 'Registering', message: 'not registered yet' }),
  },
]

/** Faults of pods that read the same on every kind of workload. */
export const podCauses: readonly CauseRow[] = [
  ...images, ...containers, ...probes, ...starts, ...places, ...sandboxes, ...claims, ...gates,
]
