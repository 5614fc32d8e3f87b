import { forbiddenError, invalidObject } from '../../../src/api/errors.ts'
import type { ApiRequest } from '../../../src/client/index.ts'
import {
  limitranges, nodes, persistentvolumeclaims, poddisruptionbudgets, pods, resourcequotas,
} from '../../../src/client/index.ts'
import { type CauseRow, container, ended, reported, unready, waiting, withContainers } from './cause-row.ts'
import { type CauseScene, sentencesOf } from './cause-scene.ts'
import { type KindName, kindNames, kindOf } from './every-kind-scene.ts'

const since = ', since TIME.'
const setKinds: readonly KindName[] = ['statefulset', 'parallel', 'daemonset']
const ordered: readonly KindName[] = ['statefulset', 'parallel']
const replacing: readonly KindName[] = ['deployment', 'replicaset', 'replicationcontroller', 'cloneset']
const isPodRequest = ({ method, path }: ApiRequest, wanted: string): boolean =>
  method === wanted && path.includes('/pods')

/** Has the API server refuse some requests for pods. */
const refuse = (method: string, error: () => Error) => async (s: CauseScene): Promise<void> => {
  s.scene.wire.intercept = (request, send) => (isPodRequest(request, method) ? Promise.reject(error()) : send())
}

async function refuseNothing(s: CauseScene): Promise<void> {
  s.scene.wire.intercept = undefined
}

const podResource = { group: '', resource: 'pods' }
const available = (name: KindName): Record<string, RegExp> =>
  (name === 'job' ? {} : { Available: sentencesOf(name).available })
const progressing = (name: KindName): Record<string, RegExp> => {
  const pattern = sentencesOf(name).progressing
  return pattern ? { Progressing: pattern } : {}
}

const quota = (count: string) =>
  ({ metadata: { name: 'small', namespace: 'default' }, spec: { hard: { pods: count } } })
const limit = {
  metadata: { name: 'limit', namespace: 'default' },
  spec: { limits: [{ type: 'Container', max: { memory: '64Mi' } }] },
}
const big = {
  containers: [
    { name: 'main', image: 'app:1', resources: { limits: { memory: '128Mi' }, requests: { memory: '128Mi' } } },
  ],
}
const smallQuota = async (s: CauseScene) => {
  await s.client.create(resourcequotas, quota('0') as never)
  await s.pass(1000)
}
const raiseQuota = async (s: CauseScene) => {
  await s.client.patch(resourcequotas, 'default', 'small', { spec: { hard: { pods: '99' } } }, { type: 'merge' })
  await s.pass(1000)
}
const dropLimit = async (s: CauseScene) => {
  if ((await s.client.list(limitranges, 'default')).items.length > 0) await s.client.delete(
    limitranges, 'default', 'limit',
  )
}
/** Retries come with growing pauses. */
const soon = (s: CauseScene) => s.pass(300_000)
const tooBig = 'maximum memory usage per Container is 64Mi, but limit is 128Mi'

