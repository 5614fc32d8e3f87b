import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { ClusterEvent, EventKind } from '../queue/cluster-event.ts'
import type { World } from './world.ts'

/** Why a node, or any node, is not for a pod. */
export interface Rejection {
  plugin: string
  /** In Kubernetes' words; the same reasons of several nodes are counted together. */
  reasons: readonly string[]
  /** It would be the same with fewer pods on the node: nobody need be preempted. */
  isFinal: boolean
}

/** What a pod's node was reserved along with. */
export interface Reservation {
  /** Does what must be done before the pod is bound, and waits for it. Rejects with the reason if it cannot be. */
  settle(signal: AbortSignal): Promise<void>
  /** The pod is not going there after all. */
  undo(): void
}

/** What a plugin has to say about nodes for one pod, for one cycle. */
export interface NodeFilter {
  /** Undefined: the pod may go there. */
  check(node: NodeInfo): Rejection | undefined
  /** No other node need be asked. */
  onlyNodes?: ReadonlySet<string>
  /** Preemption tries what would be if a pod were on the node, or were not. What is done is undone afterwards. */
  podAdded?(pod: PodInfo, node: NodeInfo): void
  podRemoved?(pod: PodInfo, node: NodeInfo): void
  /** The node has been chosen. Undefined: nothing goes along with it. */
  reserve?(node: NodeInfo): Reservation | undefined
}

/** Says which nodes a pod cannot go to. */
export interface FilterPlugin {
  name: string
  /** Undefined if any node is fine for this pod. A rejection: none is. */
  filter(pod: PodInfo, world: World): NodeFilter | Rejection | undefined
  /** What may make a difference for pods that it has rejected. */
  hears: readonly EventKind[]
  /** Whether it may make a difference for this pod. When in doubt, it may. */
  helps(event: ClusterEvent, pod: PodInfo, world: World): boolean
}

/** What a plugin thinks of nodes for one pod. */
export interface NodeScorer {
  score(node: NodeInfo): number
  /** Brings the scores into the range from 0 to 100, in place. Without it they are in it already. */
  normalize?(scores: Float64Array): void
}

/** Says which of the nodes that a pod can go to are better. */
export interface ScorePlugin {
  name: string
  weight: number
  /** Undefined if all nodes are as good for this pod. */
  scorer(pod: PodInfo, world: World, nodes: readonly NodeInfo[]): NodeScorer | undefined
}

export const maxScore = 100

export const isRejection = (result: NodeFilter | Rejection | undefined): result is Rejection => result !== undefined && 'reasons' in result

/** Stretches scores so that the highest is 100; with `isReversed`, the highest becomes 0 and 0 becomes 100. */
export function normalizeScores(scores: Float64Array, isReversed: boolean): void {
  const highest = scores.reduce((max, score) => Math.max(max, score), 0)
  for (let i = 0; i < scores.length; i++) {
    const score = highest === 0 ? 0 : Math.trunc((maxScore * scores[i]!) / highest)
    scores[i] = isReversed ? maxScore - score : score
  }
}
