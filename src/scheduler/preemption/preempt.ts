import type { PodDisruptionBudget } from '../../api/generated/types.ts'
import type { Random } from '../../base/random.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { Filters } from '../cycle/filters.ts'
import { type Diagnosis, messageOf } from '../cycle/node-search.ts'
import { findCandidates, leastHarm, notHelpful } from './candidates.ts'
import type { Victims } from './victims.ts'

export interface Preemption {
  cluster: Cluster
  budgets: readonly PodDisruptionBudget[]
  /** The node that the pod was nominated for. Empty to clear it. */
  nominatedNode: string
  random: Random
  nowMs: number
}

/** The victims, or the reason in Kubernetes' words why there are none. With `isWaiting`, room is being made already. */
export type PreemptionResult =
  | { kind: 'victims'; victims: Victims }
  | { kind: 'none'; message: string; isWaiting: boolean }

const none = (message: string, isWaiting = false): PreemptionResult => ({
  kind: 'none',
  message: `preemption: ${message}`,
  isWaiting,
})

const isBeingPreempted = ({ pod, isTerminating }: PodInfo): boolean =>
  isTerminating &&
  (pod.status?.conditions?.some(
    ({ type, status, reason }) =>
      type === 'DisruptionTarget' && status === 'True' && reason === 'PreemptionByScheduler',
  ) ??
    false)

/** Decides whether less important pods must be deleted for this one, and on which node. */
export function preempt(
  pod: PodInfo,
  diagnosis: Diagnosis,
  filters: Filters | undefined,
  context: Preemption,
): PreemptionResult {
  const { cluster, budgets, nominatedNode, random, nowMs } = context
  if (pod.pod.spec.preemptionPolicy === 'Never') return none('not eligible due to preemptionPolicy=Never.')
  const nominated = cluster.node(nominatedNode)
  if (nominated && !diagnosis.nodes.get(nominated)?.isFinal) {
    for (const other of nominated.pods.values()) {
      if (other.priority < pod.priority && isBeingPreempted(other)) {
        return none('not eligible due to a terminating pod on the nominated node.', true)
      }
    }
  }
  if (!filters) return none(messageOf({ nodeCount: diagnosis.nodeCount, nodes: new Map(), others: notHelpful }))
  const { candidates, rejections } = findCandidates(filters, diagnosis, budgets, random, nowMs)
  const victims = leastHarm(candidates, nowMs)
  return victims
    ? { kind: 'victims', victims }
    : none(messageOf({ nodeCount: diagnosis.nodeCount, nodes: rejections, others: notHelpful }))
}
