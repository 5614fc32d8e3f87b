import { describe, expect, it } from 'vitest'
import type { Pod } from '../generated/types.ts'
import { type CauseKind, type Weight, sentenceOf } from './cause.ts'
import { type Surroundings, causeOfPod } from './pod-cause.ts'
import {
  at, claimOf, condition, containerOf, dataVolume, ended, nodeOf, podOf, podWith, readyPod, timeAt, waiting,
} from './sample.ts'

interface Expected {
  /** `trouble` unless it is said. */
  weight?: Weight
  /** In seconds; 5 unless it is said, null for none. */
  since?: number | null
  around?: Partial<Surroundings>
}

/** [case, pod, cause, text, the rest of what is expected] */
type Row = [string, Pod, CauseKind, string, Expected?]

const explainedAt = (seconds: number, around: Partial<Surroundings> = {}): Surroundings =>
  ({ nowMs: at(seconds), ...around })

function expectRow([, pod, what, text, { weight = 'trouble', since = 5, around = {} } = {}]: Row): void {
  const object = { kind: 'Pod', namespace: 'default', name: 'web-1' }
  const { changesAtMs: _, help, ...told } = causeOfPod(pod, explainedAt(100, around))!
  expect(told).toEqual({ what, weight, object, text, ...(since === null ? {} : { since: timeAt(since) }) })
  expect(help).toMatch(/^[A-Za-z].+[.?]$/)
}

const rows = (...all: Row[]) => it.each(all.map((row) => ({ name: row[0], row })))('$name', ({ row }) => expectRow(row))

const starting: Expected = { weight: 'starting' }

describe('images that cannot be pulled', () => {
  const text = 'cannot pull image "app:1" for container "main"'
  const pull = (reason: string, message: string | undefined, wanted: string): Row => [
    `${reason} ${message ?? ''}`, podWith(waiting(reason, message)), 'ImagePull', wanted,
  ]
  const second = podOf({
    spec: { containers: [{ name: 'main', image: 'app:1' }, { name: 'proxy', image: 'proxy:2' }] },
    status: {
      containerStatuses: [
        containerOf({ running: {} }, { ready: true }), containerOf(
          waiting('ErrImagePull', 'no'), { name: 'proxy', image: '' },
        ),
      ],
    },
  })
  const init = podOf({
    spec: { initContainers: [{ name: 'setup', image: 'setup:1' }] },
    status: {
      initContainerStatuses: [containerOf(waiting('ErrImagePull', 'no'), { name: 'setup' })],
      containerStatuses: [containerOf(waiting('PodInitializing'))],
    },
  })
  rows(
    pull('ErrImagePull', 'manifest unknown', `${text}: manifest unknown`),
    pull('ErrImagePull', 'manifest unknown.', `${text}: manifest unknown`),
    pull('ErrImagePull', undefined, text),
    pull(
      'ImagePullBackOff', 'Back-off pulling image "app:1": ErrImagePull: manifest unknown', `${text}: manifest unknown`,
    ),
    pull('ImagePullBackOff', 'Back-off pulling image "app:1"', text),
    pull('ImagePullBackOff', 'too many requests', `${text}: too many requests`),
    pull(
      'ErrImageNeverPull', 'not present with pull policy of Never', `${text}: not present with pull policy of Never`,
    ),
    pull('InvalidImageName', undefined, `${text}: InvalidImageName`),
    pull('ImageInspectError', 'no disk', `${text}: no disk`),
    pull('RegistryUnavailable', 'connection refused', `${text}: connection refused`),
    pull('SignatureValidationFailed', undefined, `${text}: SignatureValidationFailed`),
    ['the second container', second, 'ImagePull', 'cannot pull image "proxy:2" for container "proxy": no'],
    ['an init container', init, 'ImagePull', 'cannot pull image "setup:1" for init container "setup": no'],
  )
})

describe('containers that cannot be started', () => {
  const cannot = (reason: string, message: string | undefined, what: CauseKind, text: string): Row => [
    reason, podWith(waiting(reason, message)), what, text,
  ]
  rows(
    cannot(
      'CreateContainerConfigError', 'configmap "c" not found', 'ContainerConfig',
      'cannot configure container "main": configmap "c" not found',
    ),
    cannot(
      'CreateContainerError', 'name is taken', 'ContainerCreate',
      'cannot start container "main" (CreateContainerError): name is taken',
    ),
    cannot(
      'RunContainerError', 'no "x"', 'ContainerCreate', 'cannot start container "main" (RunContainerError): no "x"',
    ),
    cannot('SomethingNew', undefined, 'ContainerCreate', 'cannot start container "main" (SomethingNew)'),
  )
})

