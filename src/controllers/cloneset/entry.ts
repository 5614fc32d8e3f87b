import { type Cause, causeOfPod } from '../../api/explain/index.ts'
import type { CloneSet, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import {
  type Finders, availableAtMs, isPodActive, isPodTerminating, rankChangesAtMs, rankOf,
} from '../kit/workload/index.ts'
import { newClaims } from './identity.ts'
import { mayUpdate, refreshPod } from './in-place.ts'
import { beforeDeletion } from './lifecycle.ts'
import { type Member, memberOf } from './member.ts'
import { type PriorityOf, type Turn, priorityIn } from './update-order.ts'

/** The facts that the pods of a set are read by, besides the pods themselves. */
export interface Basis {
  set: CloneSet
  matches: LabelMatcher
  /** The hash of the revision that pods are to become. */
  updateHash: string
  /** The names in `podsToDelete`. */
  named: ReadonlySet<string>
  priorityOf: PriorityOf
  /** Finds claims by name. */
  claimOf(name: string): PersistentVolumeClaim | undefined
  nodeOf?: Finders['nodeOf']
}

type Around = Pick<Basis, 'claimOf' | 'nodeOf'>

export const basisOf = (set: CloneSet, matches: LabelMatcher, updateHash: string, around: Around): Basis => ({
  ...around,
  set,
  matches,
  updateHash,
  named: new Set(set.spec.scaleStrategy?.podsToDelete),
  priorityOf: priorityIn(set.spec.updateStrategy),
})

/** A member with what there is to do about it. All of it follows from the pod, the basis and the time. */
export interface Seat extends Member {
  role: 'member'
  isUpdated: boolean
  /** True if just this pod is to go: somebody wants it, or it cannot come to anything. */
  isAsked: boolean
  /** True if something is due for it by itself: a gate or the next state of its life. */
  isDue: boolean
  /** True if it is prepared for its deletion, and its hook holds it still. */
  isWithheld: boolean
  /** Its place in the order of updates; undefined for a pod that cannot be chosen for one now. */
  turn: Turn | undefined
  /** Why it is not available. */
  cause: Cause | undefined
  /** The time at which there is something else to do or to say, without any event. */
  wakesAtMs: number | undefined
}

/** A pod that is going. Others are made for it already. */
export interface Leaver {
  role: 'going'
  pod: Pod
  cause: Cause | undefined
  wakesAtMs: number | undefined
}

/** A pod of a set as its roster has it. A misfit is not selected any more, and is to be let go. */
export type Entry = Seat | Leaver | { role: 'misfit'; pod: Pod }

/** Undefined for a pod that has ended: nothing is done about it. */
export function entryOf(basis: Basis, pod: Pod, nowMs: number): Entry | undefined {
  if (isPodActive(pod)) return basis.matches(pod.metadata.labels) ? seatOf(basis, pod, nowMs) : { role: 'misfit', pod }
  if (!isPodTerminating(pod)) return undefined
  const cause = causeOf(basis, pod, nowMs)
  return { role: 'going', pod, cause, wakesAtMs: cause?.changesAtMs }
}

/** The time at which an entry has to be read again, though its pod does not change. */
export function changesAtMs(entry: Entry): number | undefined {
  if (entry.role === 'misfit') return undefined
  return soonest(entry.wakesAtMs, entry.role === 'member' && entry.turn ? rankChangesAtMs(entry.turn.rank) : undefined)
}

export function seatOf(basis: Basis, pod: Pod, nowMs: number): Seat {
  const { set, updateHash, named, priorityOf } = basis
  const member = memberOf(set, pod, nowMs)
  const { hash, state, isReady, isAvailable } = member
  const isUpdated = hash === updateHash
  const isAsked = member.isMarked || named.has(pod.metadata.name!) || isForsaken(basis, member)
  const due = member.isSettled ? {} : refreshPod(set, member, updateHash, nowMs)
  const isDue = due.action !== undefined
  const isCandidate = !isUpdated && !isAsked && !isDue && mayUpdate(member)
  const cause = isAvailable ? undefined : causeOf(basis, pod, nowMs)
  const isPreparing = state === 'PreparingUpdate'
  const turn = (): Turn => ({ isPreparing, priority: priorityOf(pod), rank: rankOf(pod, 0, nowMs) })
  const refreshAtMs = due.requeueAfterMs === undefined ? undefined : nowMs + due.requeueAfterMs
  const availableMs = isReady && !isAvailable ? availableAtMs(pod, set.spec.minReadySeconds ?? 0) : undefined
  return {
    ...member,
    role: 'member',
    isUpdated,
    isAsked,
    isDue,
    isWithheld: state === 'PreparingDelete' && beforeDeletion(set, member, nowMs) === 'wait',
    turn: isCandidate ? turn() : undefined,
    cause,
    wakesAtMs: soonest(availableMs, refreshAtMs, cause?.changesAtMs),
  }
}

function causeOf({ set, claimOf, nodeOf }: Basis, pod: Pod, nowMs: number): Cause | undefined {
  const { minReadySeconds = 0, lifecycle } = set.spec
  return causeOfPod(pod, { nowMs, minReadySeconds, lifecycle, claimOf, nodeOf })
}

/** True if a pod is on no node, and its own claims are gone or going: it will never get to one. */
function isForsaken({ set, claimOf }: Basis, { pod, id }: Member): boolean {
  if (!set.spec.volumeClaimTemplates?.length || pod.spec.nodeName || pod.status?.phase !== 'Pending') return false
  const names = new Set(claimNamesOf(pod))
  const isLost = (name: string): boolean => names.has(name) && isGoneOrGoing(claimOf(name))
  return newClaims(set, id).some(({ metadata }) => isLost(metadata.name!))
}

const isGoneOrGoing = (claim: PersistentVolumeClaim | undefined): boolean =>
  !claim || claim.metadata.deletionTimestamp !== undefined
