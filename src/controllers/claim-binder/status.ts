import { deepEqual } from '../../api/deep-equal.ts'
import type { PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus } from '../../api/generated/types.ts'

/**
 * What a claim says once it has the volume. Its capacity is the volume's when it gets it; later the two may differ for a while, as when a volume has grown and the
 * file system on it has not.
 */
export function boundStatus({ status }: PersistentVolumeClaim, { spec }: PersistentVolume): PersistentVolumeClaimStatus {
  const { accessModes, capacity, volumeAttributesClassName } = spec
  const taken = { ...status, phase: 'Bound', accessModes }
  if (status.phase === 'Bound') return taken
  return { ...taken, capacity, ...(volumeAttributesClassName ? { currentVolumeAttributesClassName: volumeAttributesClassName } : {}) }
}

/** What a claim says that has no volume. */
export function unboundStatus({ status }: PersistentVolumeClaim, phase: 'Pending' | 'Lost'): PersistentVolumeClaimStatus {
  const { accessModes: _modes, capacity: _capacity, ...rest } = status
  return { ...rest, phase }
}

export const saysAlready = ({ status }: PersistentVolumeClaim, next: PersistentVolumeClaimStatus): boolean => deepEqual(status, next)
