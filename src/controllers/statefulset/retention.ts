import type { PersistentVolumeClaim, Pod, StatefulSet } from '../../api/generated/types.ts'
import type { OwnerReference } from '../../api/object.ts'
import { type ResourceType, apiVersionOf, ownerReference, pods, refersTo, statefulsets } from '../../client/index.ts'

interface Policy {
  whenDeleted: string
  whenScaled: string
}

const policyOf = ({ spec }: StatefulSet): Policy => ({ whenDeleted: 'Retain', whenScaled: 'Retain', ...spec.persistentVolumeClaimRetentionPolicy })

const isToSet = (ref: OwnerReference, set: StatefulSet): boolean => refersTo(ref, statefulsets) && ref.name === set.metadata.name
const isToPod = (ref: OwnerReference, pod: Pod): boolean => refersTo(ref, pods) && ref.name === pod.metadata.name

/** Cached objects do not always say what they are. */
const reference = <T extends Pod | StatefulSet>(type: ResourceType<T>, object: T): OwnerReference =>
  ownerReference({ ...object, apiVersion: apiVersionOf(type), kind: type.kind }, { controller: true })

/**
 * The owners a claim should have so that it goes, or stays, with them as the set's policy says; undefined if it has just these. A claim that goes when
 * the set is scaled down belongs to its pod once that is to go, and before that to the set if it goes with that.
 */
export function ownersDue(set: StatefulSet, pod: Pod, isCondemned: boolean, claim: PersistentVolumeClaim): OwnerReference[] | undefined {
  const { whenDeleted, whenScaled } = policyOf(set)
  const refs = claim.metadata.ownerReferences ?? []
  const others = refs.filter((ref) => !isToSet(ref, set) && !isToPod(ref, pod))
  // Somebody else manages it: what becomes of it is their business.
  if (others.some((ref) => ref.controller)) return undefined
  const due = whenScaled === 'Delete' && isCondemned ? reference(pods, pod) : whenDeleted === 'Delete' ? reference(statefulsets, set) : undefined
  const isDue = due ? refs.length === others.length + 1 && refs.some((ref) => ref.uid === due.uid && ref.controller) : refs.length === others.length
  return isDue ? undefined : due ? [...others, due] : others
}

/** Whether a claim belongs to an earlier pod of this name, and will go with it: a new pod must not have it. */
export function isStaleClaim(set: StatefulSet, podName: string, claim: PersistentVolumeClaim, livingPodUid: string | undefined): boolean {
  if (policyOf(set).whenScaled === 'Retain') return false
  return claim.metadata.ownerReferences?.some((ref) => refersTo(ref, pods) && ref.name === podName && ref.uid !== livingPodUid) ?? false
}
