import type { PodDisruptionBudget } from '../../api/generated/types.ts'
import { labelSelectorMatches } from '../../api/selectors/label-selector.ts'
import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { Filters } from '../cycle/filters.ts'
import type { Rejection } from '../plugins/plugin.ts'

/** The pods that cannot be preempted, in this order, without violating a disruption budget. */
function budgetBreakers(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<PodInfo> {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]))
  const breakers = new Set<PodInfo>()
  for (const pod of pods) {
    if (!pod.labels) continue
    for (const budget of budgets) {
      if (!isUnder(budget, pod)) continue
      // A pod whose eviction was granted has been counted already.
      if (budget.status?.disruptedPods?.[pod.pod.metadata.name!]) continue
      const left = allowed.get(budget)! - 1
      allowed.set(budget, left)
      if (left < 0) breakers.add(pod)
    }
  }
  return breakers
}

/** An empty selector matches nothing here. */
function isUnder({ metadata, spec: { selector } }: PodDisruptionBudget, pod: PodInfo): boolean {
  if (metadata.namespace !== pod.namespace || !selector) return false
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length === 0 && !selector.matchExpressions?.length
  return !isEmpty && labelSelectorMatches(selector, pod.labels)
}

/** The victims on a node. */
export interface Victims {
  node: NodeInfo
  /** Sorted by importance. At least one. */
  pods: readonly PodInfo[]
  /** The number of them that would violate a budget. */
  broken: number
}

const noVictims: Rejection = {
  plugin: 'DefaultPreemption',
  reasons: ['No preemption victims found for incoming pod'],
  isFinal: true,
}

/** The start time of a pod. A pod that has not started counts as starting now. */
export const startedMs = ({ pod }: PodInfo, nowMs: number): number =>
  pod.status?.startTime ? Date.parse(pod.status.startTime) : nowMs

/** The more important pod first: by priority, then by age. */
const byImportance =
  (nowMs: number) =>
  (a: PodInfo, b: PodInfo): number =>
    b.priority - a.priority || startedMs(a, nowMs) - startedMs(b, nowMs)

/**
 * The fewest and least important pods to delete so that the pod fits on the node, or the reason why it does not fit
 * anyway.
 */
export function victimsOn(
  node: NodeInfo,
  filters: Filters,
  budgets: readonly PodDisruptionBudget[],
  nowMs: number,
): Victims | Rejection {
  const scratch = node.copy()
  const lesser = [...node.pods.values()]
    .filter(({ priority }) => priority < filters.pod.priority)
    .sort(byImportance(nowMs))
  if (lesser.length === 0) return noVictims
  const gone = new Set<PodInfo>()
  for (const pod of lesser) {
    filters.remove(pod, scratch)
    gone.add(pod)
  }
  const rejection = filters.check(scratch)
  const breakers = rejection ? undefined : budgetBreakers(lesser, budgets)
  if (breakers) {
    // As many pods as possible are kept: first those with a budget, and more important ones before others.
    for (const pod of [...lesser.filter((p) => breakers.has(p)), ...lesser.filter((p) => !breakers.has(p))]) {
      filters.add(pod, scratch)
      gone.delete(pod)
      if (!filters.check(scratch)) continue
      filters.remove(pod, scratch)
      gone.add(pod)
    }
  }
  // The filters are used for other nodes as well, so all changes are undone.
  for (const pod of gone) filters.add(pod, scratch)
  if (rejection || !breakers) return rejection ?? noVictims
  const pods = lesser.filter((pod) => gone.has(pod))
  return pods.length === 0 ? noVictims : { node, pods, broken: pods.filter((pod) => breakers.has(pod)).length }
}
