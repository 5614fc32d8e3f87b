import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/generated/types.ts'
import { isDefaultStorageClass, newestClass } from '../../api/kinds/default-class.ts'
import { betaStorageClass, storageClassOf } from '../../api/kinds/storage-class-name.ts'
import { selectedNode } from '../../api/kinds/volume-binding.ts'
import { isDelayed } from '../../api/kinds/volume-matching.ts'
import { keyOf, nodes, persistentvolumes, storageclasses } from '../../client/index.ts'
import type { Caches, ObserveContext } from '../kit/index.ts'
import { isPodActive, podsOfClaim } from '../kit/workload/index.ts'
import { isUnbound, volumesFor, volumesFree } from './indexes.ts'

/** The node of a consumer. Its object may be missing: pods can be bound to nodes that are not there yet. */
export interface ConsumerNode {
  name: string
  node: Node | undefined
}

/** All that is known of a claim when it is decided about. */
export interface Observed {
  claim: PersistentVolumeClaim
  /** The one that the claim names. */
  volume: PersistentVolume | undefined
  /** Those that a claim without a volume could get: nobody has them, or they are meant for it. */
  candidates: readonly PersistentVolume[]
  storageClass: StorageClass | undefined
  /** What a claim without a class would get. */
  defaultClass: string | undefined
  /** Pods that wait for the claim and have no node, where that matters. */
  unscheduled: readonly string[]
  consumer: ConsumerNode | undefined
  /** What users were told last. */
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
    defaultClass: isLooking && hasNoClass(claim) ? newestClass(caches.list(storageclasses).filter(isDefaultStorageClass))?.metadata.name : undefined,
    unscheduled: consumers.filter(({ spec }) => !spec.nodeName).map(({ metadata }) => metadata.name!).toSorted(),
    consumer: nodeOf(consumers, caches),
    told: remembered as string | undefined,
  }
}

/** Whether the claim does not even say that it wants none. */
const hasNoClass = ({ metadata, spec }: PersistentVolumeClaim): boolean => spec.storageClassName === undefined && metadata.annotations?.[betaStorageClass] === undefined

/** Of several consumers that have their node, the first by name decides. */
function nodeOf(consumers: readonly Pod[], caches: Caches): ConsumerNode | undefined {
  const [first] = consumers.filter(({ spec }) => spec.nodeName).toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  const name = first?.spec.nodeName
  return name ? { name, node: caches.get(nodes, '', name) } : undefined
}
