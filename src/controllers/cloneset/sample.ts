import type { CloneSet, ControllerRevision, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { templatePatch } from '../../api/kinds/workloads/controller-revision.ts'
import { inPlaceUpdateReady } from '../../api/kinds/pods/in-place-update.ts'
import type { Action } from './apply.ts'
import { lifecycleStateLabel } from '../../api/kinds/containers/lifecycle-hooks.ts'
import { type Derived, derive } from './derive.ts'
import { instanceIdLabel } from './identity.ts'
import { activeMemberOf, basisOf, entryOf } from './member.ts'
import { Members } from './members.ts'
import type { Observed } from './observe.ts'
import { reviseSet, revisionLabels, revisionsOf } from './revisions.ts'

export const nowMs = Date.parse('2026-01-01T01:00:00Z')
const longAgo = '2026-01-01T00:00:00Z'

export interface SetOver {
  replicas?: number
  image?: string
  update?: object
  scale?: object
  spec?: object
  metadata?: object
  status?: object
}

/** A set for tests: five replicas with the first image. */
export function sampleSet({
  replicas = 5,
  image = 'a',
  update,
  scale,
  spec,
  metadata,
  status,
}: SetOver = {}): CloneSet {
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'set', generation: 1, ...metadata },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
      scaleStrategy: { ...scale },
      updateStrategy: { type: 'ReCreate', partition: 0, maxUnavailable: '20%', maxSurge: 0, ...update },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...spec,
    },
    status: {
      replicas: 0,
      readyReplicas: 0,
      availableReplicas: 0,
      updatedReplicas: 0,
      updatedReadyReplicas: 0,
      ...status,
    },
  } as unknown as CloneSet
}

export const sampleRevision = (hash: string, number: number, set: CloneSet): ControllerRevision => ({
  metadata: { name: `web-${hash}`, namespace: 'default', creationTimestamp: longAgo },
  data: templatePatch(set.spec.template),
  revision: number,
})

type PodState = 'ready' | 'unready' | 'pending' | 'young'

export interface PodOver {
  state?: PodState
  labels?: Record<string, string>
  lifecycle?: string
  finalizers?: string[]
  node?: string
  cost?: number
  /** The name of a claim that the pod mounts. */
  claim?: string
}

/** A pod of the set: `ready` for an hour, `young` for five seconds. Its name begins with the hash of its revision. */
export function samplePod(name: string, over: PodOver = {}): Pod {
  const { state = 'ready', labels, lifecycle = 'Normal', finalizers, node = 'n', cost, claim } = over
  const isReady = state === 'ready' || state === 'young'
  const lastTransitionTime = state === 'young' ? '2026-01-01T00:59:55Z' : longAgo
  const hash = name[0]!
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      labels: {
        app: 'web',
        ...revisionLabels({ name: `web-${hash}`, hash }),
        [instanceIdLabel]: name,
        [lifecycleStateLabel]: lifecycle,
        ...labels,
      },
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': String(cost) } }),
      ...(finalizers ? { finalizers } : {}),
      creationTimestamp: longAgo,
    },
    spec: {
      ...(state === 'pending' ? {} : { nodeName: node }),
      ...(claim ? { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: claim } }] } : {}),
      containers: [{ name: 'c', image: hash }],
      readinessGates: [{ conditionType: inPlaceUpdateReady }],
    },
    status: {
      phase: state === 'pending' ? 'Pending' : 'Running',
      conditions: [
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime },
        { type: inPlaceUpdateReady, status: 'True', lastTransitionTime: longAgo },
      ],
      containerStatuses: [
        {
          name: 'c',
          image: hash,
          imageID: `id-${hash}`,
          ready: isReady,
          restartCount: 0,
          state: {},
        },
      ],
    },
  } as unknown as Pod
}

/** Pods by name. The suffix `!` makes one unready, `?` pending. */
export const samplePods = (names: string, over: Record<string, PodOver> = {}): Pod[] =>
  names
    .split(' ')
    .filter((name) => name !== '')
    .map((text) => {
      const name = text.replace(/[!?]$/, '')
      return samplePod(name, {
        state: text.endsWith('!') ? 'unready' : text.endsWith('?') ? 'pending' : 'ready',
        ...over[name],
      })
    })

