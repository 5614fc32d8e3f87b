import { semanticEqual } from '../../../../api/deep-equal.ts'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../../api/generated/types.ts'
import { internalClaimSpec } from '../../../../api/kinds/volumes/internal-volumes.ts'
import { validateStorageAmount } from '../../../../api/kinds/volumes/persistent-volume-spec.ts'
import { isNativeResource } from '../../../../api/kinds/quantities/resource-names.ts'
import { validateResourceQuantity } from '../../../../api/kinds/containers/resource-requirements.ts'
import { validateClaimSpec } from '../../../../api/kinds/volumes/volume-claim.ts'
import { structureDiff } from '../../../../api/printing/structure-diff.ts'
import { compareQuantity } from '../../../../api/numbers/quantity.ts'
import { immutableMessage, validateImmutableField } from '../../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../../../api/validation/field-error.ts'
import { isQualifiedName } from '../../../../api/validation/names.ts'
import { Path } from '../../../../api/validation/path.ts'
import { betaStorageClass } from './volume-columns.ts'

const specPath = Path.of('spec')
const statusPath = Path.of('status')
const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

/** Validates a new claim. */
export const validateClaim = (claim: PersistentVolumeClaim): FieldError[] => validateClaimSpec(claim.spec, specPath)

const isBound = (claim: PersistentVolumeClaim) => claim.status.phase === 'Bound'

/** True if the class moves from the legacy annotation to the field. */
function movesClassFromAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const before = old.metadata.annotations?.[betaStorageClass]
  const now = claim.metadata.annotations?.[betaStorageClass]
  if (before === undefined || old.spec.storageClassName !== undefined) return false
  return claim.spec.storageClassName === before && (now === undefined || now === before)
}

/** The new spec with allowed changes reverted: any remaining difference is an error. */
function withAllowedChangesUndone(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  const spec = structuredClone(claim.spec)
  const before = old.spec
  const hadClass = old.metadata.annotations?.[betaStorageClass] !== undefined || before.storageClassName !== undefined
  if (movesClassFromAnnotation(claim, old) || (!hadClass && spec.storageClassName !== undefined))
    delete spec.storageClassName
  if (!isBound(old)) return spec
  if (spec.resources.requests) spec.resources.requests['storage'] = before.resources.requests?.['storage'] ?? '0'
  if (before.volumeAttributesClassName === undefined) delete spec.volumeAttributesClassName
  else spec.volumeAttributesClassName = before.volumeAttributesClassName
  return spec
}

function validateSameSpec(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const spec = withAllowedChangesUndone(claim, old)
  const { volumeName, ...rest } = old.spec
  const bound = volumeName || claim.spec.volumeName // may be set once
  const before: PersistentVolumeClaimSpec = bound ? { ...rest, volumeName: bound } : rest
  if (semanticEqual(spec, before)) return []
  const diff = structureDiff(internalClaimSpec(before), internalClaimSpec(spec))
  return [
    forbidden(
      specPath,
      `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${diff}`,
    ),
  ]
}

/** Validates a change of size. A claim may shrink to recover from a failed expansion, but not below its capacity. */
function validateSize(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const size = claim.spec.resources.requests?.['storage'] ?? '0'
  const shrinks = compareQuantity(size, old.spec.resources.requests?.['storage'] ?? '0') < 0
  if (!shrinks || compareQuantity(size, old.status.capacity?.['storage'] ?? '0') > 0) return []
  return [forbidden(specPath.child('resources', 'requests', 'storage'), 'field can not be less than status.capacity')]
}

function validateAttributesClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const name = claim.spec.volumeAttributesClassName
  if (name === old.spec.volumeAttributesClassName || old.status.currentVolumeAttributesClassName === undefined)
    return []
  const path = specPath.child('volumeAttributesClassName')
  if (name === undefined) return [forbidden(path, 'update from non-nil value to nil is forbidden')]
  return name === '' ? [forbidden(path, 'update from non-nil value to an empty string is forbidden')] : []
}

function validateSameAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  if (movesClassFromAnnotation(claim, old)) return []
  const now = claim.metadata.annotations?.[betaStorageClass] ?? ''
  if (now === (old.metadata.annotations?.[betaStorageClass] ?? '')) return []
  return [invalid(Path.of('metadata', 'annotations', betaStorageClass), now, immutableMessage)]
}

/** Validates an update of a claim. */
export function validateClaimUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  return [
    ...validateClaim(claim),
    ...validateSameAnnotation(claim, old),
    ...validateSameSpec(claim, old),
    ...validateSize(claim, old),
    ...validateImmutableField(claim.spec.volumeMode, old.spec.volumeMode, Path.of('volumeMode')),
    ...validateAttributesClass(claim, old),
  ]
}

function validateStatusKey(name: string, path: Path): FieldError[] {
  const errors = isQualifiedName(name).map((problem) => invalid(path, name, problem))
  if (errors.length || !isNativeResource(name) || name === 'storage') return errors
  return [notSupported(path, name, ['storage'])]
}

function validateResizing(statuses: Record<string, string> | undefined): FieldError[] {
  const path = statusPath.child('allocatedResourceStatuses')
  return Object.keys(statuses ?? {})
    .sort()
    .flatMap((name) => [
      ...validateStatusKey(name, path),
      ...(resizeStatuses.includes(statuses![name]!) ? [] : [notSupported(path, name, resizeStatuses)]),
    ])
}

function validateAllocated(amounts: Record<string, string> | undefined): FieldError[] {
  const path = statusPath.child('allocatedResources')
  return Object.keys(amounts ?? {})
    .sort()
    .flatMap((name) => {
      const errors = validateStatusKey(name, path)
      if (errors.length === 0) errors.push(...validateStorageAmount(amounts![name]!, path.key(name)))
      if (errors.length === 0) validateResourceQuantity('storage', amounts![name]!, () => path.key(name), errors)
      return errors
    })
}

/** Validates the status of a claim. */
export function validateClaimStatus(claim: PersistentVolumeClaim): FieldError[] {
  const capacity = claim.status.capacity ?? {}
  return [
    ...(claim.spec.accessModes?.length ? [] : [required(Path.of('Spec', 'accessModes'))]),
    ...Object.keys(capacity)
      .sort()
      .flatMap((name) => validateStorageAmount(capacity[name]!, statusPath.child('capacity').key(name))),
    ...validateResizing(claim.status.allocatedResourceStatuses),
    ...validateAllocated(claim.status.allocatedResources),
  ]
}
