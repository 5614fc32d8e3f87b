import type { PersistentVolumeClaim, Volume } from '../../../api/generated/types.ts'
import { defaultClaimSpec, validateClaimSpec } from '../../../api/kinds/volumes/volume-claim.ts'
import type { FieldError } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'

/** Applies defaults to volume claim templates. */
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

/** Validates volume claim templates. */
export const validateClaimTemplates = (claims: readonly PersistentVolumeClaim[] = [], path: Path): FieldError[] =>
  claims.flatMap((claim, i) => validateClaimSpec(claim.spec ?? {}, path.index(i).child('spec')))

/** The pod volumes of volume claim templates. */
export const claimVolumes = (claims: readonly PersistentVolumeClaim[] = []): Volume[] =>
  claims.map(({ metadata: { name = '' } }) => ({ name, persistentVolumeClaim: { claimName: name } }))
