import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  LabelSelector,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../api/generated/types.ts'
import type { Pod } from '../../api/generated/types.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { VolumePlans } from './volume-binding/volume-plans.ts'

/** The state that plugins may read, which is all in memory. */
export interface World {
  readonly cluster: Cluster
  namespaceLabels(namespace: string): Labels
  /** The selectors of the services and the set that a pod belongs to. Empty for a pod of its own. */
  siblingSelectors(pod: Pod): readonly LabelSelector[]
  /** By `namespace/name`. */
  claim(key: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  volumesOfClass(name: string): readonly PersistentVolume[]
  storageClass(name: string): StorageClass | undefined
  csiNode(name: string): CSINode | undefined
  csiDriver(name: string): CSIDriver | undefined
  storageCapacities(storageClass: string): readonly CSIStorageCapacity[]
  /** The assigned volumes that the API does not show yet. */
  readonly volumePlans: VolumePlans
}
