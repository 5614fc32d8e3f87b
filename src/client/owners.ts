import type { KubeObject, OwnerReference } from '../api/object.ts'
import type { LabelMatcher } from '../api/selectors/label-selector.ts'
import { addFinalizer, removeFinalizer } from './finalizers.ts'
import type { ResourceType } from './resource-type.ts'

/** The owner that manages this object, if one does. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined => object.metadata.ownerReferences?.find((ref) => ref.controller === true)

/** Whether this very owner manages the object: one of the same name that is gone does not count. */
export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean => {
  const { uid } = owner.metadata
  return uid !== undefined && controllerOf(object)?.uid === uid
}

/** The same by the owner's uid. */
export const isControlledByUid = (object: KubeObject, uid: string): boolean => controllerOf(object)?.uid === uid

/** Whether a reference is to an object of this type, in whichever version. */
export const refersTo = (ref: OwnerReference, type: Pick<ResourceType, 'group' | 'kind'>): boolean => {
  const at = ref.apiVersion.indexOf('/')
  return ref.kind === type.kind && (at < 0 ? '' : ref.apiVersion.slice(0, at)) === type.group
}

export interface OwnerReferenceOptions {
  /** It manages the object; an object has at most one such owner. */
  controller?: boolean
  /** Deleting the owner in the foreground waits for the object. Default: as `controller`. */
  blockOwnerDeletion?: boolean
}

/** A reference to an owner, for `metadata.ownerReferences`. Throws for what is not stored or does not say what it is: it could never be found. */
export function ownerReference(owner: KubeObject, options: OwnerReferenceOptions = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  const { controller, blockOwnerDeletion = controller } = options
  if (!apiVersion || !kind || !metadata.name || !metadata.uid) throw new Error('an owner needs an apiVersion, a kind, a name and a uid')
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  }
}

/** What to do with objects that an owner might manage. `kept` are its own already. */
export interface Claim<T> {
  kept: T[]
  adopt: T[]
  release: T[]
}

/**
 * Decides which objects belong to an owner: its own stay while they match; those that match and nobody manages are adopted; its own that
 * no longer match are released. An owner that is being deleted neither adopts nor releases. `matches` judges the object's labels.
 */
export function claim<T extends KubeObject>(owner: KubeObject, matches: LabelMatcher, candidates: readonly T[]): Claim<T> {
  const result: Claim<T> = { kept: [], adopt: [], release: [] }
  const isOwnerDeleted = owner.metadata.deletionTimestamp !== undefined
  for (const object of candidates) {
    const { metadata } = object
    const controller = controllerOf(object)
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue
      if (matches(metadata.labels)) result.kept.push(object)
      else if (!isOwnerDeleted) result.release.push(object)
    } else if (!isOwnerDeleted && matches(metadata.labels) && !metadata.deletionTimestamp && isInReach(owner, object)) {
      result.adopt.push(object)
    }
  }
  return result
}

/** An owner in a namespace cannot own what is elsewhere. */
const isInReach = (owner: KubeObject, object: KubeObject) => !owner.metadata.namespace || owner.metadata.namespace === object.metadata.namespace

export interface OwnerPatch {
  type: 'strategic' | 'merge'
  patch: object
}

/** What makes an owner manage an object, and keeps it with `finalizer`. Fails with a conflict if the object is another one of the same name by then. */
export function adoptionPatch(type: ResourceType, object: KubeObject, reference: OwnerReference, finalizer?: string): OwnerPatch {
  const { uid, resourceVersion, ownerReferences = [] } = object.metadata
  if (hasStrategicPatch(type)) {
    return { type: 'strategic', patch: { metadata: { uid, ownerReferences: [reference], ...(finalizer ? { finalizers: [finalizer] } : {}) } } }
  }
  const others = ownerReferences.filter((ref) => ref.uid !== reference.uid)
  const { finalizers } = finalizer ? addFinalizer(object, finalizer).metadata : {}
  return { type: 'merge', patch: { metadata: { uid, resourceVersion, ownerReferences: [...others, reference], ...(finalizers ? { finalizers } : {}) } } }
}

/** What makes an owner, and its `finalizer`, let go of an object; the same holds as for adopting. */
export function releasePatch(type: ResourceType, object: KubeObject, ownerUid: string, finalizer?: string): OwnerPatch {
  const { uid, resourceVersion, ownerReferences = [] } = object.metadata
  if (hasStrategicPatch(type)) {
    const without = finalizer ? { '$deleteFromPrimitiveList/finalizers': [finalizer] } : {}
    return { type: 'strategic', patch: { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: ownerUid }], ...without } } }
  }
  const others = ownerReferences.filter((ref) => ref.uid !== ownerUid)
  const finalizers = finalizer ? { finalizers: removeFinalizer(object, finalizer).metadata.finalizers ?? null } : {}
  return { type: 'merge', patch: { metadata: { uid, resourceVersion, ownerReferences: others.length ? others : null, ...finalizers } } }
}

/** Custom resources have no strategic merge: theirs name the version, because a merge patch replaces the whole list. */
const hasStrategicPatch = ({ group }: ResourceType) => !group.includes('.') || group.endsWith('.k8s.io')
