import type { KubeObject, OwnerReference } from '../api/object.ts'
import type { LabelMatcher } from '../api/selectors/label-selector.ts'
import { addFinalizer, removeFinalizer } from './finalizers.ts'
import type { ResourceType } from './resource-type.ts'

/** Returns the controller reference of an object, if there is one. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((ref) => ref.controller === true)

/** Returns true if this owner controls the object, compared by uid. */
export const isControlledBy = (object: KubeObject, owner: KubeObject): boolean => {
  const { uid } = owner.metadata
  return uid !== undefined && controllerOf(object)?.uid === uid
}

/** Compares by the owner's uid. */
export const isControlledByUid = (object: KubeObject, uid: string): boolean => controllerOf(object)?.uid === uid

/** Returns true if a reference names this type, in any version. */
export const refersTo = (ref: OwnerReference, type: Pick<ResourceType, 'group' | 'kind'>): boolean => {
  const at = ref.apiVersion.indexOf('/')
  return ref.kind === type.kind && (at < 0 ? '' : ref.apiVersion.slice(0, at)) === type.group
}

export interface OwnerReferenceOptions {
  /** The owner controls the object; an object has at most one controller. */
  controller?: boolean
  /** Foreground deletion of the owner waits for the object. Default: as `controller`. */
  blockOwnerDeletion?: boolean
}

/**
 * Returns an owner reference for `metadata.ownerReferences`. Throws for an object without uid, or whose kind is
 * unknown: the reference could not be resolved.
 */
export function ownerReference(owner: KubeObject, options: OwnerReferenceOptions = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  const { controller, blockOwnerDeletion = controller } = options
  if (!apiVersion || !kind || !metadata.name || !metadata.uid)
    throw new Error('an owner needs an apiVersion, a kind, a name and a uid')
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  }
}

/** The result of `claim`. `kept` are the objects that the owner already controls. */
export interface Claim<T> {
  kept: T[]
  adopt: T[]
  release: T[]
}

/**
 * Decides which objects an owner controls: it keeps controlled objects that match, adopts matching objects without a
 * controller, and releases controlled objects that no longer match. An owner that is being deleted neither adopts nor
 * releases. `matches` tests the object's labels.
 */
export function claim<T extends KubeObject>(
  owner: KubeObject,
  matches: LabelMatcher,
  candidates: readonly T[],
): Claim<T> {
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

/** A namespaced owner cannot own objects elsewhere. */
const isInReach = (owner: KubeObject, object: KubeObject) =>
  !owner.metadata.namespace || owner.metadata.namespace === object.metadata.namespace

export interface OwnerPatch {
  type: 'strategic' | 'merge'
  patch: object
}

/**
 * Returns the patch that adopts an object, and adds `finalizer`. Fails with a conflict if the object was replaced by
 * another one of the same name.
 */
export function adoptionPatch(
  type: ResourceType,
  object: KubeObject,
  reference: OwnerReference,
  finalizer?: string,
): OwnerPatch {
  const { uid, resourceVersion, ownerReferences = [] } = object.metadata
  if (hasStrategicPatch(type)) {
    return {
      type: 'strategic',
      patch: { metadata: { uid, ownerReferences: [reference], ...(finalizer ? { finalizers: [finalizer] } : {}) } },
    }
  }
  const others = ownerReferences.filter((ref) => ref.uid !== reference.uid)
  const { finalizers } = finalizer ? addFinalizer(object, finalizer).metadata : {}
  return {
    type: 'merge',
    patch: {
      metadata: {
        uid,
        resourceVersion,
        ownerReferences: [...others, reference],
        ...(finalizers ? { finalizers } : {}),
      },
    },
  }
}

/** Returns the patch that releases an object and removes `finalizer`; the uid is checked as for adoption. */
export function releasePatch(type: ResourceType, object: KubeObject, ownerUid: string, finalizer?: string): OwnerPatch {
  const { uid, resourceVersion, ownerReferences = [] } = object.metadata
  if (hasStrategicPatch(type)) {
    const without = finalizer ? { '$deleteFromPrimitiveList/finalizers': [finalizer] } : {}
    return {
      type: 'strategic',
      patch: { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: ownerUid }], ...without } },
    }
  }
  const others = ownerReferences.filter((ref) => ref.uid !== ownerUid)
  const finalizers = finalizer ? { finalizers: removeFinalizer(object, finalizer).metadata.finalizers ?? null } : {}
  return {
    type: 'merge',
    patch: { metadata: { uid, resourceVersion, ownerReferences: others.length ? others : null, ...finalizers } },
  }
}

/**
 * Custom resources do not support strategic merge. Their patch contains the resourceVersion, because a merge patch
 * replaces whole lists.
 */
const hasStrategicPatch = ({ group }: ResourceType) => !group.includes('.') || group.endsWith('.k8s.io')
