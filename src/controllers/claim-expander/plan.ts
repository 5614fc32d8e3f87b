import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from '../../api/generated/types.ts'
import { localPathProvisioner } from '../../api/kinds/local-path.ts'
import { annotationOf, provisionedBy } from '../../api/kinds/volume-binding.ts'
import { capacityOf, requestedStorage } from '../../api/kinds/volume-matching.ts'
import { compareQuantity } from '../../api/quantity.ts'
import type { Step } from '../kit/index.ts'

export interface Observed {
  claim: PersistentVolumeClaim
  volume: PersistentVolume | undefined
  /** The request for which users were told that somebody else has to see to it. */
  told: string | undefined
}

export type Action =
  /** Gives the volume, and then the claim, the size that is asked for. */
  | { kind: 'Grow'; volume: PersistentVolume; size: string }
  /** The volume is somebody else's. */
  | { kind: 'LeaveToOthers'; size: string; isDriver: boolean }

/** Whether a claim that has its volume asks for more than it has. */
export const wantsMore = (claim: PersistentVolumeClaim): boolean =>
  claim.status.phase === 'Bound' && compareQuantity(requestedStorage(claim), claim.status.capacity?.['storage'] ?? '0') > 0

/** Volumes that are directories grow by being said to; whoever made another one makes it grow. */
export function plan({ claim, volume, told }: Observed): Step<Action> {
  if (!wantsMore(claim) || volume?.spec.claimRef?.uid !== claim.metadata.uid) return { actions: [] }
  const size = requestedStorage(claim)
  if (annotationOf(volume!, provisionedBy) === localPathProvisioner) return { actions: [{ kind: 'Grow', volume: volume!, size }] }
  return { actions: told === size ? [] : [{ kind: 'LeaveToOthers', size, isDriver: volume!.spec.csi !== undefined }] }
}

/** The volume with that size; the same object if it has as much. */
export const grown = (volume: PersistentVolume, size: string): PersistentVolume =>
  compareQuantity(capacityOf(volume), size) >= 0 ? volume : { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec.capacity, storage: size } } }

/** Conditions of a growth that is under way. */
const resizing = new Set(['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'])

/** What a claim says when its volume has grown: nothing is left to be done. */
export function grownStatus({ status }: PersistentVolumeClaim, size: string): PersistentVolumeClaimStatus {
  const { conditions = [], allocatedResourceStatuses: _statuses, allocatedResources: _allocated, ...rest } = status
  const left = conditions.filter(({ type }) => !resizing.has(type))
  return { ...rest, capacity: { ...status.capacity, storage: size }, ...(left.length > 0 ? { conditions: left } : {}) }
}
