import type { PersistentVolumeSpec } from '../../generated/types.ts'
import { quantitySign, quantityValue } from '../../numbers/quantity.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import { isDns1123Subdomain } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'
import { validateNodeSelector } from '../placement/affinity.ts'
import { validateVolumeSource } from './persistent-volume-source.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const reclaimPolicies = ['Delete', 'Recycle', 'Retain']
const volumeModes = ['Block', 'Filesystem']
const inlineContext = 'in the context of inline volumes'

function validateAccessModes(modes: readonly string[], path: Path): FieldError[] {
  if (modes.length === 0) return [required(path)]
  const errors = modes
    .filter((mode) => !accessModes.includes(mode))
    .map((mode) => notSupported(path, mode, accessModes))
  if (
    modes.includes('ReadWriteOncePod') &&
    modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))
  ) {
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'))
  }
  return errors
}

/** An amount of storage must not be negative. The message quotes the value in bytes. */
export function validateStorageAmount(quantity: string, path: Path): FieldError[] {
  return quantityValue(quantity) < 0n
    ? [invalid(path, quantityValue(quantity), 'must be a valid resource quantity')]
    : []
}

function validateCapacity(capacity: Record<string, string> | undefined, path: Path): FieldError[] {
  const names = Object.keys(capacity ?? {}).sort()
  const errors: FieldError[] = []
  if (names.length === 0) errors.push(required(path))
  if (capacity?.['storage'] === undefined || names.length > 1) {
    errors.push(notSupported(path, names.length ? capacity : null, ['storage']))
  }
  for (const name of names) {
    const quantity = capacity![name]!
    errors.push(...validateStorageAmount(quantity, path.key(name)))
    if (quantitySign(quantity) <= 0) errors.push(invalid(path.key(name), quantity, 'must be greater than zero'))
  }
  return errors
}

function validateNodeAffinity(affinity: NonNullable<PersistentVolumeSpec['nodeAffinity']>, path: Path): FieldError[] {
  if (!affinity.required) return [required(path.child('required'), 'must specify required node constraints')]
  const errors: FieldError[] = []
  validateNodeSelector(affinity.required, path.child('required'), errors)
  return errors
}

function validateClassName(name: string, path: Path): FieldError[] {
  return isDns1123Subdomain(name).map((problem) => invalid(path, name, problem))
}

function validateAttributesClass(spec: PersistentVolumeSpec, path: Path): FieldError[] {
  const name = spec.volumeAttributesClassName
  if (name === undefined) return []
  const at = path.child('volumeAttributesClassName')
  const errors = name === '' ? [required(at, 'an empty string is disallowed')] : validateClassName(name, at)
  if (!spec.csi) errors.push(required(path.child('csi'), 'has to be specified when using volumeAttributesClassName'))
  return errors
}

const isRoot = (path: string) => /^\/+(?:\.?\/*)*$/.test(path)

function validateRecycling(spec: PersistentVolumeSpec, path: Path): FieldError[] {
  const recyclesRoot =
    spec.persistentVolumeReclaimPolicy === 'Recycle' && spec.hostPath !== undefined && isRoot(spec.hostPath.path ?? '')
  return recyclesRoot
    ? [forbidden(path.child('persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath mount of '/'")]
    : []
}

/** Validates the spec of a volume. */
export function validateVolumeSpec(spec: PersistentVolumeSpec, volumeName: string, path: Path): FieldError[] {
  const { persistentVolumeReclaimPolicy: policy, volumeMode, storageClassName } = spec
  return [
    ...validateAccessModes(spec.accessModes ?? [], path.child('accessModes')),
    ...validateCapacity(spec.capacity, path.child('capacity')),
    ...(policy && !reclaimPolicies.includes(policy)
      ? [notSupported(path.child('persistentVolumeReclaimPolicy'), policy, reclaimPolicies)]
      : []),
    ...(spec.nodeAffinity ? validateNodeAffinity(spec.nodeAffinity, path.child('nodeAffinity')) : []),
    ...validateVolumeSource(spec, volumeName, path),
    ...validateRecycling(spec, path),
    ...(storageClassName ? validateClassName(storageClassName, path.child('storageClassName')) : []),
    ...(volumeMode !== undefined && !volumeModes.includes(volumeMode)
      ? [notSupported(path.child('volumeMode'), volumeMode, volumeModes)]
      : []),
    ...validateAttributesClass(spec, path),
  ]
}

/** Validates an inline volume spec of an attachment. It has only a CSI source and modes. */
export function validateInlineVolumeSpec(spec: PersistentVolumeSpec, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (field: string) => errors.push(forbidden(path.child(field), `may not be specified ${inlineContext}`))
  const { persistentVolumeReclaimPolicy: policy, volumeMode } = spec
  if (Object.keys(spec.capacity ?? {}).length) refuse('capacity')
  if (!spec.csi) errors.push(required(path.child('csi'), `has to be specified ${inlineContext}`))
  errors.push(...validateAccessModes(spec.accessModes ?? [], path.child('accessModes')))
  if (policy && policy !== 'Retain')
    errors.push(forbidden(path.child('persistentVolumeReclaimPolicy'), `may only be Retain ${inlineContext}`))
  if (spec.nodeAffinity) refuse('nodeAffinity')
  errors.push(...validateVolumeSource(spec, '', path), ...validateRecycling(spec, path))
  if (spec.storageClassName) refuse('storageClassName')
  if (volumeMode !== undefined && volumeMode !== 'Filesystem') {
    errors.push(
      forbidden(path.child('volumeMode'), `may not specify volumeMode other than Filesystem ${inlineContext}`),
    )
  }
  return errors
}
