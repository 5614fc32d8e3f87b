import type { LabelSelector, Node, Pod, PodTemplateSpec, ReplicaSetCondition } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Claim, type ResourceType, claim, compileLabelSelector, controllerOf, pods } from '../../client/index.ts'
import type { ObserveContext } from '../kit/index.ts'
import { isPodActive, isPodFinished, nodeFinder, podsByNode } from '../kit/workload/index.ts'

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
  minReadySeconds: number
  /** Pods that are to stay: its own, those to be adopted, those to be let go. */
  claimed: Claim<Pod>
  /** Its own that are going; undefined where nobody asks. */
  terminating: readonly Pod[] | undefined
  /** How many pods of all owners of the same family are on each node. Empty where none has to go. */
  onNodes: ReadonlyMap<string, number>
  nodeOf?: ((name: string) => Node | undefined) | undefined
  nowMs: number
}

const none: ReadonlyMap<string, number> = new Map()

/** Looks at the pods of an owner, and at those that nobody manages. */
export function observe<Owner extends ReplicaOwner>({ type, selectorOf, countsTerminating }: ReplicaKind<Owner>, ctx: ObserveContext, owner: Owner): Observed {
  const { caches, nowMs } = ctx
  const matches = compileLabelSelector(selectorOf(owner))
  const candidates: Pod[] = []
  const terminating: Pod[] = []
  for (const pod of caches.owned(pods, owner)) {
    if (isPodActive(pod)) candidates.push(pod)
    else if (!isPodFinished(pod) && matches(pod.metadata.labels)) terminating.push(pod)
  }
  for (const pod of caches.orphans(pods, owner.metadata.namespace ?? '')) if (isPodActive(pod)) candidates.push(pod)
  const claimed = claim(owner, matches, candidates)
  const wanted = owner.spec?.replicas ?? 1
  const count = claimed.kept.length + claimed.adopt.length
  const family = controllerOf(owner)
  const isChoice = wanted > 0 && count > wanted && family !== undefined
  return {
    owner,
    kind: type.kind,
    wanted,
    minReadySeconds: owner.spec?.minReadySeconds ?? 0,
    claimed,
    terminating: countsTerminating ? terminating : undefined,
    nodeOf: nodeFinder(caches),
    onNodes: isChoice ? podsByNode(familyPods(type, ctx, family.uid)) : none,
    nowMs,
  }
}

/** Pods of every owner that has the same owner. */
function* familyPods(type: ResourceType, { caches }: ObserveContext, familyUid: string): Generator<Pod> {
  for (const relative of caches.owned(type, { metadata: { uid: familyUid } })) yield* caches.owned(pods, relative)
}
