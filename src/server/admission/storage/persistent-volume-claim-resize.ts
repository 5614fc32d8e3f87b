import type { PersistentVolumeClaim, StorageClass } from '../../../api/generated/types.ts'
import { compareQuantity } from '../../../api/numbers/quantity.ts'
import { storageClassOf } from '../../resources/core/volume/volume-columns.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import { isFor, refusal } from '../refusal.ts'

const sizeOf = (claim: PersistentVolumeClaim) => claim.spec.resources.requests?.['storage'] ?? '0'

function mayExpand(claim: PersistentVolumeClaim, old: PersistentVolumeClaim, { reader }: AdmissionRequest): boolean {
  const name = storageClassOf(claim)
  if (name === '' || name !== storageClassOf(old)) return false
  return reader.get<StorageClass>('storage.k8s.io', 'storageclasses', '', name)?.allowVolumeExpansion === true
}

/** Allows growth only of bound claims whose class has allowVolumeExpansion. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',
  validate(request) {
    if (!isFor(request, '', 'persistentvolumeclaims') || request.operation !== 'UPDATE') return
    const claim = request.object as PersistentVolumeClaim
    const old = request.old as PersistentVolumeClaim
    if (compareQuantity(sizeOf(claim), sizeOf(old)) <= 0) return
    if (old.status.phase !== 'Bound') throw refusal(request, 'Only bound persistent volume claims can be expanded')
    if (mayExpand(claim, old, request)) return
    throw refusal(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  },
}
