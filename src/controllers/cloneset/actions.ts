import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import type { RevisionAction } from '../kit/index.ts'
import type { Revision } from './revision.ts'

/** Changes to a pod that runs, both strategic merges. `status` goes first, to the status subresource. */
export interface PodPatch {
  status?: object
  pod?: object
}

/** Changes a pod to another revision as it runs. */
export interface UpdateInPlace {
  kind: 'UpdateInPlace'
  pod: Pod
  patch: PodPatch
  /** The name of the revision that it is changed to. */
  revision: string
}

/** Changes what a pod says about the state it is in. */
export interface PatchLifecycle {
  kind: 'PatchLifecycle'
  pod: Pod
  patch: PodPatch
}

/** Makes a pod, and first the claims that it lacks. */
export interface CreatePod {
  kind: 'CreatePod'
  revision: Revision
  /** The instance id whose claims are used again. Without it the pod gets a new one. */
  id?: string
}

/** Deletes a pod, and then its claims. */
export interface DeletePod {
  kind: 'DeletePod'
  pod: Pod
  claims: readonly PersistentVolumeClaim[]
}

/** Says that a pod cannot be updated as the strategy wants it. */
export interface RefuseUpdate {
  kind: 'RefuseUpdate'
  pod: Pod
  why: string
}

export type Action =
  | RevisionAction
  | { kind: 'AdoptPod'; pod: Pod }
  | { kind: 'ReleasePod'; pod: Pod }
  | CreatePod
  | DeletePod
  | UpdateInPlace
  | PatchLifecycle
  | RefuseUpdate
  /** A claim that is not to be used again goes with its pod. */
  | { kind: 'LeaveClaim'; claim: PersistentVolumeClaim; pod: Pod }
  | { kind: 'DeleteClaim'; claim: PersistentVolumeClaim }
  /** What is left of `podsToDelete`: names that no pod has any more are taken out. */
  | { kind: 'TrimPodsToDelete'; left: readonly string[] }
