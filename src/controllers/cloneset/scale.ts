import { byDeletionRank } from '../kit/workload/index.ts'
import type { CreatePod, DeletePod, PatchLifecycle } from './actions.ts'
import type { Instances } from './claims.ts'
import type { Seat } from './entry.ts'
import type { Goal } from './goal.ts'
import { beforeDeletion, cancelDeletion } from './lifecycle.ts'
import type { Look } from './look.ts'
import type { Seats, Staying } from './members.ts'
import { totalOf } from './tally.ts'

/** What is done so that pods go, and which of them do now. */
export interface Parting {
  actions: readonly (PatchLifecycle | DeletePod)[]
  gone: readonly Seat[]
}

/** Takes back what was prepared for deletion and is wanted again. */
export function keepWanted({ seen: { set, members, nowMs }, tally, bounds }: Look): PatchLifecycle[] {
  const { updated, outdated } = tally
  const leaving = updated.preparing + updated.asked + outdated.preparing + outdated.asked
  const wanted = bounds.replicas - (totalOf(tally) - leaving)
  return firstOf(members.preparing.unasked, wanted).flatMap((member) => cancelDeletion(set, member, nowMs) ?? [])
}

/** Deletes pods: whose hook has let them go, whose deletion is asked for, and those that are too many. Ready ones go within what may be unavailable. */
export function removePods(look: Look, instances: Instances): Parting {
  const { seen: { members: { preparing, asked } }, goal } = look
  const askedReady = firstOf(asked.ready, goal.mayDeleteReady)
  const going: Seat[] = [...preparing.released.values(), ...asked.unready.values(), ...askedReady]
  let mayDeleteReady = goal.mayDeleteReady - asked.ready.size
  const within = ({ isReady }: Seat): boolean => !isReady || mayDeleteReady-- > 0
  if (goal.surplus > 0) going.push(...surplusOf(look, mayDeleteReady > 0).filter(within))
  return part(look, instances, going)
}

function firstOf(seats: Seats, count: number): Seat[] {
  const first: Seat[] = []
  if (count <= 0) return first
  for (const seat of seats.values()) if (first.push(seat) >= count) break
  return first
}

/** Deletes each of these, or prepares it for that if a hook asks for it. */
export function part({ seen: { set, nowMs } }: Look, { claimsOf }: Instances, members: readonly Seat[]): Parting {
  const patches: PatchLifecycle[] = []
  const gone: Seat[] = []
  for (const member of members) {
    const before = beforeDeletion(set, member, nowMs)
    if (before === undefined) gone.push(member)
    else if (before !== 'wait') patches.push(before)
  }
  return { actions: [...patches, ...gone.map(({ pod, id }): DeletePod => ({ kind: 'DeletePod', pod, claims: claimsOf(id) }))], gone }
}

/**
 * The pods that are too many: outdated ones as far as the partition lets them go, then updated ones; in either those
 * that are given up first. Those that serve users are left out where none of them may go.
 */
function surplusOf({ seen: { members: { staying }, nowMs }, goal }: Look, mayServe: boolean): Seat[] {
  const outdated = Math.min(goal.surplus, goal.surplusOutdated)
  return [
    ...firstToGo(staying.outdated, outdated, mayServe, nowMs),
    ...firstToGo(staying.updated, goal.surplus - outdated, mayServe, nowMs),
  ]
}

/** Members that serve nobody come first, then by the rank that all workloads go by. */
function firstToGo(staying: Staying, count: number, mayServe: boolean, nowMs: number): Seat[] {
  const { unavailable, available, onNodes } = staying
  if (mayServe && count >= unavailable.size + available.size) return [...unavailable.values(), ...available.values()]
  const first = (seats: Seats, most: number): Seat[] => {
    if (most <= 0) return []
    const ranked = byDeletionRank([...seats.values()].map(({ pod }) => pod), onNodes, nowMs)
    return ranked.slice(0, most).map(({ metadata }) => seats.get(metadata.name!)!)
  }
  return [...first(unavailable, count), ...(mayServe ? first(available, count - unavailable.size) : [])]
}

/** Makes what is missing: those that the partition keeps at the current revision, the others at the new one. Ids whose claims are free are used again. */
export function createPods({ revisions }: Look, goal: Goal, instances: Instances): CreatePod[] {
  if (goal.mayCreate === 0) return []
  const { free, held } = instances
  const count = Math.max(Math.min(free.length, goal.mayCreate), goal.mayCreate - held.length)
  return Array.from({ length: count }, (_, i): CreatePod => ({
    kind: 'CreatePod',
    revision: i < goal.missingCurrent ? revisions.current : revisions.update,
    ...(i < free.length ? { id: free[i]! } : {}),
  }))
}