describe('containers that end', () => {
  const loop = (last: object | undefined, restartCount: number) =>
    podWith(waiting('CrashLoopBackOff', 'back-off 5m0s'), { restartCount, ...(last ? { lastState: last } : {}) })
  const crash = 'crashes again and again in container "main"'
  const init = podOf({
    status: {
      initContainerStatuses: [
        containerOf(waiting('CrashLoopBackOff'), { name: 'setup', restartCount: 3, lastState: ended(1) }),
      ],
    },
  })
  const startError = ended(128, { reason: 'StartError', message: 'no such file.' })
  rows(
    [
      'with an error, again and again',
      loop(ended(1, { reason: 'Error' }), 4), 'CrashLoop', `${crash}: exit code 1, restarted 4 times`,
    ],
    ['with an error, once', loop(ended(1), 1), 'CrashLoop', `${crash}: exit code 1, restarted 1 time`],
    [
      'with a reason and a message',
      loop(ended(137, { reason: 'Killed', message: 'no such luck.' }), 0), 'CrashLoop',
      `${crash}: exit code 137 (Killed): no such luck`,
    ],
    [
      'because it could not be started',
      loop(startError, 0), 'ContainerCreate', 'cannot start container "main" (StartError): no such file',
    ],
    ['nobody knows how', loop(undefined, 2), 'CrashLoop', `${crash}: it ends at once, restarted 2 times`],
    [
      'without an error, again and again',
      loop(ended(0, { reason: 'Completed' }), 3), 'CrashLoop',
      'ends again and again in container "main", without an error, restarted 3 times',
    ],
    [
      'out of memory',
      loop(ended(137, { reason: 'OOMKilled' }), 2), 'OutOfMemory',
      'runs out of memory in container "main" (OOMKilled), restarted 2 times',
    ],
    [
      'just now, after restarts',
      podWith(ended(2), { restartCount: 1 }), 'CrashLoop', `${crash}: exit code 2, restarted 1 time`,
    ],
    [
      'just now, for the first time',
      podWith(ended(2, { message: 'bad flag' })), 'ContainerFailed', 'has lost container "main": exit code 2: bad flag',
    ],
    [
      'an init container',
      init, 'CrashLoop', 'crashes again and again in init container "setup": exit code 1, restarted 3 times',
    ],
  )
})

describe('a crash loop says since when, as far as the status tells', () => {
  const run = (from: number, to: number) => ended(1, { startedAt: timeAt(from), finishedAt: timeAt(to) })
  const unready = (seconds: number) => ({ status: { phase: 'Running', conditions: [condition('Ready', 'False', seconds)] } })
  const loop = (last: object, restartCount: number, seconds = 905) =>
    podWith(waiting('CrashLoopBackOff'), { restartCount, lastState: last }, unready(seconds))
  it.each<[string, Pod, number]>([
    ['the first crash', loop(run(0, 900), 0), 900],
    ['a restart that crashed soon: it was in trouble before', loop(run(890, 900), 4), 890],
    ['a restart that ran for long: that is another story', loop(run(0, 900), 1), 900],
    ['the same before its node says that it waits', podWith(run(890, 900), { restartCount: 4 }, unready(905)), 890],
    ['a pod that has not been ready for longer', loop(run(890, 900), 4, 5), 5],
  ])('%s', (_, pod, since) => {
    expect(causeOfPod(pod, { nowMs: at(910) })).toMatchObject({ since: timeAt(since) })
  })
})

