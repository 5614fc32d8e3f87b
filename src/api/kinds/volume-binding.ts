import type { ObjectReference, PersistentVolume, PersistentVolumeClaim } from '../generated/types.ts'
import type { KubeObject } from '../object.ts'

/** On a claim: it has had its volume. Without the volume it is lost from then on. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed'
/** On a claim or volume: who it is bound to was chosen by the controller, not by a user. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller'
/** On a volume: who made it, and will delete it. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by'
/** On a claim: who is to make a volume for it, under its present and its old name. */
export const storageProvisioners = ['volume.beta.kubernetes.io/storage-provisioner', 'volume.kubernetes.io/storage-provisioner'] as const
/** On a claim whose class waits for a consumer: the node of that consumer. */
export const selectedNode = 'volume.kubernetes.io/selected-node'

/** The value of an annotation; '' if there is none. */
export const annotationOf = ({ metadata }: KubeObject, name: string): string => metadata.annotations?.[name] ?? ''

/** The key of the claim that a volume is meant for. */
export const claimKeyOf = ({ spec: { claimRef } }: PersistentVolume): string | undefined => claimRef && `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`

/** Whether a volume is meant for a claim: by its name, and by its uid where that is said. */
export function isBoundTo({ spec: { claimRef } }: PersistentVolume, { metadata: { namespace, name, uid } }: PersistentVolumeClaim): boolean {
  return claimRef !== undefined && claimRef.name === name && claimRef.namespace === namespace && (!claimRef.uid || claimRef.uid === uid)
}

/** How a volume refers to its claim. */
export const referenceToClaim = ({ metadata: { namespace, name, uid, resourceVersion } }: PersistentVolumeClaim): ObjectReference => ({
  kind: 'PersistentVolumeClaim',
  namespace,
  name,
  uid,
  apiVersion: 'v1',
  resourceVersion,
})

/** The volume as one that belongs to the claim; the same object if it does already. */
export function boundVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  if (isBoundTo(volume, claim) && volume.spec.claimRef?.uid === claim.metadata.uid) return volume
  const bound = { ...volume, spec: { ...volume.spec, claimRef: referenceToClaim(claim) } }
  return isBoundTo(volume, claim) ? bound : annotated(bound, { [boundByController]: 'yes' })
}

/** The claim as one that has the volume; the same object if it has it already. */
export function boundClaim(claim: PersistentVolumeClaim, { metadata: { name } }: PersistentVolume): PersistentVolumeClaim {
  const isChosen = claim.spec.volumeName === name
  const bound = isChosen ? claim : { ...claim, spec: { ...claim.spec, volumeName: name } }
  return annotated(bound, { ...(isChosen ? {} : { [boundByController]: 'yes' }), [bindCompleted]: 'yes' })
}

/** The volume without the claim that the controller chose for it; what a user chose stays, without the uid. */
export function unboundVolume(volume: PersistentVolume): PersistentVolume {
  const { claimRef, ...spec } = volume.spec
  const { [boundByController]: byController, ...annotations } = volume.metadata.annotations ?? {}
  if (byController !== undefined) return { ...volume, metadata: { ...volume.metadata, annotations }, spec }
  const { uid: _uid, ...reserved } = claimRef ?? {}
  return { ...volume, spec: { ...spec, claimRef: reserved } }
}

/** The object with these annotations; the same object if it has them. */
export function annotated<T extends KubeObject>(object: T, annotations: Readonly<Record<string, string>>): T {
  const { metadata } = object
  if (Object.entries(annotations).every(([name, value]) => metadata.annotations?.[name] === value)) return object
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }
}
