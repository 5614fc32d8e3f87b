import { type Cause, causeOfPod } from '../../api/explain/index.ts'
import type { CloneSet, PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { graceAnnotation, inPlaceUpdateReady } from '../../api/kinds/pods/in-place-update.ts'
import { type LifecycleState, lifecycleStateOf } from '../../api/kinds/containers/lifecycle-hooks.ts'
import { claimNamesOf } from '../../api/kinds/volumes/volume-references.ts'
import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { soonest } from '../../base/soonest.ts'
import {
  type Finders,
  availableAtMs,
  isPodActive,
  isPodAvailable,
  isPodReady,
  isPodTerminating,
  rankChangesAtMs,
  rankOf,
  revisionHashLabel,
} from '../kit/workload/index.ts'
import { instanceIdLabel, newClaims } from './identity.ts'
import { mayUpdate, refreshPod } from './in-place.ts'
import { beforeDeletion, kruisePodReady } from './lifecycle.ts'
import { hashOfName } from './revisions.ts'
import { type PriorityOf, type Turn, priorityIn } from './turn.ts'

export const specifiedDeleteLabel = 'apps.kruise.io/specified-delete'

/** An active pod of a set, with the facts that the set depends on. */
export interface Member {
  pod: Pod
  /** The instance ID. Empty for a pod that another component created. */
  id: string
  /** The revision hash in the pod's label. */
  hash: string
  state: LifecycleState
  /** Running, ready, and not held by a hook or an update. */
  isReady: boolean
  /** Ready for at least minReadySeconds. */
  isAvailable: boolean
  /** True if its labels request its deletion. `podsToDelete` may request it as well. */
  isMarked: boolean
  /** True if no action is due regardless of the set: its lifecycle state is final, and its gates are open. */
  isSettled: boolean
}

/** Reads a pod. */
export function memberOf(set: CloneSet, pod: Pod, nowMs: number): Member {
  const { labels = {} } = pod.metadata
  const state: LifecycleState = lifecycleStateOf(pod)
  const isNormal = state === '' || state === 'Normal'
  const isReady = isNormal && pod.status?.phase === 'Running' && isPodReady(pod) && !isBeingUpdated(pod)
  return {
    pod,
    id: labels[instanceIdLabel] ?? '',
    hash: hashOfName(labels[revisionHashLabel] ?? ''),
    state,
    isReady,
    isAvailable: isReady && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, nowMs),
    isMarked: labels[specifiedDeleteLabel] !== undefined,
    isSettled: isNormal && pod.metadata.annotations?.[graceAnnotation] === undefined && hasOpenGates(pod),
  }
}

/** True if the gates that the set controls are open without a message. */
function hasOpenGates({ spec, status }: Pod): boolean {
  for (const { conditionType } of spec.readinessGates ?? []) {
    if (conditionType !== inPlaceUpdateReady && conditionType !== kruisePodReady) continue
    const condition = status?.conditions?.find((c) => c.type === conditionType)
    if (condition?.status !== 'True' || condition.message) return false
  }
  return true
}

function isBeingUpdated({ status }: Pod): boolean {
  const condition = status?.conditions?.find((c) => c.type === inPlaceUpdateReady)
  return condition !== undefined && condition.status !== 'True'
}

/** The input for reading the pods of a set, besides the pods. */
export interface Basis {
  set: CloneSet
  matches: LabelMatcher
  /** The hash of the update revision. */
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

/** A member with the actions that it needs. All fields depend on the pod, the basis and the time only. */
export interface ActiveMember extends Member {
  role: 'member'
  isUpdated: boolean
  /** True if this pod must be deleted: a user requested it, or it can never start. */
  isAsked: boolean
  /** True if an action is due: for a gate, or for the next lifecycle state. */
  isDue: boolean
  /** True if the pod is prepared for deletion and its hook still holds it. */
  isWithheld: boolean
  /** The position in the update order. Undefined for a pod that cannot be updated now. */
  turn: Turn | undefined
  /** The reason why the pod is not available. */
  cause: Cause | undefined
  /** The time at which an action or a status change is due without an event. */
  wakesAtMs: number | undefined
}

/** A terminating pod, which has been replaced already. */
interface TerminatingMember {
  role: 'going'
  pod: Pod
  cause: Cause | undefined
  wakesAtMs: number | undefined
}

/** An entry of a set's roster. A misfit is no longer selected, and is released. */
export type Entry = ActiveMember | TerminatingMember | { role: 'misfit'; pod: Pod }

/** Undefined for a finished pod, which needs no action. */
export function entryOf(basis: Basis, pod: Pod, nowMs: number): Entry | undefined {
  if (isPodActive(pod)) {
    return basis.matches(pod.metadata.labels) ? activeMemberOf(basis, pod, nowMs) : { role: 'misfit', pod }
  }
  if (!isPodTerminating(pod)) return undefined
  const cause = causeOf(basis, pod, nowMs)
  return { role: 'going', pod, cause, wakesAtMs: cause?.changesAtMs }
}

/** The time at which an entry must be read again although its pod does not change. */
export function changesAtMs(entry: Entry): number | undefined {
  if (entry.role === 'misfit') return undefined
  return soonest(entry.wakesAtMs, entry.role === 'member' && entry.turn ? rankChangesAtMs(entry.turn.rank) : undefined)
}

export function activeMemberOf(basis: Basis, pod: Pod, nowMs: number): ActiveMember {
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

/** True if a pod has no node and its own claims are missing or being deleted, so that it can never be scheduled. */
function isForsaken({ set, claimOf }: Basis, { pod, id }: Member): boolean {
  if (!set.spec.volumeClaimTemplates?.length || pod.spec.nodeName || pod.status?.phase !== 'Pending') return false
  const names = new Set(claimNamesOf(pod))
  const isLost = (name: string): boolean => names.has(name) && isGoneOrGoing(claimOf(name))
  return newClaims(set, id).some(({ metadata }) => isLost(metadata.name!))
}

const isGoneOrGoing = (claim: PersistentVolumeClaim | undefined): boolean =>
  !claim || claim.metadata.deletionTimestamp !== undefined
