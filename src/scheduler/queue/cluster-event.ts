import type { CSIDriver, CSINode, CSIStorageCapacity, Node, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts'
import type { PodInfo } from '../cluster/pod-info.ts'

/** Something happened that may let pods be scheduled that could not be before. Without `before`, the object is new. */
export type ClusterEvent =
  | { kind: 'NodeAdd'; node: Node }
  | { kind: 'NodeUpdate'; before: Node; node: Node }
  | { kind: 'NodeDelete'; node: Node }
  /** A pod has its node. */
  | { kind: 'AssignedPodAdd'; pod: PodInfo }
  | { kind: 'AssignedPodUpdate'; before: PodInfo; pod: PodInfo }
  | { kind: 'AssignedPodDelete'; pod: PodInfo }
  /** The pod itself that waits. */
  | { kind: 'TargetPodUpdate'; before: PodInfo; pod: PodInfo }
  | { kind: 'PersistentVolumeClaim'; before?: PersistentVolumeClaim; claim: PersistentVolumeClaim }
  | { kind: 'PersistentVolume'; before?: PersistentVolume; volume: PersistentVolume }
  | { kind: 'StorageClass'; before?: StorageClass; storageClass: StorageClass }
  | { kind: 'CSINode'; before?: CSINode; csiNode: CSINode }
  | { kind: 'CSIDriver'; before?: CSIDriver; driver: CSIDriver }
  | { kind: 'CSIStorageCapacity'; before?: CSIStorageCapacity; capacity: CSIStorageCapacity }

export type EventKind = ClusterEvent['kind']