const refusals: CauseRow[] = [
  {
    it: 'a quota is used up', what: 'CreateRefused', before: smallQuota,
    says: 'OWNER cannot create a pod: pods "POD" is forbidden: exceeded quota: small, ' +
      `requested: pods=1, used: pods=0, limited: pods=0${since}`,
    mend: async (s, name) => {
      if (name === 'deployment') await raiseQuota(s)
      if (name === 'job') await soon(s)
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'admission refuses the pod', what: 'CreateRefused', podSpec: big,
    before: (s) => s.client.create(limitranges, limit as never),
    says: `OWNER cannot create a pod: pods "POD" is forbidden: ${tooBig}${since}`,
    mend: async (s, name) => {
      await dropLimit(s)
      await soon(s)
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'a quota is raised, and now admission refuses the pod', what: 'CreateRefused', podSpec: big, before: smallQuota,
    isVariant: true,
    says: `OWNER cannot create a pod: pods "POD" is forbidden: ${tooBig}${since}`,
    isBrief: true,
    stage: async (s, name) => {
      if (name !== 'deployment') return
      await s.client.create(limitranges, limit as never)
      await raiseQuota(s)
      await s.pass(20_000)
    },
    mend: async (s, name) => {
      await dropLimit(s)
      await soon(s)
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'the pod is invalid: the rollout fails before its deadline', what: 'CreateRefused', isBrief: true,
    before: refuse(
      'POST',
      () => invalidObject(
        { group: '', kind: 'Pod' }, 'x',
        [{ reason: 'FieldValueInvalid', field: 'spec', message: 'Invalid value' } as never],
      ),
    ),
    says: `OWNER cannot create a pod: Pod "x" is invalid: spec: Invalid value${since}`,
    tells: (name) => ({ ...available(name), ...(name === 'deployment' ? progressing(name) : {}) }),
    mend: async (s, name) => {
      await refuseNothing(s)
      await soon(s)
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'the API server refuses to delete a pod', what: 'DeleteRefused', kinds: ['deployment', ...setKinds, 'cloneset'],
    says: `OWNER cannot delete a pod: pods "POD" is forbidden: not today${since}`,
    tells: progressing,
    stage: async (s, name, pod) => {
      await s.ready(pod)
      await s.pass(100)
      await refuse('DELETE', () => forbiddenError(podResource, pod.metadata.name!, 'not today'))(s)
      await s.setImage(name, 'app:2')
      if (name === 'deployment') for (const one of await s.pods(name)) await s.ready(one)
      await s.pass(100)
    },
    mend: async (s, name) => {
      await refuseNothing(s)
      await soon(s)
      await s.reap(name)
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'a pod cannot be updated in place, and may not be replaced', what: 'UpdateRefused', kinds: ['cloneset'],
    says: 'OWNER cannot update a pod: pod POD cannot be updated in place, as InPlaceOnly asks: ' +
      `/spec/hostNetwork has changed${since}`,
    tells: () => ({ Progressing: /The rollout of revision [\w-]+ goes on\./ }),
    stage: async (s, name, pod) => {
      await s.ready(pod)
      await s.pass(100)
      await s.change(name, { updateStrategy: { paused: true }, template: { spec: { hostNetwork: true } } })
      await s.change(name, { updateStrategy: { paused: false, type: 'InPlaceOnly' } })
    },
    mend: (s, name) => s.change(name, { updateStrategy: { type: 'ReCreate' } }),
  },
]

/** Deletes a pod, and lets its grace period of 30 seconds go by. */
const deleteAndWait = (before?: (s: CauseScene) => Promise<unknown>) => async (
  s: CauseScene, name: KindName, pod: NonNullable<unknown>,
) => {
  const { metadata } = pod as { metadata: { name: string } }
  await s.bind(await s.pod(name))
  await before?.(s)
  await s.client.delete(pods, 'default', metadata.name)
  if (name === 'job') await s.pass(41_000)
}
const reapAndMend = async (s: CauseScene, name: KindName): Promise<void> => {
  await s.setNode('True', { reason: 'KubeletReady' })
  await s.reap(name)
  await s.pass(1000)
  await s.ready(await s.pod(name))
}

const ends: CauseRow[] = [
  {
    it: 'a pod does not end when it is deleted', what: 'TerminationHangs',
    says: `Pod POD has not ended though its grace period is over${since}`,
    stage: deleteAndWait(), mend: reapAndMend,
  },
  {
    it: 'a pod is deleted whose node has stopped reporting', what: 'NodeLost',
    says: `Pod POD cannot be deleted: it is on node n1, which has stopped reporting${since}`,
    before: (s) => s.setNode('Unknown', { reason: 'NodeStatusUnknown' }),
    stage: deleteAndWait(), mend: reapAndMend,
  },
  {
    it: 'a deleted pod has ended, and a finalizer holds it', what: 'Finalizer',
    metadata: { finalizers: ['example.com/backup'] },
    says: `Pod POD is to be deleted and is held by finalizer "example.com/backup"${since}`,
    kinds: kindNames.filter((name) => name !== 'job'),
    stage: async (s, name, pod) => {
      await s.bind(pod)
      await s.client.delete(pods, 'default', pod.metadata.name!, { gracePeriodSeconds: 0 })
      if (name === 'cloneset') await s.pass(11_000)
    },
    mend: async (s, name) => {
      for (const pod of await s.pods(name)) await s.changePod(pod, { metadata: { finalizers: null } })
      await s.pass(1000)
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'a pod is being deleted', what: 'Terminating', kinds: setKinds, when: 'at the deadline',
    says: `Pod POD is being deleted${since}`,
    stage: async (s, _, pod) => {
      await s.bind(pod)
      await s.client.delete(pods, 'default', pod.metadata.name!, { gracePeriodSeconds: 300 })
    },
    mend: reapAndMend,
  },
  {
    it: 'a container of a Job has ended with an error, and is not restarted', what: 'ContainerFailed', kinds: ['job'],
    podSpec: { restartPolicy: 'Never' }, isBrief: true,
    says: `Pod POD has lost container "main": exit code 3${since}`,
    tells: () => ({ Waiting: /After 1 failure in a row, the next pod is due at 20[\dT:-]+Z\./ }),
    stage: reported(withContainers('Failed', container(ended(3)))),
    mend: async (s, name) => {
      await s.pass(11_000)
      await s.ready(await s.pod(name))
    },
  },
]

/** A pod that its node has ended. A DaemonSet replaces the first at once, and waits with the second. */
const endedByNode = (reason: string, message: string) => async (s: CauseScene, name: KindName): Promise<string> => {
  if (name === 'daemonset') await endPod(s, name, reason, message)
  return endPod(s, name, reason, message)
}

async function endPod(s: CauseScene, name: KindName, reason: string, message: string): Promise<string> {
  const pod = await s.pod(name)
  await s.bind(pod)
  await s.report(pod, { phase: 'Failed', reason, message, conditions: [unready(s.now)] })
  await s.pass(100)
  return pod.metadata.name!
}

/** Owners that replace their pods at once do not wait for those that have ended: only explain() names them. */
const whenEnded = (name: KindName) => (replacing.includes(name) ? 'never' : 'at once')
const whatEnded = (name: KindName): Record<string, string | RegExp> =>
  name === 'job' ? {
    Waiting: /After 1 failure in a row, the next pod is due at 20[\dT:-]+Z\./,
  } : { ...available(name), ...progressing(name) }
const endedKinds = kindNames.filter((name) => !ordered.includes(name))
const mendEnded = async (s: CauseScene, name: KindName): Promise<void> => {
  await s.pass(60_000)
  await s.ready(await s.pod(name))
}

const evictions: CauseRow[] = ([
  [
    'the node has evicted the pod',
    'Evicted', 'was evicted from node n1', 'Evicted', 'The node was low on resource: memory',
  ],
  [
    'the node shuts down',
    'Evicted', 'was evicted from node n1', 'Terminated', 'Pod was terminated in response to imminent node shutdown',
  ],
  [
    'the node has made room for a more important pod',
    'Evicted', 'was evicted from node n1', 'Preempting', 'Preempted in order to admit critical pod',
  ],
  ['the node does not admit the pod', 'PodFailed', 'has failed', 'OutOfcpu', 'Node didn\'t have enough resource: cpu'],
] as const).map(([it, what, text, reason, message]) => ({
  it, what, kinds: endedKinds, says: `Pod POD ${text}: ${message}${since}`, isBrief: true, when: whenEnded,
  tells: whatEnded,
  stage: endedByNode(reason, `${message}.`), mend: mendEnded, ...(reason === 'Preempting' ? { isVariant: true } : {}),
}))

const gone: CauseRow[] = [
  {
    it: 'the pod has ended under an owner that wants it to run', what: 'PodEnded', kinds: replacing, when: 'never',
    isBrief: true,
    says: `Pod POD has ended${since}`,
    stage: async (s, _, pod) => {
      await s.bind(pod)
      await s.report(pod, { phase: 'Succeeded', conditions: [unready(s.now)] })
    },
  },
  {
    it: 'the node of the pod does not exist any more', what: 'NodeGone', when: 'never', isBrief: true,
    kinds: kindNames.filter((name) => name !== 'daemonset'),
    says: 'Pod POD was on node n1, which is gone.',
    stage: async (s, name, pod) => {
      await s.bind(pod)
      await s.report(pod, { phase: 'Running', conditions: [unready(s.now)] })
      if (name === 'job') await s.client.delete(nodes, '', 'n1')
    },
  },
]

const holds: CauseRow[] = [
  {
    it: 'minReadySeconds have not passed', what: 'MinReadySeconds', spec: { minReadySeconds: 30 }, isBrief: true,
    kinds: kindNames.filter((name) => name !== 'job'),
    says: 'Pod POD is ready and counts as available from TIME on (minReadySeconds: 30).',
    stage: (s, _, pod) => s.ready(pod),
    mend: (s) => s.pass(30_000),
  },
  {
    it: 'a broken pod of an old revision blocks the update', what: 'BrokenOldPod', kinds: ['statefulset'],
    says: 'Pod POD cannot pull image "app:1" for container "main": manifest unknown; it is of an old revision and ' +
      'keeps the new one from being rolled out: delete it manually, or annotate the set with ' +
      `coxswain.dev/recover-broken-rollout=true${since}`,
    stage: async (s, name, pod) => {
      await reported(withContainers('Pending', container(waiting('ErrImagePull', 'manifest unknown'))))(s, name, pod)
      await s.setImage(name, 'app:2')
    },
    mend: async (s, name) => {
      await s.client.patch(
        kindOf(name).type, 'default', name,
        { metadata: { annotations: { 'coxswain.dev/recover-broken-rollout': 'true' } } }, { type: 'merge' },
      )
      await s.pass(1000)
      await s.reap(name)
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'pods are updated when somebody deletes them', what: 'OnDelete', kinds: setKinds, when: 'never', isBrief: true,
    spec: { updateStrategy: { type: 'OnDelete' } },
    says: 'OWNER waits for you to delete 1 outdated pod, such as POD (OnDelete).',
    stage: async (s, name, pod) => {
      await s.ready(pod)
      await s.pass(100)
      await s.setImage(name, 'app:2')
    },
  },
  {
    it: 'the rollout is paused', what: 'Paused', kinds: ['deployment', 'cloneset'], when: 'never', isBrief: true,
    says: `OWNER is paused${since}`,
    stage: async (s, name, pod) => {
      await s.ready(pod)
      await s.change(name, name === 'cloneset' ? { updateStrategy: { paused: true } } : { paused: true })
    },
  },
  {
    it: 'the partition holds the rollout', what: 'PartitionReached', kinds: ['statefulset', 'parallel', 'cloneset'],
    when: 'never', isBrief: true,
    says: `OWNER is held by its partition${since}`,
    stage: async (s, name, pod) => {
      await s.ready(pod)
      await s.pass(100)
      await s.change(
        name, { updateStrategy: name === 'cloneset' ? { partition: 1 } : { rollingUpdate: { partition: 1 } } },
      )
      await s.setImage(name, 'app:2')
    },
  },
  {
    it: 'the Job is suspended', what: 'Suspended', kinds: ['job'], spec: { suspend: true }, when: 'never',
    isBrief: true,
    says: `OWNER is suspended${since}`,
  },
  {
    it: 'the Job waits after a failure', what: 'BackOff', kinds: ['job'], podSpec: { restartPolicy: 'Never' },
    isBrief: true,
    says: 'OWNER backs off: after 1 failure in a row, the next pod is due at TIME.',
    when: 'never', explains: 'among others',
    stage: reported(withContainers('Failed', container(ended(3)))),
  },
  {
    it: 'a disruption budget allows no eviction', what: 'DisruptionBudget', kinds: ['deployment'], when: 'never',
    isBrief: true, explains: 'among others',
    says: 'PodDisruptionBudget web allows no eviction: 0 of at least 1 pods are healthy.',
    stage: async (s) => {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: 'deployment' } } }
      await s.client.create(poddisruptionbudgets, { metadata: { name: 'web', namespace: 'default' }, spec } as never)
      const status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 1, expectedPods: 1 }
      await s.client.patch(poddisruptionbudgets, 'default', 'web', { status }, { type: 'merge', subresource: 'status' })
    },
  },
  {
    it: 'the controller has not seen the newest change', what: 'NotObserved', when: 'never', isBrief: true,
    kinds: kindNames.filter((name) => name !== 'job'),
    says: 'OWNER is at generation 2, of which its controller has observed 1.',
    stage: async (s, name, pod) => {
      await s.ready(pod)
      await s.pass(200)
      s.scene.wire.isUnreachable = true
      await s.client.patch(
        kindOf(name).type, 'default', name, { spec: { template: { spec: { terminationGracePeriodSeconds: 7 } } } },
        { type: 'merge' },
      )
    },
  },
  {
    it: 'a pod of a DaemonSet is on a node that is not to run one', what: 'Misplaced', kinds: ['daemonset'],
    says: 'Pod POD is on node n1, which is not to run one.', explains: 'nothing',
    tells: () => ({ Progressing: /0 of 0 nodes are at revision [\w-]+, 0 are available\./ }),
    stage: async (s, name, pod) => {
      const taints = [{ key: 'a', effect: 'NoSchedule' }]
      await s.client.patch(nodes, '', 'n1', { spec: { taints } }, { type: 'merge' })
      await reported(withContainers('Pending', container(waiting('ContainerCreating'))))(s, name, pod)
    },
    mend: async (s, name) => {
      await s.client.patch(nodes, '', 'n1', { spec: { taints: null } }, { type: 'merge' })
      await s.ready(await s.pod(name))
    },
  },
  {
    it: 'a claim has to be gone before the pod is made', what: 'Waiting', kinds: ['statefulset'],
    when: 'at the deadline', explains: 'nothing',
    says: 'OWNER waits: claim data-statefulset-0 is to go before pod statefulset-0 is made.',
    spec: {
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
    before: async (s) => {
      const metadata = { name: 'data-statefulset-0', namespace: 'default', finalizers: ['a/b'] }
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
      await s.client.create(persistentvolumeclaims, { metadata, spec } as never)
      await s.client.delete(persistentvolumeclaims, 'default', 'data-statefulset-0')
    },
    mend: async (s, name) => {
      await s.client.patch(
        persistentvolumeclaims, 'default', 'data-statefulset-0', { metadata: { finalizers: null } }, { type: 'merge' },
      )
      await s.pass(1000)
      await s.ready(await s.pod(name))
    },
  },
]

const cloneset: readonly KindName[] = ['cloneset']
const inPlace = { updateStrategy: { type: 'InPlaceIfPossible' } }
const inUse = { 'example.com/in-use': 'true' }
const inPlaceHook = { ...inPlace, lifecycle: { inPlaceUpdate: { labelsHandler: inUse } } }
/** Reports that the container runs with the image that it is to have. */
const runsNewImage = async (s: CauseScene, name: KindName): Promise<void> => {
  const pod = await s.pod(name)
  const status = container({ running: {} }, { image: 'app:2', imageID: 'sha:2', ready: true, started: true })
  await s.report(pod, { containerStatuses: [status], observedGeneration: pod.metadata.generation })
  await s.pass(200)
  await s.ready(await s.pod(name))
}
/** A pod that runs, with a hook's label on it where it has one. */
const runsInUse = async (s: CauseScene, pod: Parameters<CauseScene['ready']>[0]): Promise<void> => {
  await s.changePod(pod, { metadata: { labels: inUse } })
  await s.ready(pod)
  await s.pass(200)
}

const hooks: CauseRow[] = [
  {
    it: 'a preDelete hook holds a pod', what: 'PreDeleteHook', kinds: cloneset, isBrief: true,
    says: `Pod POD is held back from its deletion by finalizer example.com/drain${since}`,
    spec: { lifecycle: { preDelete: { finalizersHandler: ['example.com/drain'] } } },
    metadata: { finalizers: ['example.com/drain'] },
    tells: available,
    stage: async (s, _, pod) => {
      await s.ready(pod)
      await s.pass(200)
      await s.changePod(pod, { metadata: { labels: { 'apps.kruise.io/specified-delete': 'true' } } })
    },
    mend: async (s, name) => {
      await s.changePod(await s.pod(name), { metadata: { finalizers: null } })
      await s.pass(1000)
      await reapAndMend(s, name)
    },
  },
  {
    it: 'an inPlaceUpdate hook holds a pod before its update', what: 'InPlaceUpdateHook', kinds: cloneset,
    spec: inPlaceHook,
    says: `Pod POD is held back from its update by label example.com/in-use=true${since}`,
    stage: async (s, name, pod) => {
      await runsInUse(s, pod)
      await s.setImage(name, 'app:2')
    },
    mend: async (s, name) => {
      await s.changePod(await s.pod(name), { metadata: { labels: { 'example.com/in-use': null } } })
      await s.pass(200)
    },
  },
  {
    it: 'an inPlaceUpdate hook holds a pod after its update', what: 'InPlaceUpdateHook', kinds: cloneset,
    spec: inPlaceHook,
    says: `Pod POD has been updated, and waits for label example.com/in-use=true${since}`,
    stage: async (s, name, pod) => {
      await runsInUse(s, pod)
      await s.setImage(name, 'app:2')
      await s.changePod(pod, { metadata: { labels: { 'example.com/in-use': null } } })
      await s.pass(200)
      await runsNewImage(s, name)
    },
    mend: async (s, name) => s.changePod(await s.pod(name), { metadata: { labels: inUse } }),
  },
  {
    it: 'a preNormal hook holds a pod', what: 'PreNormalHook', kinds: cloneset,
    says: `Pod POD waits for finalizer example.com/registered${since}`,
    spec: { lifecycle: { preNormal: { finalizersHandler: ['example.com/registered'] } } },
    stage: (s, _, pod) => s.ready(pod),
    mend: async (s, name) => s.changePod(await s.pod(name), { metadata: { finalizers: ['example.com/registered'] } }),
  },
  {
    it: 'a pod is being updated in place', what: 'InPlaceUpdate', kinds: cloneset, spec: inPlace,
    when: 'at the deadline',
    says: `Pod POD is being updated in place to revision REVISION${since}`,
    stage: async (s, name, pod) => {
      await s.ready(pod)
      await s.pass(200)
      await s.setImage(name, 'app:2')
      await s.pass(100)
      await s.report(pod, { conditions: [unready(s.now)] })
    },
    mend: runsNewImage,
  },
]

/** Faults of workloads, and of pods under some of them. */
export const workloadCauses: readonly CauseRow[] = [...refusals, ...ends, ...evictions, ...gone, ...holds, ...hooks]
