import type { Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../generated/types.ts'
import { compareQuantity, quantityValue } from '../quantity.ts'
import { compileLabelSelector } from '../selectors/label-selector.ts'
import { compileNodeSelector } from './node-matching.ts'
import { storageClassOf } from './storage-class-name.ts'
import { isBoundTo } from './volume-binding.ts'

/** How much a claim asks for. */
export const requestedStorage = ({ spec }: PersistentVolumeClaim): string => spec.resources?.requests?.['storage'] ?? '0'

/** How much a volume has. */
export const capacityOf = ({ spec }: PersistentVolume): string => spec.capacity?.['storage'] ?? '0'

/** Whether claims of the class get their volume only once a pod that uses them has its node. */
export const isDelayed = (storageClass: StorageClass | undefined): boolean => storageClass?.volumeBindingMode === 'WaitForFirstConsumer'

const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec.volumeMode ?? 'Filesystem'

const hasModes = ({ spec: { accessModes = [] } }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (claim.spec.accessModes ?? []).every((mode) => accessModes.includes(mode))

/** Whether pods on the node can use the volume. */
export const isReachableFrom = ({ spec: { nodeAffinity } }: PersistentVolume, node: Node): boolean =>
  nodeAffinity?.required === undefined || compileNodeSelector(nodeAffinity.required)(node)

/** Why a claim cannot have the volume that it names, in Kubernetes' words; undefined if it can. */
export function whyUnfit(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`
  if (quantityValue(capacityOf(volume)) < quantityValue(requestedStorage(claim))) return 'requested PV is too small'
  if (storageClassOf(volume) !== storageClassOf(claim)) return 'storageClassName does not match'
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode'
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode'
}

/** Whether volume and claim are of the same sort: files or a device. */
export const isSameSort = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean => modeOf(volume) === modeOf(claim)

export interface Wanted {
  /** Only volumes that are meant for this claim: any other has to wait for a consumer's node. */
  onlyReserved?: boolean
  /** Where the pod runs that is going to use it. */
  node?: Node
}

/**
 * The volume that a claim gets: one that is meant for it, or else the smallest that has all that is asked for. Volumes with fewer access modes come first,
 * so that those which can do more are kept for whoever needs it; of equals the first by name.
 */
export function matchingVolume(claim: PersistentVolumeClaim, volumes: readonly PersistentVolume[], { onlyReserved, node }: Wanted = {}): PersistentVolume | undefined {
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
  // One that is meant for the claim but out of reach is no reason to take another.
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

/** What even a volume that is meant for the claim must have. */
const couldServe = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  !volume.metadata.deletionTimestamp &&
  compareQuantity(capacityOf(volume), requestedStorage(claim)) >= 0 &&
  isSameSort(volume, claim) &&
  (volume.spec.volumeAttributesClassName ?? '') === (claim.spec.volumeAttributesClassName ?? '') &&
  hasModes(volume, claim)