describe('probes', () => {
  const probed = (probe: string, how: object, more: object) =>
    podWith({ running: {} }, more, { spec: { containers: [{ name: 'main', image: 'app:1', [probe]: how }] } })
  const kinds: [string, object, string][] = [
    ['http', { httpGet: { port: 8080, path: '/ok' } }, 'GET :8080/ok'],
    ['http without a path', { httpGet: { port: 'web' } }, 'GET :web/'],
    ['tcp', { tcpSocket: { port: 5432 } }, 'TCP :5432'],
    ['exec', { exec: { command: ['cat', '/tmp/ready'] } }, 'exec cat /tmp/ready'],
    ['grpc', { grpc: { port: 9090 } }, 'gRPC :9090'],
    ['grpc of a service', { grpc: { port: 9090, service: 'health' } }, 'gRPC :9090 health'],
  ]
  const restarted = { restartCount: 2, lastState: ended(137, { reason: 'Error' }), started: true }
  const sidecar = podOf({
    spec: { initContainers: [{ name: 'mesh', restartPolicy: 'Always', startupProbe: { tcpSocket: { port: 15 } } }] },
    status: {
      initContainerStatuses: [containerOf({ running: {} }, { name: 'mesh', started: false })],
      containerStatuses: [containerOf(waiting('PodInitializing'))],
    },
  })
  rows(
    ...kinds.map(([name, how, text]): Row => [
      `startup, ${name}`,
      probed('startupProbe', how, { started: false }), 'StartupProbe',
      `waits for the startup probe (${text}) of container "main"`,
    ]),
    ...kinds.map(([name, how, text]): Row => [
      `readiness, ${name}`,
      probed('readinessProbe', how, { started: true }), 'ReadinessProbe',
      `waits for the readiness probe (${text}) of container "main"`,
    ]),
    [
      'readiness after restarts',
      probed('readinessProbe', { tcpSocket: { port: 1 } }, restarted),
      'ReadinessProbe',
      'waits for the readiness probe (TCP :1) of container "main", restarted 2 times after exit code 137',
    ],
    ['a container without a probe', podWith({ running: {} }), 'NotReady', 'waits for container "main" to become ready'],
    [
      'a sidecar that does not start',
      sidecar, 'StartupProbe', 'waits for the startup probe (TCP :15) of init container "mesh"',
    ],
  )
})

describe('what every pod goes through', () => {
  const initialising = (spec: object = {}) =>
    podOf({
      spec: { initContainers: [{ name: 'setup', ...spec }] },
      status: {
        initContainerStatuses: [containerOf({ running: {} }, { name: 'setup', started: true })],
        containerStatuses: [containerOf(waiting('PodInitializing'))],
      },
    })
  const sandbox = podOf({ status: { conditions: [condition('PodReadyToStartContainers', 'False', 4)] } })
  const going = podOf({ metadata: { deletionTimestamp: timeAt(120), deletionGracePeriodSeconds: 30 } })
  const nodeless = podOf({ spec: { nodeName: undefined }, status: { conditions: [] } })
  rows(
    ['it has no node', nodeless, 'NotScheduledYet', 'has no node yet', { ...starting, since: 0 }],
    [
      'it has no node, and its container is being made',
      podWith(waiting('ContainerCreating'), {}, { spec: { nodeName: undefined } }), 'Starting',
      'waits for its containers to start', starting,
    ],
    ['nothing is known of its containers', podOf(), 'Starting', 'waits for its containers to start', starting],
    [
      'its container is being made',
      podWith(waiting('ContainerCreating')), 'Starting', 'waits for its containers to start', starting,
    ],
    ['its init container runs', initialising(), 'Starting', 'runs its init container "setup"', starting],
    [
      'its sidecar is up',
      initialising({ restartPolicy: 'Always' }), 'Starting', 'waits for its containers to start', starting,
    ],
    ['its sandbox is being made', sandbox, 'SandboxStarting', 'waits for its sandbox', { ...starting, since: 4 }],
    [
      'its containers are ready, and it is not',
      podWith({ running: {} }, { ready: true }), 'NotReady', 'is not ready', starting,
    ],
    ['it is being deleted', going, 'Terminating', 'is being deleted', { ...starting, since: 90 }],
  )

  it('is a cause for as long as the grace period, and ten seconds more', () => {
    expect(causeOfPod(going, explainedAt(129))).toMatchObject({ what: 'Terminating', changesAtMs: at(130) })
    expect(causeOfPod(going, explainedAt(130))).toMatchObject({ what: 'TerminationHangs' })
  })
})

