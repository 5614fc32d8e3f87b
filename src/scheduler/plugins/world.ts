import type { CSIDriver, CSINode, CSIStorageCapacity, LabelSelector, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts'
import type { Pod } from '../../api/generated/types.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { VolumePlans } from './volume-binding/volume-plans.ts'

/** What plugins may know: all of it is in memory. */
export interface World {
  readonly cluster: Cluster
  namespaceLabels(namespace: string): Labels
  /** Selectors of what makes a pod one of many: the services that lead to it, the set that owns it. Empty if it is on its own. */
  siblingSelectors(pod: Pod): readonly LabelSelector[]
  /** By `namespace/name`. */
  claim(key: string): PersistentVolumeClaim | undefined
  volume(name: string): PersistentVolume | undefined
  volumesOfClass(name: string): readonly PersistentVolume[]
  storageClass(name: string): StorageClass | undefined
  csiNode(name: string): CSINode | undefined
  csiDriver(name: string): CSIDriver | undefined
  storageCapacities(storageClass: string): readonly CSIStorageCapacity[]
  /** Which volumes are promised to which claims, before the API says so. */
  readonly volumePlans: VolumePlans
}
