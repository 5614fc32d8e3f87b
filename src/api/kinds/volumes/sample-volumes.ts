import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../generated/types.ts'
import type { ObjectMeta } from '../../object.ts'

interface Sample {
  metadata?: ObjectMeta
  spec?: object
  status?: object
}

/** A claim for 1Gi of the class `slow`, without a volume. */
export const sampleClaim = (name: string, { metadata, spec, status }: Sample = {}): PersistentVolumeClaim => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '7', ...metadata },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'slow',
    ...spec,
  },
  status: { phase: 'Pending', ...status },
})

/** A volume of 1Gi of the class `slow` without a claim. */
export const sampleVolume = (name: string, { metadata, spec, status }: Sample = {}): PersistentVolume => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '5', ...metadata },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    hostPath: { path: '/d' },
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: 'slow',
    volumeMode: 'Filesystem',
    ...spec,
  },
  status: { phase: 'Available', ...status },
})

/** A class with an external provisioner and immediate binding. */
export const sampleClass = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  metadata: { name },
  provisioner: 'example.com/disks',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  ...more,
})
