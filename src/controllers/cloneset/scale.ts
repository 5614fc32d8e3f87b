import { burst, byDeletionRank } from '../kit/workload/index.ts'
import type { CreatePod, DeletePod } from './apply.ts'
import type { Instances } from './instances.ts'
import type { ActiveMember } from './member.ts'
import type { Derived, Goal } from './derive.ts'
import { type PatchLifecycle, beforeDeletion, cancelDeletion } from './lifecycle.ts'
import { type ActiveMembers, type Staying, totalOf } from './members.ts'

/** The actions that delete pods, and the pods that are deleted now. */
export interface Parting {
  actions: readonly (PatchLifecycle | DeletePod)[]
  gone: readonly ActiveMember[]
}

/** Cancels the deletion of prepared pods that are needed again. */
export function keepWanted({ set, members, nowMs, tally, bounds }: Derived): PatchLifecycle[] {
  const { updated, outdated } = tally
  const leaving = updated.preparing + updated.asked + outdated.preparing + outdated.asked
  const wanted = bounds.replicas - (totalOf(tally) - leaving)
  return firstOf(members.preparing.unasked, wanted).flatMap((member) => cancelDeletion(set, member, nowMs) ?? [])
}

/**
 * Deletes pods that their hook has released, pods whose deletion is requested, and redundant pods. Ready ones are
 * deleted within the allowed unavailability.
 */
export function removePods(seen: Derived, instances: Instances): Parting {
  const {
    members: { preparing, asked },
    goal,
  } = seen
  const askedReady = firstOf(asked.ready, goal.mayDeleteReady)
  const going: ActiveMember[] = [...preparing.released.values(), ...asked.unready.values(), ...askedReady]
  let mayDeleteReady = goal.mayDeleteReady - asked.ready.size
  const within = ({ isReady }: ActiveMember): boolean => !isReady || mayDeleteReady-- > 0
  if (goal.surplus > 0) {
    for (const member of surplusOf(seen, mayDeleteReady > 0)) if (within(member)) going.push(member)
  }
  return part(seen, instances, going)
}

function firstOf(actives: ActiveMembers, count: number): ActiveMember[] {
  const first: ActiveMember[] = []
  if (count <= 0) return first
  for (const active of actives.values()) if (first.push(active) >= count) break
  return first
}

/** Deletes pods, or prepares them for deletion if a hook requires it. */
export function part({ set, nowMs }: Derived, { claimsOf }: Instances, members: readonly ActiveMember[]): Parting {
  const patches: PatchLifecycle[] = []
  const gone: ActiveMember[] = []
  for (const member of members) {
    const before = beforeDeletion(set, member, nowMs)
    if (before === undefined) gone.push(member)
    else if (before !== 'wait') patches.push(before)
  }
  return {
    actions: [...patches, ...gone.map(({ pod, id }): DeletePod => ({ kind: 'DeletePod', pod, claims: claimsOf(id) }))],
    gone,
  }
}

/**
 * The redundant pods: outdated ones as far as the partition allows, then updated ones, each in deletion order.
 * Available ones are omitted if none may be deleted.
 */
function surplusOf({ members: { staying }, nowMs, goal }: Derived, mayServe: boolean): ActiveMember[] {
  const outdated = Math.min(goal.surplus, goal.surplusOutdated)
  return [
    ...firstToGo(staying.outdated, outdated, mayServe, nowMs),
    ...firstToGo(staying.updated, goal.surplus - outdated, mayServe, nowMs),
  ]
}

/** Unavailable members first, then in the deletion order of all workloads. */
function firstToGo(staying: Staying, count: number, mayServe: boolean, nowMs: number): ActiveMember[] {
  const { unavailable, available, onNodes } = staying
  if (mayServe && count >= unavailable.size + available.size) return [...unavailable.values(), ...available.values()]
  const first = (actives: ActiveMembers, most: number): ActiveMember[] => {
    if (most <= 0) return []
    const ranked = byDeletionRank(
      [...actives.values()].map(({ pod }) => pod),
      onNodes,
      nowMs,
    )
    return ranked.slice(0, most).map(({ metadata }) => actives.get(metadata.name!)!)
  }
  return [...first(unavailable, count), ...(mayServe ? first(available, count - unavailable.size) : [])]
}

/**
 * Creates missing pods, a burst at a time: those that the partition keeps with the current revision, others with the new one. IDs with
 * free claims are reused.
 */
export function createPods({ revisions }: Derived, goal: Goal, instances: Instances): CreatePod[] {
  if (goal.mayCreate === 0) return []
  const { free, held } = instances
  const count = Math.max(Math.min(free.length, goal.mayCreate), goal.mayCreate - held.length)
  return Array.from({ length: Math.min(count, burst) }, (_, i): CreatePod => ({
    kind: 'CreatePod',
    revision: i < goal.missingCurrent ? revisions.current : revisions.update,
    ...(i < free.length ? { id: free[i]! } : {}),
  }))
}