describe('sandboxes', () => {
  const sandbox = (reason: string, message?: string) =>
    podOf({ status: { conditions: [condition('PodReadyToStartContainers', 'False', 4, { reason, message })] } })
  const row = (reason: string, what: CauseKind): Row =>
    [reason, sandbox(reason, 'it failed.'), what, 'cannot get its sandbox: it failed', { since: 4 }]
  rows(
    row('ConfigMapNotFound', 'ConfigMapMissing'),
    row('ConfigMapKeyNotFound', 'ConfigMapMissing'),
    row('SecretNotFound', 'SecretMissing'),
    row('SecretKeyNotFound', 'SecretMissing'),
    row('ClaimNotFound', 'ClaimMissing'),
    row('ClaimNotBound', 'ClaimPending'),
    row('VolumeMountFailed', 'VolumeFailed'),
    row('NetworkNotReady', 'NetworkFailed'),
    row('SandboxCreateFailed', 'SandboxFailed'),
    [
      'a runtime that repeats what its node says before it',
      sandbox('SandboxCreateFailed', 'Failed to create pod sandbox: failed to create pod sandbox: no room: '),
      'SandboxFailed', 'cannot get its sandbox: Failed to create pod sandbox: no room', { since: 4 },
    ],
    row('SomethingNew', 'SandboxFailed'),
    [
      'a known reason alone',
      sandbox('VolumeMountFailed'), 'VolumeFailed', 'cannot get its sandbox: VolumeMountFailed', { since: 4 },
    ],
    [
      'an unknown reason alone',
      sandbox('Preparing'), 'SandboxStarting', 'waits for its sandbox', { ...starting, since: 4 },
    ],
  )
})

describe('places and claims', () => {
  const unscheduled = (reason: string, message?: string) => condition('PodScheduled', 'False', 2, { reason, message })
  const nodeless = (scheduled: object, spec: object = {}) =>
    podOf({ spec: { nodeName: undefined, ...spec }, status: { conditions: [scheduled] } })
  const noRoom = unscheduled('Unschedulable', '0/3 nodes are available: 3 Insufficient cpu.')
  const noVolume = unscheduled(
    'Unschedulable', '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
  )
  const gated = (...names: string[]) =>
    nodeless(unscheduled('SchedulingGated'), { schedulingGates: names.map((name) => ({ name })) })
  const held: Expected = { weight: 'held', since: 2 }
  const noRoomText = 'cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu'
  const noVolumeText = '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims'
  const withClaim = (phase: string): Expected => ({ since: 2, around: { claimOf: () => claimOf(phase) } })
  const withoutClaim: Expected = { since: 0, around: { claimOf: () => undefined } }
  const ephemeral = { volumes: [{ name: 'tmp', ephemeral: {} }] }
  rows(
    ['no node has room', nodeless(noRoom), 'Unschedulable', noRoomText, { since: 2 }],
    [
      'the scheduler gives no message',
      nodeless(unscheduled('SchedulerError')), 'Unschedulable', 'cannot be scheduled: SchedulerError', { since: 2 },
    ],
    ['a scheduling gate', gated('a'), 'SchedulingGated', 'is held back by scheduling gate "a"', held],
    ['two scheduling gates', gated('a', 'b'), 'SchedulingGated', 'is held back by scheduling gates "a", "b"', held],
    ['a gate that is gone', gated(), 'SchedulingGated', 'is held back by a scheduling gate', held],
    [
      'a claim that does not exist',
      podOf({ spec: dataVolume }), 'ClaimMissing', 'waits for claim data, which does not exist', withoutClaim,
    ],
    [
      'a claim of its own',
      podOf({ spec: ephemeral }), 'ClaimMissing', 'waits for claim web-1-tmp, which does not exist', withoutClaim,
    ],
    [
      'a claim without a volume',
      nodeless(noVolume, dataVolume), 'ClaimPending', `waits for claim data, which is not bound: ${noVolumeText}`,
      withClaim('Pending'),
    ],
    [
      'a claim that has lost its volume',
      nodeless(noVolume, dataVolume), 'ClaimLost', `waits for claim data, which has lost its volume: ${noVolumeText}`,
      withClaim('Lost'),
    ],
    [
      'a claim that waits for the pod to get a node',
      nodeless(noRoom, dataVolume), 'Unschedulable', noRoomText, withClaim('Pending'),
    ],
    ['a claim that is bound', nodeless(noRoom, dataVolume), 'Unschedulable', noRoomText, withClaim('Bound')],
    [
      'a claim, where claims are not known',
      podOf({ spec: dataVolume }), 'Starting', 'waits for its containers to start', starting,
    ],
  )
})

