import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import type { OwnerReference } from '../../api/object.ts'
import { type ResourceType, apiVersionOf, ownerReference, pods, refersTo, statefulsets } from '../../client/index.ts'

interface Policy {
  whenDeleted: string
  whenScaled: string
}

const policyOf = ({ spec }: StatefulSet): Policy => ({ whenDeleted: 'Retain', whenScaled: 'Retain', ...spec.persistentVolumeClaimRetentionPolicy })

/** Whether a reference is to what has this name now, or had it before. */
const isToSet = (ref: OwnerReference, set: StatefulSet): boolean => refersTo(ref, statefulsets) && ref.name === set.metadata.name
const isToPod = (ref: OwnerReference, podName: string): boolean => refersTo(ref, pods) && ref.name === podName

/** Cached objects do not always say what they are. */
const reference = <T extends Pod | StatefulSet>(type: ResourceType<T>, object: T): OwnerReference =>
  ownerReference({ ...object, apiVersion: apiVersionOf(type), kind: type.kind }, { controller: true })

/**
 * The owners a claim should have so that it goes, or stays, with them as the set's policy says; undefined if it has just these. A claim that goes when
 * the set is scaled down belongs to its pod once that is to go, and before that to the set if it goes with that.
 */
export function ownersDue(set: StatefulSet, pod: Pod, isCondemned: boolean, claim: PersistentVolumeClaim): OwnerReference[] | undefined {
  const { name = '', uid } = pod.metadata
  // It goes with one that is gone: only the garbage collector knows what becomes of it.
  if (isForsaken(set, name, uid, claim)) return undefined
  const { whenDeleted, whenScaled } = policyOf(set)
  const refs = claim.metadata.ownerReferences ?? []
  const others = refs.filter((ref) => !isToSet(ref, set) && !isToPod(ref, name))
  // Where somebody else manages it, what becomes of it is their business alone.
  const isForeign = others.some((ref) => ref.controller)
  const due = isForeign ? undefined : whenScaled === 'Delete' && isCondemned ? reference(pods, pod) : whenDeleted === 'Delete' ? reference(statefulsets, set) : undefined
  const isDue = due ? refs.length === others.length + 1 && refs.some((ref) => ref.uid === due.uid && ref.controller) : refs.length === others.length
  return isDue ? undefined : due ? [...others, due] : others
}

/**
 * Whether a claim is on its way out, so that a new pod must not have it: it is being deleted, or belongs to a pod or a set of the same name that is
 * gone.
 */
export const isLeaving = (set: StatefulSet, podName: string, claim: PersistentVolumeClaim): boolean =>
  claim.metadata.deletionTimestamp !== undefined || isForsaken(set, podName, undefined, claim)

/** Whether a claim belongs to an earlier set, or an earlier pod, of this name. */
function isForsaken(set: StatefulSet, podName: string, podUid: string | undefined, { metadata: { ownerReferences = [] } }: PersistentVolumeClaim): boolean {
  return ownerReferences.some((ref) => (isToSet(ref, set) && ref.uid !== set.metadata.uid) || (isToPod(ref, podName) && ref.uid !== podUid))
}
