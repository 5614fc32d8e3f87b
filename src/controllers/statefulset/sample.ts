import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import { templatePatch } from '../../api/kinds/workloads/controller-revision.ts'
import { soonest } from '../../base/soonest.ts'
import { compileLabelSelector } from '../../client/index.ts'
import type { Action } from './apply.ts'
import { identityLabels } from './identity.ts'
import { memberOf } from './member.ts'
import { type Derived, type Observed, derive, revisionsOf } from './observe.ts'
import { emptyOrdinals } from './ordinals.ts'

export const nowMs = Date.parse('2026-01-01T01:00:00Z')
const longAgo = '2026-01-01T00:00:00Z'

export interface SetOver {
  replicas?: number
  policy?: 'OrderedReady' | 'Parallel'
  image?: string
  partition?: number
  maxUnavailable?: number | string
  spec?: object
  metadata?: object
  status?: object
}

/** A set for tests: five replicas, in order, with the first image. */
export function sampleSet({
  replicas = 5,
  policy = 'OrderedReady',
  image = 'a',
  partition = 0,
  maxUnavailable,
  spec,
  metadata,
  status,
}: SetOver = {}): StatefulSet {
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'set', generation: 1, ...metadata },
    spec: {
      replicas,
      podManagementPolicy: policy,
      serviceName: 'web',
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image }] } },
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: { partition, ...(maxUnavailable === undefined ? {} : { maxUnavailable }) },
      },
      revisionHistoryLimit: 10,
      ...spec,
    },
    status: { replicas: 0, availableReplicas: 0, ...status },
  } as unknown as StatefulSet
}

export const sampleRevision = (name: string, number: number, set: StatefulSet): ControllerRevision => ({
  metadata: { name, namespace: 'default', creationTimestamp: longAgo },
  data: templatePatch(set.spec.template),
  revision: number,
})

export type PodState = 'ready' | 'unready' | 'pending' | 'going' | 'failed' | 'young'

/** A pod of the set: `ready` for an hour, `young` for five seconds. */
export function samplePod(
  ordinal: number,
  revision: string,
  state: PodState = 'ready',
  over: { status?: object; metadata?: object } = {},
): Pod {
  const isReady = state === 'ready' || state === 'young' || state === 'going'
  const since = state === 'young' ? '2026-01-01T00:59:55Z' : longAgo
  return {
    metadata: {
      name: `web-${ordinal}`,
      namespace: 'default',
      uid: `uid-${ordinal}`,
      labels: { app: 'web', 'controller-revision-hash': revision, ...identityLabels(`web-${ordinal}`, ordinal) },
      ...(state === 'going' ? { deletionTimestamp: longAgo } : {}),
      ...over.metadata,
    },
    spec: { nodeName: 'n', containers: [] },
    status: {
      phase: state === 'pending' ? 'Pending' : state === 'failed' ? 'Failed' : 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: since }],
      ...over.status,
    },
  } as unknown as Pod
}

export interface SeenOver extends Partial<Omit<Observed, 'ordinals' | 'revisions' | 'claimOf' | 'set'>> {
  set?: StatefulSet
  claims?: ReadonlyMap<string, PersistentVolumeClaim>
  pods?: readonly Pod[]
}

/** A derived observation of a set with these pods. Revisions `a` and `b` exist. */
export function sampleSeen({
  set: given = sampleSet(),
  pods = [],
  claims = new Map(),
  ...over
}: SeenOver = {}): Derived {
  const [a, b] = [sampleRevision('a', 1, sampleSet({ image: 'a' })), sampleRevision('b', 2, sampleSet({ image: 'b' }))]
  const isB = given.spec.template.spec!.containers[0]!.image === 'b'
  const set = { ...given, status: { currentRevision: 'a', updateRevision: isB ? 'b' : 'a', ...given.status } }
  const revisions = revisionsOf(set, over.history ?? (isB ? [a, b] : [a]))
  const claimOf = (name: string) => claims.get(name)
  const basis = {
    set,
    matches: compileLabelSelector(set.spec.selector),
    update: revisions.update.name,
    claimOf,
    nodeOf: over.nodeOf,
  }
  const ordinals = emptyOrdinals(set, revisions)
  const members = [...pods, ...(over.adopt ?? [])].map((pod) => memberOf(basis, pod, over.nowMs ?? nowMs)!)
  for (const member of members) ordinals.add(member)
  return derive({
    set,
    revisions,
    ordinals,
    adopt: [],
    release: [],
    history: isB ? [a, b] : [a],
    orphanRevisions: [],
    claimOf,
    changesAtMs: soonest(...members.map(({ changesAtMs }) => changesAtMs)),
    nowMs,
    honoursMaxUnavailable: true,
    hasConditions: true,
    ...over,
  })
}

/** A short text for an action. */
export function inWords(action: Action): string {
  switch (action.kind) {
    case 'CreatePod':
      return `create ${action.pod.metadata.name}@${action.pod.metadata.labels!['controller-revision-hash']}${action.claims.map((c) => ` +${c.metadata.name}`).join('')}`
    case 'DeletePod':
      return `delete ${action.pod.metadata.name}${action.ifUnchanged ? ' if unchanged' : ''}`
    case 'OwnClaim':
      return `own ${action.claim.metadata.name} by ${action.owners.map((o) => o.kind).join() || 'nobody'}`
    case 'CreateClaims':
      return `claims ${action.claims.map((c) => c.metadata.name).join()}`
    case 'AdoptPod':
    case 'ReleasePod':
    case 'LabelPod':
      return `${action.kind} ${action.pod.metadata.name}`
    case 'CreateRevision':
      return `CreateRevision ${action.number}`
    default:
      return `${action.kind} ${action.revision.metadata.name}`
  }
}
