import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { ClusterEvent, EventKind } from '../queue/unschedulable-pods.ts'
import type { World } from './world.ts'

/** The reason why a node, or all nodes, are not suitable for a pod. */
export interface Rejection {
  plugin: string
  /** The reasons in Kubernetes' words. Equal reasons of several nodes are counted. */
  reasons: readonly string[]
  /** True if preemption cannot help. */
  isFinal: boolean
}

/** Reservations made with the node of a pod. */
export interface Reservation {
  /** Does what must be done before the pod is bound. Rejects with the reason of a failure. */
  settle(signal: AbortSignal): Promise<void>
  /** Withdraws the reservation. */
  undo(): void
}

/** The evaluation of nodes by one plugin, for one pod and one cycle. */
export interface NodeFilter {
  /** Undefined if the pod may run on the node. */
  check(node: NodeInfo): Rejection | undefined
  /** Only these nodes need to be checked. */
  onlyNodes?: ReadonlySet<string>
  /** Preemption simulates that a pod is on the node, or is not. Each change is undone afterwards. */
  podAdded?(pod: PodInfo, node: NodeInfo): void
  podRemoved?(pod: PodInfo, node: NodeInfo): void
  /** Called for the selected node. Undefined without a reservation. */
  reserve?(node: NodeInfo): Reservation | undefined
}

/** Rejects nodes for a pod. */
export interface FilterPlugin {
  name: string
  /** Undefined if the plugin accepts every node. A rejection if it accepts none. */
  filter(pod: PodInfo, world: World): NodeFilter | Rejection | undefined
  /** The events that may make a rejected pod schedulable. */
  hears: readonly EventKind[]
  /** Reports whether an event may help this pod. If in doubt, true. */
  helps(event: ClusterEvent, pod: PodInfo, world: World): boolean
}

/** The scores of nodes by one plugin, for one pod. */
export interface NodeScorer {
  score(node: NodeInfo): number
  /** Normalizes the scores to 0 to 100, in place. Omitted if they are in that range. */
  normalize?(scores: Float64Array): void
}

/** Scores the suitable nodes. */
export interface ScorePlugin {
  name: string
  weight: number
  /** Undefined if all nodes are equal for this pod. */
  scorer(pod: PodInfo, world: World, nodes: readonly NodeInfo[]): NodeScorer | undefined
}

export const maxScore = 100

export const isRejection = (result: NodeFilter | Rejection | undefined): result is Rejection =>
  result !== undefined && 'reasons' in result

/** Scales the scores so that the highest is 100. With `isReversed`, the highest becomes 0, and 0 becomes 100. */
export function normalizeScores(scores: Float64Array, isReversed: boolean): void {
  const highest = scores.reduce((max, score) => Math.max(max, score), 0)
  for (let i = 0; i < scores.length; i++) {
    const score = highest === 0 ? 0 : Math.trunc((maxScore * scores[i]!) / highest)
    scores[i] = isReversed ? maxScore - score : score
  }
}
