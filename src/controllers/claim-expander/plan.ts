import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from '../../api/generated/types.ts'
import { localPathProvisioner } from '../../api/kinds/volumes/storage-classes.ts'
import { annotationOf, provisionedBy } from '../../api/kinds/volumes/volume-binding.ts'
import { capacityOf, requestedStorage } from '../../api/kinds/volumes/volume-matching.ts'
import { compareQuantity } from '../../api/numbers/quantity.ts'
import type { Step } from '../kit/index.ts'

export interface Observed {
  claim: PersistentVolumeClaim
  volume: PersistentVolume | undefined
  /** The request for which users were told that an external controller is responsible. */
  told: string | undefined
}

export type Action =
  /** Sets the requested size on the volume, then on the claim. */
  | { kind: 'Grow'; volume: PersistentVolume; size: string }
  /** An external controller is responsible for the volume. */
  | { kind: 'LeaveToOthers'; size: string; isDriver: boolean }

/** Reports whether a bound claim requests more than its capacity. */
export const wantsMore = (claim: PersistentVolumeClaim): boolean =>
  claim.status.phase === 'Bound' &&
  compareQuantity(requestedStorage(claim), claim.status.capacity?.['storage'] ?? '0') > 0

/** A local volume grows by its recorded size. Other volumes are expanded by their provisioner. */
export function plan({ claim, volume, told }: Observed): Step<Action> {
  if (!wantsMore(claim) || volume?.spec.claimRef?.uid !== claim.metadata.uid) return { actions: [] }
  const size = requestedStorage(claim)
  if (annotationOf(volume!, provisionedBy) === localPathProvisioner) {
    return { actions: [{ kind: 'Grow', volume: volume!, size }] }
  }
  return { actions: told === size ? [] : [{ kind: 'LeaveToOthers', size, isDriver: volume!.spec.csi !== undefined }] }
}

/** The volume with the size. The same object if it is large enough. */
export const grown = (volume: PersistentVolume, size: string): PersistentVolume =>
  compareQuantity(capacityOf(volume), size) >= 0
    ? volume
    : { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec.capacity, storage: size } } }

/** The conditions of an expansion in progress. */
const resizing = new Set(['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'])

/** The status of a claim after its volume has grown. */
export function grownStatus({ status }: PersistentVolumeClaim, size: string): PersistentVolumeClaimStatus {
  const { conditions = [], allocatedResourceStatuses: _statuses, allocatedResources: _allocated, ...rest } = status
  const left = conditions.filter(({ type }) => !resizing.has(type))
  return { ...rest, capacity: { ...status.capacity, storage: size }, ...(left.length > 0 ? { conditions: left } : {}) }
}