describe('nodes', () => {
  const pod = podWith(waiting('ErrImagePull'))
  const going = podOf({ metadata: { deletionTimestamp: timeAt(30) } })
  const on = (node: ReturnType<typeof nodeOf> | null | undefined): Expected =>
    ({ around: { nodeOf: () => node }, since: node ? 3 : null })
  const lost = on(nodeOf('Unknown', { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' }))
  const down = on(nodeOf('False', { reason: 'KubeletNotReady', message: 'container runtime is down' }))
  const silent = on(nodeOf('False', { reason: 'KubeletNotReady' }))
  const image = 'cannot pull image "app:1" for container "main"'
  rows(
    ['does not report', pod, 'NodeLost', 'is on node n1, which has stopped reporting', lost],
    ['is not ready', pod, 'NodeNotReady', 'is on node n1, which is not ready: container runtime is down', down],
    [
      'is not ready, and says no more',
      pod, 'NodeNotReady', 'is on node n1, which is not ready: KubeletNotReady', silent,
    ],
    ['is gone', pod, 'NodeGone', 'was on node n1, which is gone', on(null)],
    ['is not known', pod, 'ImagePull', image, { around: { nodeOf: () => undefined } }],
    ['is ready', pod, 'ImagePull', image, { around: { nodeOf: () => nodeOf('True') } }],
    [
      'does not report, and the pod is to go',
      going, 'NodeLost', 'cannot be deleted: it is on node n1, which has stopped reporting', lost,
    ],
    [
      'is gone, and the pod is to go',
      going, 'NodeGone', 'cannot be deleted: it was on node n1, which is gone', on(null),
    ],
  )
})

describe('pods that have ended', () => {
  const failed = (status: object, spec: object = {}) => podOf({ spec, status: { phase: 'Failed', ...status } })
  const evicted = (reason: string, message: string): Row => [
    reason, failed({ reason, message: `${message}.` }), 'Evicted', `was evicted from node n1: ${message}`,
  ]
  const own = failed({ message: 'too slow', containerStatuses: [containerOf(ended(3))] })
  rows(
    ['well, under an owner that wants them to run', podOf({ status: { phase: 'Succeeded' } }), 'PodEnded', 'has ended'],
    [
      'as their node says',
      failed({ reason: 'OutOfcpu', message: 'not enough cpu.' }), 'PodFailed', 'has failed: not enough cpu',
    ],
    ['nobody says why', failed({ conditions: [] }), 'PodFailed', 'has failed', { since: null }],
    [
      'with their container',
      failed({ containerStatuses: [containerOf(ended(3))] }), 'ContainerFailed',
      'has lost container "main": exit code 3',
    ],
    ['with a message of their own', own, 'ContainerFailed', 'has failed: too slow'],
    evicted('Evicted', 'The node was low on resource: memory'),
    evicted('Preempting', 'Preempted in order to admit critical pod'),
    evicted('Terminated', 'Pod was terminated in response to imminent node shutdown'),
    evicted('NodeShutdown', 'Pod was rejected as the node is shutting down'),
    [
      'evicted, and nobody says whence',
      failed({ reason: 'Evicted' }, { nodeName: undefined }), 'Evicted', 'was evicted: Evicted',
    ],
  )
})

describe('pods that run or are going', () => {
  const gated = (...conditions: object[]) =>
    podOf({
      spec: { readinessGates: [{ conditionType: 'example.com/lb' }] },
      status: {
        phase: 'Running',
        conditions: [condition('Ready', 'False', 5), ...conditions],
        containerStatuses: [containerOf({ running: {} }, { ready: true })],
      },
    })
  const shut = (more: object) => gated(condition('example.com/lb', 'False', 7, more))
  const gate = 'waits for its readiness gate example.com/lb'
  const late = (metadata: object, parts: object = {}) =>
    podOf({ metadata: { deletionTimestamp: timeAt(30), deletionGracePeriodSeconds: 30, ...metadata }, ...parts })
  const timeless = readyPod({ status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  const finalizers = ['a/b']
  const hangs = 'has not ended though its grace period is over'
  const heldByOne = 'is to be deleted and is held by finalizer "a/b"'
  const around = { minReadySeconds: 120 }
  rows(
    ['a readiness gate', gated(), 'ReadinessGate', gate, { weight: 'held' }],
    [
      'one with a message',
      shut({ reason: 'A', message: 'soon.' }), 'ReadinessGate', `${gate}: soon`, { weight: 'held', since: 7 },
    ],
    [
      'one with a reason',
      shut({ reason: 'NoBackend' }), 'ReadinessGate', `${gate}: NoBackend`, { weight: 'held', since: 7 },
    ],
    [
      'minReadySeconds',
      readyPod(), 'MinReadySeconds',
      'is ready and counts as available from 2026-01-01T00:02:05Z on (minReadySeconds: 120)',
      { weight: 'timed', since: null, around },
    ],
    [
      'minReadySeconds of a pod that has no time',
      timeless, 'MinReadySeconds',
      'is ready without a transition time, so it never counts as available (minReadySeconds: 120)',
      { since: null, around },
    ],
    ['a termination that hangs', late({}), 'TerminationHangs', hangs, { since: 30 }],
    ['a termination that hangs, before a finalizer', late({ finalizers }), 'TerminationHangs', hangs, { since: 30 }],
    [
      'a finalizer of one that has ended',
      late({ finalizers }, { status: { phase: 'Succeeded' } }), 'Finalizer', heldByOne, { since: 0 },
    ],
    [
      'finalizers of one without a node',
      late({ finalizers: ['a/b', 'c/d'] }, { spec: { nodeName: undefined } }),
      'Finalizer', 'is to be deleted and is held by finalizers "a/b", "c/d"', { since: 0 },
    ],
    [
      'a finalizer of one that its node is through with',
      late({ finalizers, deletionGracePeriodSeconds: 0 }), 'Finalizer', heldByOne, { since: 30 },
    ],
    [
      'a finalizer, and not those of the garbage collector beside it',
      late({ finalizers: ['foregroundDeletion', 'a/b'] }, { status: { phase: 'Succeeded' } }),
      'Finalizer', heldByOne, { since: 0 },
    ],
    [
      'a finalizer of the garbage collector that is late, and the only one',
      late({ finalizers: ['foregroundDeletion'] }, { status: { phase: 'Succeeded' } }),
      'Finalizer', 'is to be deleted and is held by finalizer "foregroundDeletion"', { since: 0 },
    ],
  )
})

describe('hooks of a CloneSet', () => {
  const lifecycle = {
    preDelete: { finalizersHandler: ['a/drain'] },
    inPlaceUpdate: { labelsHandler: { traffic: 'on' } },
    preNormal: { finalizersHandler: ['a/registered'] },
  } as Surroundings['lifecycle']
  const inState = (state: string, { labels = {}, finalizers = [] }: { labels?: object; finalizers?: string[] } = {}) =>
    readyPod({
      metadata: {
        labels: { 'lifecycle.apps.kruise.io/state': state, ...labels },
        annotations: { 'lifecycle.apps.kruise.io/timestamp': timeAt(50) },
        finalizers,
      },
    })
  const traffic = { labels: { traffic: 'on' } }
  const shut = podOf({
    spec: { readinessGates: [{ conditionType: 'InPlaceUpdateReady' }] },
    status: {
      phase: 'Running',
      conditions: [
        condition('Ready', 'False', 5),
        condition('InPlaceUpdateReady', 'False', 8, { message: 'the pod is being updated in place to revision web-2' }),
      ],
      containerStatuses: [containerOf({ running: {} }, { ready: true })],
    },
  })
  const around = { lifecycle }
  const held: Expected = { weight: 'held', since: 50, around }
  const free: Expected = { weight: 'starting', since: 50, around }
  const drained = inState('PreparingDelete', { finalizers: ['a/drain'] })
  const registered = inState('PreparingNormal', { finalizers: ['a/registered'] })
  rows(
    ['preDelete', drained, 'PreDeleteHook', 'is held back from its deletion by finalizer a/drain', held],
    [
      'inPlaceUpdate, before',
      inState('PreparingUpdate', traffic), 'InPlaceUpdateHook', 'is held back from its update by label traffic=on',
      held,
    ],
    [
      'inPlaceUpdate, after',
      inState('Updated'), 'InPlaceUpdateHook', 'has been updated, and waits for label traffic=on', held,
    ],
    ['preNormal', inState('PreparingNormal'), 'PreNormalHook', 'waits for finalizer a/registered', held],
    ['preDelete has let go', inState('PreparingDelete'), 'Terminating', 'is about to be deleted', free],
    ['inPlaceUpdate has let go', inState('PreparingUpdate'), 'InPlaceUpdate', 'is about to be updated in place', free],
    ['it is being updated', inState('Updating'), 'InPlaceUpdate', 'is being updated in place', free],
    [
      'it has been updated',
      inState('Updated', traffic), 'InPlaceUpdate', 'has been updated in place and is about to be put into service',
      free,
    ],
    ['preNormal is through', registered, 'Starting', 'is about to be put into service', free],
    ['a state that nobody knows', inState('Odd'), 'Waiting', 'has the unknown life cycle state "Odd"', free],
    [
      'the gate of an update',
      shut, 'InPlaceUpdate', 'is being updated in place to revision web-2', { weight: 'starting', since: 8 },
    ],
  )
})

describe('pods without a cause', () => {
  it.each<[string, Pod, Partial<Surroundings>]>([
    ['ready', readyPod(), {}],
    ['ready for long enough', readyPod(), { minReadySeconds: 95 }],
    ['ended, of a Job', podOf({ status: { phase: 'Succeeded' } }), { runsToCompletion: true }],
    ['in the normal state', readyPod({ metadata: { labels: { 'lifecycle.apps.kruise.io/state': 'Normal' } } }), {}],
  ])('%s', (_, pod, around) => {
    expect(causeOfPod(pod, explainedAt(100, around))).toBeUndefined()
  })
})

describe('the sentence stays the same', () => {
  const sentences = (pods: readonly Pod[]) =>
    new Set(pods.map((pod, i) => sentenceOf(causeOfPod(pod, explainedAt(i * 20))!)))

  it('in every attempt to pull an image', () => {
    const first = waiting('ErrImagePull', 'manifest unknown')
    const second = waiting('ImagePullBackOff', 'Back-off pulling image "app:1": ErrImagePull: manifest unknown')
    expect(sentences([first, second, first, second].map((state) => podWith(state))).size).toBe(1)
  })

  it('from the end of a container until it is started again, however long the back-off is', () => {
    const last = ended(1, { reason: 'Error', finishedAt: timeAt(60) })
    const loop = (message: string) =>
      podWith(waiting('CrashLoopBackOff', message), { restartCount: 3, lastState: last })
    const ends = podWith(last, { restartCount: 3, lastState: ended(1) })
    expect(sentences([ends, loop('back-off 20s restarting'), loop('back-off 5m0s restarting')]).size).toBe(1)
  })

  it('but for the number of restarts, when the same failure repeats', () => {
    const after = (restartCount: number) => podWith(waiting('CrashLoopBackOff'), { restartCount, lastState: ended(1) })
    const [a, b] = [...sentences([after(3), after(4)])].map((text) => text.replace(/restarted \d+ times/, ''))
    expect(a).toBe(b)
  })

  it.each<[string, Pod]>([
    ['an image', podWith(waiting('ErrImagePull', 'no'))],
    ['a start', podOf()],
    ['a node', podOf({ spec: { nodeName: undefined }, status: { conditions: [] } })],
  ])('for as long as nothing happens: %s', (_, pod) => {
    expect(sentences([pod, pod, pod]).size).toBe(1)
  })
})

it('a pod that is ready for now and has crashed before is still said to crash, until it is available', () => {
  const crashed = readyPod({ status: { containerStatuses: [containerOf({ running: {} }, { ready: true, restartCount: 2, lastState: ended(3) })] } })
  const cause = causeOfPod(crashed, { nowMs: at(7), minReadySeconds: 10 })
  expect(cause).toMatchObject({ what: 'CrashLoop', weight: 'trouble', changesAtMs: at(15) })
  expect(cause!.text).toBe('crashes again and again in container "main": exit code 3, restarted 2 times; it is ready for now')
  expect(causeOfPod(crashed, { nowMs: at(15), minReadySeconds: 10 })).toBeUndefined()
})

it('a finalizer that holds a pod whose end is known is told at once, but for our own', () => {
  const held = (finalizer: string) => podOf({ metadata: { deletionTimestamp: timeAt(10), deletionGracePeriodSeconds: 0, finalizers: [finalizer] }, status: { phase: 'Succeeded' } })
  expect(causeOfPod(held('example.com/x'), { nowMs: at(11) })).toMatchObject({ what: 'Finalizer', weight: 'trouble' })
  expect(causeOfPod(held('batch.kubernetes.io/job-tracking'), { nowMs: at(11) })).toMatchObject({ what: 'Terminating' })
})
