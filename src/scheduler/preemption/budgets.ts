import type { PodDisruptionBudget } from '../../api/generated/types.ts'
import { labelSelectorMatches } from '../../api/selectors/label-selector.ts'
import type { PodInfo } from '../cluster/pod-info.ts'

/** Which pods could not be preempted without breaking a disruption budget, one after the other in this order. */
export function budgetBreakers(pods: readonly PodInfo[], budgets: readonly PodDisruptionBudget[]): ReadonlySet<PodInfo> {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]))
  const breakers = new Set<PodInfo>()
  for (const pod of pods) {
    if (!pod.labels) continue
    for (const budget of budgets) {
      if (!isUnder(budget, pod)) continue
      // One that is on its way out by leave of the budget has been counted already.
      if (budget.status?.disruptedPods?.[pod.pod.metadata.name!]) continue
      const left = allowed.get(budget)! - 1
      allowed.set(budget, left)
      if (left < 0) breakers.add(pod)
    }
  }
  return breakers
}

/** A selector that is empty covers nothing here. */
function isUnder({ metadata, spec: { selector } }: PodDisruptionBudget, pod: PodInfo): boolean {
  if (metadata.namespace !== pod.namespace || !selector) return false
  const isEmpty = Object.keys(selector.matchLabels ?? {}).length === 0 && !selector.matchExpressions?.length
  return !isEmpty && labelSelectorMatches(selector, pod.labels)
}
