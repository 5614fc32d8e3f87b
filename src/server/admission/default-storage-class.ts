import type { PersistentVolumeClaim, StorageClass } from '../../api/generated/types.ts'
import { isDefaultStorageClass, newestClass } from '../../api/kinds/default-class.ts'
import { betaStorageClass } from '../resources/core/volume-columns.ts'
import type { AdmissionPlugin } from './admission.ts'
import { isFor } from './refusal.ts'

/** A claim that does not name a class gets the default one; one that names '' wants none. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  admit(request) {
    if (!isFor(request, '', 'persistentvolumeclaims') || request.operation !== 'CREATE') return
    const { metadata, spec } = request.object as PersistentVolumeClaim
    if (spec.storageClassName !== undefined || metadata.annotations?.[betaStorageClass] !== undefined) return
    const chosen = newestClass(request.reader.list<StorageClass>('storage.k8s.io', 'storageclasses', '').filter(isDefaultStorageClass))
    if (chosen) spec.storageClassName = chosen.metadata.name!
  },
}
