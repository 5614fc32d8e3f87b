import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../generated/types.ts'
import { compareQuantity, quantityValue } from '../../numbers/quantity.ts'
import { compileLabelSelector } from '../../selectors/label-selector.ts'
import { compileNodeSelector } from '../placement/node-matching.ts'
import { storageClassOf } from './storage-classes.ts'
import { isBoundTo } from './volume-binding.ts'

/** The requested storage of a claim. */
export const requestedStorage = ({ spec }: PersistentVolumeClaim): string =>
  spec.resources?.requests?.['storage'] ?? '0'

/** The capacity of a volume. */
export const capacityOf = ({ spec }: PersistentVolume): string => spec.capacity?.['storage'] ?? '0'

/** True if the class binds a claim only after a pod that uses it is scheduled (WaitForFirstConsumer). */
export const isDelayed = (storageClass: StorageClass | undefined): boolean =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer'

const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec.volumeMode ?? 'Filesystem'

const hasModes = ({ spec: { accessModes = [] } }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (claim.spec.accessModes ?? []).every((mode) => accessModes.includes(mode))

/** True if the volume is accessible from the node. */
export const isReachableFrom = ({ spec: { nodeAffinity } }: PersistentVolume, node: Node): boolean =>
  nodeAffinity?.required === undefined || compileNodeSelector(nodeAffinity.required)(node)

/** The reason why a claim cannot be bound to the volume that it names, in Kubernetes' words; undefined if it can. */
export function whyUnfit(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp)
    return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`
  if (quantityValue(capacityOf(volume)) < quantityValue(requestedStorage(claim))) return 'requested PV is too small'
  if (storageClassOf(volume) !== storageClassOf(claim)) return 'storageClassName does not match'
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode'
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode'
}

/** True if volume and claim have the same volume mode. */
export const isSameSort = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  modeOf(volume) === modeOf(claim)

export interface Wanted {
  /** Consider only volumes whose claimRef is this claim: other volumes wait for the consumer's node. */
  onlyReserved?: boolean
  /** The node of the pod that will use the claim. */
  node?: Node
}

/**
 * The volume for a claim: one whose claimRef is the claim, otherwise the smallest that satisfies it. Volumes with fewer
 * access modes are preferred, so that more capable ones stay free; ties are broken by name.
 */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  { onlyReserved, node }: Wanted = {},
): PersistentVolume | undefined {
  const fitting = volumes.filter((volume) => couldServe(volume, claim))
  const reserved = fitting.filter((volume) => isBoundTo(volume, claim))
  const isSelected = claim.spec.selector ? compileLabelSelector(claim.spec.selector) : () => true
  const isFree = (volume: PersistentVolume) =>
    volume.spec.claimRef === undefined &&
    volume.status?.phase === 'Available' &&
    storageClassOf(volume) === storageClassOf(claim) &&
    isSelected(volume.metadata.labels) &&
    (!node || isReachableFrom(volume, node))
  const candidates = [...reserved, ...(onlyReserved ? [] : fitting.filter(isFree))]
  // A volume with a claimRef to the claim is the only choice, even if the node cannot access it.
  if (node && reserved.some((volume) => !isReachableFrom(volume, node))) return undefined
  const rank = (volume: PersistentVolume) => (node ? 0 : new Set(volume.spec.accessModes).size)
  return candidates.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      Number(isBoundTo(b, claim)) - Number(isBoundTo(a, claim)) ||
      compareQuantity(capacityOf(a), capacityOf(b)) ||
      (a.metadata.name! < b.metadata.name! ? -1 : 1),
  )[0]
}

/** Conditions that even a volume with a claimRef to the claim must meet. */
const couldServe = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  !volume.metadata.deletionTimestamp &&
  compareQuantity(capacityOf(volume), requestedStorage(claim)) >= 0 &&
  isSameSort(volume, claim) &&
  (volume.spec.volumeAttributesClassName ?? '') === (claim.spec.volumeAttributesClassName ?? '') &&
  hasModes(volume, claim)
