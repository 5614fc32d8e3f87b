import type { CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts'
import { bindCompleted } from '../../api/kinds/volumes/volume-binding.ts'

/** For tests: a claim of a class. With `volume`, it is bound to that one. */
export const sampleClaim = (
  name: string,
  storageClassName: string,
  { volume, size = '1Gi', ...more }: { volume?: string; size?: string; [field: string]: unknown } = {},
): PersistentVolumeClaim =>
  ({
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      ...(volume ? { annotations: { [bindCompleted]: 'yes' } } : {}),
      ...(more['metadata'] as object),
    },
    spec: {
      storageClassName,
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      ...(volume ? { volumeName: volume } : {}),
      ...(more['spec'] as object),
    },
    status: { phase: volume ? 'Bound' : 'Pending', ...(more['status'] as object) },
  }) as PersistentVolumeClaim

/** For tests: an available volume. With `node`, only that node can use it. */
export const sampleVolume = (
  name: string,
  storageClassName: string,
  { node, size = '1Gi', ...more }: { node?: string; size?: string; [field: string]: unknown } = {},
): PersistentVolume =>
  ({
    metadata: { name, ...(more['metadata'] as object) },
    spec: {
      storageClassName,
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: size },
      ...(node
        ? {
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [
                  { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
                ],
              },
            },
          }
        : {}),
      ...(more['spec'] as object),
    },
    status: { phase: 'Available' },
  }) as PersistentVolume

export const sampleClass = (name: string, more: Partial<StorageClass> = {}): StorageClass =>
  ({
    metadata: { name },
    provisioner: 'example.com/disks',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  }) as StorageClass

export const sampleCsiNode = (name: string, driver: string, count: number): CSINode =>
  ({
    metadata: { name },
    spec: { drivers: [{ name: driver, nodeID: name, topologyKeys: [], allocatable: { count } }] },
  }) as CSINode
