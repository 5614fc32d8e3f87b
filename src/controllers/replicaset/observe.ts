import type { LabelSelector, Pod, PodTemplateSpec, ReplicaSetCondition } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { selectorFromMap } from '../../api/selectors/label-selector.ts'
import { type ResourceType, claim, compileLabelSelector, controllerOf, pods } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { findersOf, isPodActive, podsByNode } from '../kit/workload/index.ts'
import { type Basis, type Member, type Tally, readMember, replicaReader } from './roster.ts'

/** What ReplicaSets and ReplicationControllers have in common. */
export interface ReplicaOwner extends KubeObject {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec }
  status?: { replicas: number; conditions?: ReplicaSetCondition[] }
}

/** How a kind of owner says what it wants. */
export interface ReplicaKind<Owner extends ReplicaOwner> {
  type: ResourceType<Owner>
  selectorOf(owner: Owner): LabelSelector | undefined
  /** Whether its status has `terminatingReplicas`. */
  countsTerminating: boolean
}

export interface Observed {
  owner: ReplicaOwner
  kind: string
  wanted: number
  /** Its own pods in numbers. */
  tally: Tally
  /** Pods to be adopted, and its own to be let go. */
  adopt: readonly Pod[]
  release: readonly Pod[]
  /** Reads a pod as the tally counts it. */
  read(pod: Pod): Member | undefined
  /** Its own pods that are to stay. Costs as much as there are: only for a choice among them. */
  kept(): Pod[]
  /** How many pods of all owners of the same family are on each node. */
  onNodes(): ReadonlyMap<string, number>
  /** Whether its status has `terminatingReplicas`. */
  countsTerminating: boolean
  /** The time at which the next pod becomes available, or is late, by itself. */
  changesAtMs: number | undefined
  nowMs: number
}

/** Reads the pods of an owner, and those that nobody manages. */
export function observe<Owner extends ReplicaOwner>({ type, selectorOf, countsTerminating }: ReplicaKind<Owner>, ctx: ObserveContext, owner: Owner): Observed {
  const { caches, nowMs } = ctx
  const { uid = '', namespace = '', deletionTimestamp } = owner.metadata
  const { minReadySeconds = 0, template, replicas = 1 } = owner.spec ?? {}
  const selector = selectorOf(owner)
  const matches = compileLabelSelector(selector)
  const around = { minReadySeconds, ...findersOf(caches, namespace) }
  const basis: Basis = { matches, hasTemplateLabels: selectorFromMap(template?.metadata?.labels), around }
  const reader = replicaReader(JSON.stringify([minReadySeconds, selector, template?.metadata?.labels]), basis)
  const { tally, members, changesAtMs } = ctx.roster(uid, reader, nowMs)
  const { adopt } = claim(owner, matches, caches.orphans(pods, namespace).filter(isPodActive))
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

/** Pods of every owner that has the same owner. */
function* familyPods(type: ResourceType, { caches }: ObserveContext, familyUid: string): Generator<Pod> {
  for (const relative of caches.owned(type, { metadata: { uid: familyUid } })) yield* caches.owned(pods, relative)
}
