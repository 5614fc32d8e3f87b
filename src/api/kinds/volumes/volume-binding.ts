import type { ObjectReference, PersistentVolume, PersistentVolumeClaim } from '../../generated/types.ts'
import type { KubeObject } from '../../object.ts'

/** On a claim: its binding has completed. If the volume disappears afterwards, the claim is lost. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed'
/** On a claim or volume: the controller, not the user, chose its counterpart. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller'
/** On a volume: the provisioner that created it and will delete it. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by'
/** On a claim: the provisioner that must create its volume, under its current and its beta name. */
export const storageProvisioners = [
  'volume.beta.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-provisioner',
] as const
/** On a claim with WaitForFirstConsumer: the node of its consumer. */
export const selectedNode = 'volume.kubernetes.io/selected-node'

/** The value of an annotation; '' if it is absent. */
export const annotationOf = ({ metadata }: KubeObject, name: string): string => metadata.annotations?.[name] ?? ''

/** The key of the claim in a volume's claimRef. */
export const claimKeyOf = ({ spec: { claimRef } }: PersistentVolume): string | undefined =>
  claimRef && `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`

/** True if a volume's claimRef refers to a claim: by name, and by uid if it has one. */
export function isBoundTo(
  { spec: { claimRef } }: PersistentVolume,
  { metadata: { namespace, name, uid } }: PersistentVolumeClaim,
): boolean {
  return (
    claimRef !== undefined &&
    claimRef.name === name &&
    claimRef.namespace === namespace &&
    (!claimRef.uid || claimRef.uid === uid)
  )
}

/** The claimRef of a claim. */
export const referenceToClaim = ({
  metadata: { namespace, name, uid, resourceVersion },
}: PersistentVolumeClaim): ObjectReference => ({
  kind: 'PersistentVolumeClaim',
  namespace,
  name,
  uid,
  apiVersion: 'v1',
  resourceVersion,
})

/** The volume bound to the claim; the same object if it is bound already. */
export function boundVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): PersistentVolume {
  if (isBoundTo(volume, claim) && volume.spec.claimRef?.uid === claim.metadata.uid) return volume
  const bound = { ...volume, spec: { ...volume.spec, claimRef: referenceToClaim(claim) } }
  return isBoundTo(volume, claim) ? bound : annotated(bound, { [boundByController]: 'yes' })
}

/** The claim bound to the volume; the same object if it is bound already. */
export function boundClaim(
  claim: PersistentVolumeClaim,
  { metadata: { name } }: PersistentVolume,
): PersistentVolumeClaim {
  const isChosen = claim.spec.volumeName === name
  const bound = isChosen ? claim : { ...claim, spec: { ...claim.spec, volumeName: name } }
  return annotated(bound, { ...(isChosen ? {} : { [boundByController]: 'yes' }), [bindCompleted]: 'yes' })
}

/** The volume without the claimRef that the controller set. A claimRef that a user set stays, without the uid. */
export function unboundVolume(volume: PersistentVolume): PersistentVolume {
  const { claimRef, ...spec } = volume.spec
  const { [boundByController]: byController, ...annotations } = volume.metadata.annotations ?? {}
  if (byController !== undefined) return { ...volume, metadata: { ...volume.metadata, annotations }, spec }
  const { uid: _uid, ...reserved } = claimRef ?? {}
  return { ...volume, spec: { ...spec, claimRef: reserved } }
}

/** The object with these annotations added; the same object if it has them. */
export function annotated<T extends KubeObject>(object: T, annotations: Readonly<Record<string, string>>): T {
  const { metadata } = object
  if (Object.entries(annotations).every(([name, value]) => metadata.annotations?.[name] === value)) return object
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }
}
