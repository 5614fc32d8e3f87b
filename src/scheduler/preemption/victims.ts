import type { PodDisruptionBudget } from '../../api/generated/types.ts'
import type { NodeInfo } from '../cluster/node-info.ts'
import type { PodInfo } from '../cluster/pod-info.ts'
import type { Filters } from '../cycle/filters.ts'
import type { Rejection } from '../plugins/plugin.ts'
import { budgetBreakers } from './budgets.ts'

/** Who would have to go from a node. */
export interface Victims {
  node: NodeInfo
  /** The most important first; at least one. */
  pods: readonly PodInfo[]
  /** How many of them would break a budget. */
  broken: number
}

const noVictims: Rejection = { plugin: 'DefaultPreemption', reasons: ['No preemption victims found for incoming pod'], isFinal: true }

/** When a pod was started; one that was not yet is taken to start now. */
export const startedMs = ({ pod }: PodInfo, nowMs: number): number => (pod.status?.startTime ? Date.parse(pod.status.startTime) : nowMs)

/** The more important pod first: by priority, then by age. */
const byImportance = (nowMs: number) => (a: PodInfo, b: PodInfo): number => b.priority - a.priority || startedMs(a, nowMs) - startedMs(b, nowMs)

/** The fewest and least important pods that would have to go from the node for the pod to fit, or why it would not fit anyway. */
export function victimsOn(node: NodeInfo, filters: Filters, budgets: readonly PodDisruptionBudget[], nowMs: number): Victims | Rejection {
  const scratch = node.copy()
  const lesser = [...node.pods.values()].filter(({ priority }) => priority < filters.pod.priority).sort(byImportance(nowMs))
  if (lesser.length === 0) return noVictims
  const gone = new Set<PodInfo>()
  for (const pod of lesser) {
    filters.remove(pod, scratch)
    gone.add(pod)
  }
  const rejection = filters.check(scratch)
  const breakers = rejection ? undefined : budgetBreakers(lesser, budgets)
  if (breakers) {
    // Whoever can stay stays: first those who would break a budget, and the important before the others.
    for (const pod of [...lesser.filter((p) => breakers.has(p)), ...lesser.filter((p) => !breakers.has(p))]) {
      filters.add(pod, scratch)
      gone.delete(pod)
      if (!filters.check(scratch)) continue
      filters.remove(pod, scratch)
      gone.add(pod)
    }
  }
  // The filters are used for other nodes, too: for them nothing has happened.
  for (const pod of gone) filters.add(pod, scratch)
  if (rejection || !breakers) return rejection ?? noVictims
  const pods = lesser.filter((pod) => gone.has(pod))
  return pods.length === 0 ? noVictims : { node, pods, broken: pods.filter((pod) => breakers.has(pod)).length }
}
