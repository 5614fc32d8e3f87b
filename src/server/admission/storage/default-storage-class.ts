import type { PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts'
import { isDefaultStorageClass, newestClass } from '../../../api/kinds/volumes/storage-classes.ts'
import { betaStorageClass } from '../../resources/core/volume/volume-columns.ts'
import type { AdmissionPlugin } from '../admission.ts'
import { isFor } from '../refusal.ts'

/** Sets the default class on a claim without one. The class '' requests none. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  admit(request) {
    if (!isFor(request, '', 'persistentvolumeclaims') || request.operation !== 'CREATE') return
    const { metadata, spec } = request.object as PersistentVolumeClaim
    if (spec.storageClassName !== undefined || metadata.annotations?.[betaStorageClass] !== undefined) return
    const chosen = newestClass(
      request.reader.list<StorageClass>('storage.k8s.io', 'storageclasses', '').filter(isDefaultStorageClass),
    )
    if (chosen) spec.storageClassName = chosen.metadata.name!
  },
}
