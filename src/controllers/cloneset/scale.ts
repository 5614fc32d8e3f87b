import { byDeletionRank, podsByNode } from '../kit/workload/index.ts'
import type { CreatePod, DeletePod, PatchLifecycle } from './actions.ts'
import type { Instances } from './claims.ts'
import type { Goal } from './goal.ts'
import { beforeDeletion, cancelDeletion } from './lifecycle.ts'
import type { Look } from './look.ts'
import type { Member } from './member.ts'
import { totalOf } from './tally.ts'

/** What is done so that pods go, and which of them do now. */
export interface Parting {
  actions: readonly (PatchLifecycle | DeletePod)[]
  gone: readonly Member[]
}

/** Takes back what was prepared for deletion and is wanted again. */
export function keepWanted({ seen, tally, bounds, isAsked }: Look): PatchLifecycle[] {
  const { updated, outdated } = tally
  const leaving = updated.preparing + updated.asked + outdated.preparing + outdated.asked
  const wanted = bounds.replicas - (totalOf(tally) - leaving)
  if (wanted <= 0 || updated.preparing + outdated.preparing === 0) return []
  const regretted = seen.members.filter((member) => member.state === 'PreparingDelete' && !isAsked(member)).slice(0, wanted)
  return regretted.flatMap((member) => cancelDeletion(seen.set, member, seen.nowMs) ?? [])
}

/** Deletes pods: whose hook has let them go, whose deletion is asked for, and those that are too many. Ready ones go within what may be unavailable. */
export function removePods(look: Look, instances: Instances): Parting {
  const { seen: { members }, tally, goal, isAsked } = look
  const { updated, outdated } = tally
  let mayDeleteReady = goal.mayDeleteReady
  const within = (member: Member): boolean => !member.isReady || mayDeleteReady-- > 0
  const going: Member[] = []
  if (updated.preparing + outdated.preparing > 0) going.push(...members.filter(({ state }) => state === 'PreparingDelete'))
  if (updated.asked + outdated.asked > 0) going.push(...members.filter((member) => member.state !== 'PreparingDelete' && isAsked(member) && within(member)))
  if (goal.surplus > 0) going.push(...surplusOf(look).filter(within))
  return part(look, instances, going)
}

/** Deletes each of these, or prepares it for that if a hook asks for it. */
export function part({ seen: { set, nowMs } }: Look, { claimsOf }: Instances, members: readonly Member[]): Parting {
  const patches: PatchLifecycle[] = []
  const gone: Member[] = []
  for (const member of members) {
    const before = beforeDeletion(set, member, nowMs)
    if (before === undefined) gone.push(member)
    else if (before !== 'wait') patches.push(before)
  }
  return { actions: [...patches, ...gone.map(({ pod, id }): DeletePod => ({ kind: 'DeletePod', pod, claims: claimsOf(id) }))], gone }
}

/** The pods that are too many: outdated ones as far as the partition lets them go, then updated ones; in either those that are given up first. */
function surplusOf({ seen, revisions, goal, isAsked }: Look): Member[] {
  const staying = seen.members.filter((member) => member.state !== 'PreparingDelete' && !isAsked(member))
  const isUpdated = ({ hash }: Member): boolean => hash === revisions.update.hash
  const outdated = Math.min(goal.surplus, goal.surplusOutdated)
  return [
    ...firstToGo(staying.filter((member) => !isUpdated(member)), outdated, seen.nowMs),
    ...firstToGo(staying.filter(isUpdated), goal.surplus - outdated, seen.nowMs),
  ]
}

/** Members that serve nobody come first, then by the rank that all workloads go by. */
function firstToGo(members: readonly Member[], count: number, nowMs: number): Member[] {
  if (count >= members.length) return [...members]
  if (count === 0) return []
  const byPod = new Map(members.map((member) => [member.pod, member]))
  const onNodes = podsByNode(byPod.keys())
  const ranked = byDeletionRank([...byPod.keys()], onNodes, nowMs).map((pod) => byPod.get(pod)!)
  return [...ranked.filter((member) => !member.isAvailable), ...ranked.filter((member) => member.isAvailable)].slice(0, count)
}

/** Makes what is missing: those that the partition keeps at the current revision, the others at the new one. Ids whose claims are free are used again. */
export function createPods({ revisions }: Look, goal: Goal, { free, held }: Instances): CreatePod[] {
  const count = Math.max(Math.min(free.length, goal.mayCreate), goal.mayCreate - held.length)
  return Array.from({ length: count }, (_, i): CreatePod => ({
    kind: 'CreatePod',
    revision: i < goal.missingCurrent ? revisions.current : revisions.update,
    ...(i < free.length ? { id: free[i]! } : {}),
  }))
}
