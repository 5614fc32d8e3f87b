import type { Random } from '../../base/random.ts'
import type { PodDisruptionBudget } from '../../api/generated/types.ts'
import type { NodeInfo } from '../cluster/node-info.ts'
import type { Diagnosis } from '../cycle/node-search.ts'
import type { Filters } from '../cycle/filters.ts'
import { type Rejection, isRejection } from '../plugins/plugin.ts'
import { type Victims, startedMs, victimsOn } from './victims.ts'

/** The number of nodes to try, or this percentage of them if it is larger. */
const minTried = 100
const minShare = 0.1

/** Makes every priority positive, so that more victims always weigh more. */
const priorityOffset = 2 ** 31

export const notHelpful: Rejection = {
  plugin: 'DefaultPreemption',
  reasons: ['Preemption is not helpful for scheduling'],
  isFinal: true,
}

/** The nodes on which preemption would let the pod fit, and the rejections of other tried nodes. */
export function findCandidates(
  filters: Filters,
  { nodes }: Pick<Diagnosis, 'nodes'>,
  budgets: readonly PodDisruptionBudget[],
  random: Random,
  nowMs: number,
): { candidates: Victims[]; rejections: Map<NodeInfo, Rejection> } {
  const hopeful = [...nodes].flatMap(([node, { isFinal }]) => (isFinal ? [] : [node]))
  const enough = Math.min(hopeful.length, Math.max(minTried, Math.trunc(hopeful.length * minShare)))
  const start = Math.trunc(random.next() * hopeful.length)
  const candidates: Victims[] = []
  const rejections = new Map<NodeInfo, Rejection>()
  let unbroken = 0
  for (let i = 0; i < hopeful.length; i++) {
    const node = hopeful[(start + i) % hopeful.length]!
    const victims = victimsOn(node, filters, budgets, nowMs)
    if ('node' in victims) {
      candidates.push(victims)
      if (victims.broken === 0) unbroken++
      // At least one candidate must violate no budget.
      if (unbroken > 0 && candidates.length >= enough) break
    } else if (isRejection(victims)) rejections.set(node, victims)
  }
  return { candidates, rejections }
}

/**
 * The candidate with the least harm: by violated budgets, by the highest victim priority, by the sum of priorities, by
 * the number of victims, by their age.
 */
export function leastHarm(candidates: readonly Victims[], nowMs: number): Victims | undefined {
  const harms: readonly ((victims: Victims) => number)[] = [
    ({ broken }) => broken,
    ({ pods }) => pods[0]!.priority,
    ({ pods }) => pods.reduce((sum, { priority }) => sum + priority + priorityOffset, 0),
    ({ pods }) => pods.length,
    // The longest-running of the victims with the highest priority. The shorter, the better.
    ({ pods }) =>
      -pods.reduce(
        (first, pod) => (pod.priority === pods[0]!.priority ? Math.min(first, startedMs(pod, nowMs)) : first),
        Infinity,
      ),
  ]
  let best = candidates
  for (const harm of harms) {
    const least = best.reduce((min, victims) => Math.min(min, harm(victims)), Infinity)
    best = best.filter((victims) => harm(victims) === least)
  }
  return best[0]
}