export const sampleClaim = (id: string): PersistentVolumeClaim =>
  ({
    metadata: { name: `data-web-${id}`, namespace: 'default', uid: `claim-${id}`, labels: { [instanceIdLabel]: id } },
    spec: {},
    status: {},
  }) as unknown as PersistentVolumeClaim

type Given = 'adopt' | 'release' | 'history' | 'orphanRevisions' | 'nowMs'

export interface SeenOver extends Partial<Pick<Observed, Given>> {
  set?: CloneSet
  pods?: readonly Pod[]
  /** Pods that are finished, terminating, or of another owner. */
  inactive?: readonly Pod[]
  claims?: readonly PersistentVolumeClaim[]
}

/** A derived observation of a set with these pods. Revision `a` exists and, if the set has its image, `b`. */
export function sampleSeen(sample: SeenOver = {}): Derived {
  const { set: base = sampleSet(), pods = [], inactive = [], claims = [], ...over } = sample
  const [a, b] = [sampleRevision('a', 1, sampleSet({ image: 'a' })), sampleRevision('b', 2, sampleSet({ image: 'b' }))]
  const isB = base.spec.template.spec!.containers[0]!.image === 'b'
  const set = { ...base, status: { currentRevision: 'web-a', updateRevision: isB ? 'web-b' : 'web-a', ...base.status } }
  const seen = { adopt: [], release: [], orphanRevisions: [], history: isB ? [a, b] : [a], nowMs, ...over }
  const revised = reviseSet(set, seen.history)
  const claimOf = (name: string) => claims.find(({ metadata }) => metadata.name === name)
  const basis = basisOf(set, () => true, revised.update.hash, { claimOf })
  const members = new Members()
  for (const pod of [...pods, ...seen.adopt]) members.add(activeMemberOf(basis, pod, seen.nowMs))
  for (const pod of inactive.filter((p) => p.metadata.deletionTimestamp)) members.add(entryOf(basis, pod, seen.nowMs)!)
  return derive({
    ...seen,
    set,
    revisions: revisionsOf(set, seen.history, revised, members.ofHash),
    members,
    claims: () => claims,
    strangerOf: (name) => inactive.find(({ metadata }) => metadata.name === name),
  })
}

/** A short text for an action. */
function inWords(action: Action): string {
  switch (action.kind) {
    case 'CreatePod':
      return `create ${action.revision.hash}${action.id ? ` as ${action.id}` : ''}`
    case 'DeletePod':
      return `delete ${action.pod.metadata.name}${action.claims.map((c) => ` -${c.metadata.name}`).join('')}`
    case 'UpdateInPlace':
      return `update ${action.pod.metadata.name}`
    case 'PatchLifecycle':
      return `${action.pod.metadata.name} is ${stateIn(action.patch.pod) ?? 'refreshed'}`
    case 'RefuseUpdate':
      return `refuse ${action.pod.metadata.name}: ${action.why}`
    case 'LeaveClaim':
      return `leave ${action.claim.metadata.name} to ${action.pod.metadata.name}`
    case 'DeleteClaim':
      return `delete ${action.claim.metadata.name}`
    case 'TrimPodsToDelete':
      return `podsToDelete ${action.left.join() || 'none'}`
    case 'AdoptPod':
    case 'ReleasePod':
      return `${action.kind} ${action.pod.metadata.name}`
    case 'CreateRevision':
      return `CreateRevision ${action.number}`
    default:
      return `${action.kind} ${action.revision.metadata.name}`
  }
}

function stateIn(patch: object | undefined): string | undefined {
  const { labels } = (patch as Partial<Pod> | undefined)?.metadata ?? {}
  const state = labels?.[lifecycleStateLabel]
  return state && `${state}${labels['apps.kruise.io/specified-delete'] ? ' to be replaced' : ''}`
}

/** Short texts for many actions: `create b ×3`. */
export function inFewWords(actions: readonly Action[]): string[] {
  const words: [string, number][] = []
  for (const word of actions.map(inWords)) {
    const last = words.at(-1)
    if (last?.[0] === word) last[1]++
    else words.push([word, 1])
  }
  return words.map(([word, count]) => (count > 1 ? `${word} ×${count}` : word))
}
