import type { PersistentVolume, PersistentVolumeClaim } from '../../api/generated/types.ts'
import { storageClassOf } from '../../api/kinds/storage-class-name.ts'
import { bindCompleted, claimKeyOf } from '../../api/kinds/volume-binding.ts'
import { keyOf, persistentvolumeclaims, persistentvolumes } from '../../client/index.ts'
import { type CacheIndex, type Caches, indexing } from '../kit/index.ts'

const byVolume = 'volume-name'
const waitingByClass = 'waiting-in-class'
const byClaim = 'claim'
const freeByClass = 'free-in-class'

/** Whether a claim has never had a volume. */
export const isUnbound = ({ metadata }: PersistentVolumeClaim): boolean => metadata.annotations?.[bindCompleted] === undefined

/** Claims by the volume they name. */
const claimsByVolume = indexing(persistentvolumeclaims, byVolume, ({ spec }) => (spec.volumeName ? [spec.volumeName] : []))

/** Claims that look for a volume, by class. */
const waitingClaims = indexing(persistentvolumeclaims, waitingByClass, (claim) => (isUnbound(claim) && !claim.spec.volumeName ? [storageClassOf(claim)] : []))

/** Volumes by the claim they are meant for. */
const volumesByClaim = indexing(persistentvolumes, byClaim, (volume) => [claimKeyOf(volume)].filter((key) => key !== undefined))

/** Volumes that nobody has, by class. */
const freeVolumes = indexing(persistentvolumes, freeByClass, (volume) => (volume.spec.claimRef ? [] : [storageClassOf(volume)]))

export const claimIndexes: readonly CacheIndex[] = [claimsByVolume, waitingClaims, volumesByClaim, freeVolumes]
export const volumeIndexes: readonly CacheIndex[] = [volumesByClaim]

/** Keys of the claims that name a volume. */
export const claimsNaming = (caches: Caches, volume: string): string[] => caches.byIndex(persistentvolumeclaims, byVolume, volume).map(keyOf)

/** Claims of a class that look for a volume. */
export const claimsWaiting = (caches: Caches, storageClass: string): PersistentVolumeClaim[] => caches.byIndex(persistentvolumeclaims, waitingByClass, storageClass)

/** Volumes that are meant for a claim. */
export const volumesFor = (caches: Caches, claimKey: string): PersistentVolume[] => caches.byIndex(persistentvolumes, byClaim, claimKey)

/** Volumes of a class that nobody has. */
export const volumesFree = (caches: Caches, storageClass: string): PersistentVolume[] => caches.byIndex(persistentvolumes, freeByClass, storageClass)
