import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/generated/types.ts'
import {
  betaStorageClass,
  isDefaultStorageClass,
  newestClass,
  storageClassOf,
} from '../../api/kinds/volumes/storage-classes.ts'
import { bindCompleted, claimKeyOf, selectedNode } from '../../api/kinds/volumes/volume-binding.ts'
import { isDelayed } from '../../api/kinds/volumes/volume-matching.ts'
import { keyOf, nodes, persistentvolumeclaims, persistentvolumes, storageclasses } from '../../client/index.ts'
import { type CacheIndex, type Caches, type ObserveContext, indexing } from '../kit/index.ts'
import { isPodActive, podsOfClaim } from '../kit/workload/index.ts'

const byVolume = 'volume-name'
const waitingByClass = 'waiting-in-class'
const byClaim = 'claim'
const freeByClass = 'free-in-class'

/** Reports whether a claim has never been bound. */
export const isUnbound = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[bindCompleted] === undefined

/** Claims by the name of their volume. */
const claimsByVolume = indexing(persistentvolumeclaims, byVolume, ({ spec }) =>
  spec.volumeName ? [spec.volumeName] : [],
)

/** Unbound claims by class. */
const waitingClaims = indexing(persistentvolumeclaims, waitingByClass, (claim) =>
  isUnbound(claim) && !claim.spec.volumeName ? [storageClassOf(claim)] : [],
)

/** Volumes by the claim that they are reserved for. */
const volumesByClaim = indexing(persistentvolumes, byClaim, (volume) =>
  [claimKeyOf(volume)].filter((key) => key !== undefined),
)

/** Volumes without a claim, by class. */
const freeVolumes = indexing(persistentvolumes, freeByClass, (volume) =>
  volume.spec.claimRef ? [] : [storageClassOf(volume)],
)

export const claimIndexes: readonly CacheIndex[] = [claimsByVolume, waitingClaims, volumesByClaim, freeVolumes]
export const volumeIndexes: readonly CacheIndex[] = [volumesByClaim]

/** The keys of the claims that name a volume. */
export const claimsNaming = (caches: Caches, volume: string): string[] =>
  caches.byIndex(persistentvolumeclaims, byVolume, volume).map(keyOf)

/** The unbound claims of a class. */
export const claimsWaiting = (caches: Caches, storageClass: string): PersistentVolumeClaim[] =>
  caches.byIndex(persistentvolumeclaims, waitingByClass, storageClass)

/** The volumes that are reserved for a claim. */
export const volumesFor = (caches: Caches, claimKey: string): PersistentVolume[] =>
  caches.byIndex(persistentvolumes, byClaim, claimKey)

/** The volumes of a class without a claim. */
const volumesFree = (caches: Caches, storageClass: string): PersistentVolume[] =>
  caches.byIndex(persistentvolumes, freeByClass, storageClass)

/** The node of a consumer. The object may be missing, because pods can be bound to nodes that do not exist yet. */
interface ConsumerNode {
  name: string
  node: Node | undefined
}

/** The input of a reconcile. */
export interface Observed {
  claim: PersistentVolumeClaim
  /** The volume that the claim names. */
  volume: PersistentVolume | undefined
  /** The volumes that an unbound claim could use: available ones, and those that are reserved for it. */
  candidates: readonly PersistentVolume[]
  storageClass: StorageClass | undefined
  /** The default class for a claim without a class. */
  defaultClass: string | undefined
  /** Unscheduled pods that wait for the claim, if the class waits for a consumer. */
  unscheduled: readonly string[]
  consumer: ConsumerNode | undefined
  /** The last event that was emitted. */
  told: string | undefined
}

export function observe({ caches, remembered }: ObserveContext, claim: PersistentVolumeClaim): Observed {
  const { volumeName } = claim.spec
  const className = storageClassOf(claim)
  const isLooking = isUnbound(claim) && !volumeName
  const storageClass = isLooking && className ? caches.get(storageclasses, '', className) : undefined
  const waits = isDelayed(storageClass) && claim.metadata.annotations?.[selectedNode] === undefined
  const consumers = waits ? podsOfClaim(caches, keyOf(claim)).filter(isPodActive) : []
  return {
    claim,
    volume: volumeName ? caches.get(persistentvolumes, '', volumeName) : undefined,
    candidates: isLooking ? [...volumesFor(caches, keyOf(claim)), ...volumesFree(caches, className)] : [],
    storageClass,
    defaultClass:
      isLooking && hasNoClass(claim)
        ? newestClass(caches.list(storageclasses).filter(isDefaultStorageClass))?.metadata.name
        : undefined,
    unscheduled: consumers
      .filter(({ spec }) => !spec.nodeName)
      .map(({ metadata }) => metadata.name!)
      .toSorted(),
    consumer: nodeOf(consumers, caches),
    told: remembered as string | undefined,
  }
}

/** Reports whether the class of a claim is not set, not even to the empty class. */
const hasNoClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  spec.storageClassName === undefined && metadata.annotations?.[betaStorageClass] === undefined

/** The node of the first scheduled consumer by name. */
function nodeOf(consumers: readonly Pod[], caches: Caches): ConsumerNode | undefined {
  const [first] = consumers
    .filter(({ spec }) => spec.nodeName)
    .toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  const name = first?.spec.nodeName
  return name ? { name, node: caches.get(nodes, '', name) } : undefined
}
