import type { LabelSelector, Pod, PodTemplateSpec, ReplicaSetCondition } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { selectorFromMap } from '../../api/selectors/label-selector.ts'
import { type ResourceType, claim, compileLabelSelector, controllerOf, pods } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { findersOf, isPodActive, podsByNode } from '../kit/workload/index.ts'
import { type Basis, type Member, type Tally, readMember, replicaReader } from './member.ts'

/** The common fields of ReplicaSets and ReplicationControllers. */
export interface ReplicaOwner extends KubeObject {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec }
  status?: { replicas: number; conditions?: ReplicaSetCondition[] }
}

/** Reads the desired state of a kind of owner. */
export interface ReplicaKind<Owner extends ReplicaOwner> {
  type: ResourceType<Owner>
  selectorOf(owner: Owner): LabelSelector | undefined
  /** True if the status has `terminatingReplicas`. */
  countsTerminating: boolean
}

export interface Observed {
  owner: ReplicaOwner
  kind: string
  wanted: number
  /** The numbers of its own pods. */
  tally: Tally
  /** Pods to adopt, and own pods to release. */
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** Reads a pod as the tally counts it. */
  read(pod: Pod): Member | undefined
  /** The own pods that are to stay. The cost is proportional to their number: call it only to choose among them. */
  kept(): Pod[]
  /** The number of pods per node, over all owners with the same controller. */
  onNodes(): ReadonlyMap<string, number>
  /** True if the status has `terminatingReplicas`. */
  countsTerminating: boolean
  /** The time at which the next pod becomes available, or is late, without an event. */
  changesAtMs: number | undefined
  nowMs: number
}

/** Reads the pods of an owner, and pods without a controller. */
export function observe<Owner extends ReplicaOwner>(
  { type, selectorOf, countsTerminating }: ReplicaKind<Owner>,
  ctx: ObserveContext,
  owner: Owner,
): Observed {
  const { caches, nowMs } = ctx
  const { uid = '', namespace = '', deletionTimestamp } = owner.metadata
  const { minReadySeconds = 0, template, replicas = 1 } = owner.spec ?? {}
  const selector = selectorOf(owner)
  const matches = compileLabelSelector(selector)
  const around = { minReadySeconds, ...findersOf(caches, namespace) }
  const basis: Basis = { matches, hasTemplateLabels: selectorFromMap(template?.metadata?.labels), around }
  const reader = replicaReader(JSON.stringify([minReadySeconds, selector, template?.metadata?.labels]), basis)
  const { tally, members, changesAtMs } = ctx.roster(uid, reader, nowMs)
  const { adopt } = claim(owner, matches, caches.orphans(pods, namespace, selector).filter(isPodActive))
  return {
    owner,
    kind: type.kind,
    wanted: replicas,
    tally,
    adopt,
    release: deletionTimestamp ? [] : [...tally.misfits.values()],
    read: (pod) => readMember(basis, pod, nowMs),
    kept: () => [...members.values()].flatMap(({ pod, role }) => (role === 'kept' ? [pod] : [])),
    onNodes: () => {
      const family = controllerOf(owner)
      return family ? podsByNode(familyPods(type, ctx, family.uid)) : none
    },
    countsTerminating,
    changesAtMs,
    nowMs,
  }
}

const none: ReadonlyMap<string, number> = new Map()

/** The pods of all owners that have the same controller. */
function* familyPods(type: ResourceType, { caches }: ObserveContext, familyUid: string): Generator<Pod> {
  for (const relative of caches.owned(type, { metadata: { uid: familyUid } })) yield* caches.owned(pods, relative)
}
