import type { PersistentVolumeClaim, Volume } from '../../../api/generated/types.ts'
import { defaultClaimSpec, validateClaimSpec } from '../../../api/kinds/volume-claim.ts'
import type { FieldError } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'

/** Fills in what the user left out of the claims that each pod gets one of its own of. */
export function defaultClaimTemplates(claims: readonly PersistentVolumeClaim[] = []): void {
  for (const claim of claims) {
    claim.apiVersion = 'v1'
    claim.kind = 'PersistentVolumeClaim'
    claim.spec ??= { resources: {} }
    defaultClaimSpec(claim.spec)
    claim.status ??= {}
    claim.status.phase ||= 'Pending'
  }
}

/** Judges such claims by themselves. */
export const validateClaimTemplates = (claims: readonly PersistentVolumeClaim[] = [], path: Path): FieldError[] =>
  claims.flatMap((claim, i) => validateClaimSpec(claim.spec ?? {}, path.index(i).child('spec')))

/** The volumes that a pod has because of such claims. */
export const claimVolumes = (claims: readonly PersistentVolumeClaim[] = []): Volume[] =>
  claims.map(({ metadata: { name = '' } }) => ({ name, persistentVolumeClaim: { claimName: name } }))
