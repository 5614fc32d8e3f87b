import type { AdmissionPlugin } from '../admission.ts'
import { isFor } from '../refusal.ts'

const protections = [
  { group: '', plural: 'persistentvolumeclaims', finalizer: 'kubernetes.io/pvc-protection' },
  { group: '', plural: 'persistentvolumes', finalizer: 'kubernetes.io/pv-protection' },
  { group: 'storage.k8s.io', plural: 'volumeattributesclasses', finalizer: 'kubernetes.io/vac-protection' },
]

/** Adds finalizers that delay the deletion of claims, volumes and volume attributes classes in use. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  admit(request) {
    if (request.operation !== 'CREATE') return
    const protection = protections.find(({ group, plural }) => isFor(request, group, plural))
    if (!protection) return
    const { metadata } = request.object!
    if (!metadata.finalizers?.includes(protection.finalizer))
      metadata.finalizers = [...(metadata.finalizers ?? []), protection.finalizer]
  },
}
