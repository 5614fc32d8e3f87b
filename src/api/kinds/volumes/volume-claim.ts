import type {
  ObjectMeta,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../../generated/types.ts'
import { quantitySign } from '../../numbers/quantity.ts'
import { validateLabelSelector } from '../../selectors/label-selector.ts'
import { type FieldError, forbidden, invalid, notSupported, required } from '../../validation/field-error.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../validation/names.ts'
import { validateAnnotations, validateLabels } from '../../validation/object-meta.ts'
import type { Path } from '../../validation/path.ts'
import { roundResourcesUpToMilli } from '../quantities/resource-names.ts'

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const volumeModes = ['Block', 'Filesystem']

/** Applies the defaults of a claim's spec. */
export function defaultClaimSpec(spec: PersistentVolumeClaimSpec | undefined): void {
  if (!spec) return
  spec.volumeMode ??= 'Filesystem'
  roundResourcesUpToMilli(spec.resources?.limits)
  roundResourcesUpToMilli(spec.resources?.requests)
}

function validateAccessModes(modes: readonly string[], path: Path): FieldError[] {
  if (modes.length === 0) return [required(path, 'at least 1 access mode is required')]
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

function validateDataSource(source: TypedLocalObjectReference | TypedObjectReference, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (!source.name) errors.push(required(path.child('name')))
  if (!source.kind) errors.push(required(path.child('kind')))
  if (!source.apiGroup && source.kind !== 'PersistentVolumeClaim') {
    errors.push(
      invalid(path, source.kind ?? '', "must be 'PersistentVolumeClaim' when referencing the default apiGroup"),
    )
  }
  if (source.apiGroup) {
    errors.push(...isDns1123Subdomain(source.apiGroup).map((p) => invalid(path.child('apiGroup'), source.apiGroup, p)))
  }
  if ('namespace' in source && source.namespace) {
    errors.push(...isDns1123Label(source.namespace).map((p) => invalid(path.child('namespace'), source.namespace, p)))
  }
  return errors
}

const sameSource = (a: TypedLocalObjectReference, b: TypedObjectReference) =>
  a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name

/** Validates the spec of a claim, of a PersistentVolumeClaim or in a template. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: Path): FieldError[] {
  const errors = validateAccessModes(spec.accessModes ?? [], path.child('accessModes'))
  if (spec.selector) {
    errors.splice(spec.accessModes?.length ? 0 : 1, 0, ...validateLabelSelector(spec.selector, path.child('selector')))
  }
  const storage = spec.resources?.requests?.['storage']
  const storagePath = path.child('resources').key('storage')
  if (storage === undefined) errors.push(required(storagePath))
  else if (quantitySign(storage) <= 0) errors.push(invalid(storagePath, storage, 'must be greater than zero'))
  const { storageClassName, volumeMode, dataSource, dataSourceRef, volumeAttributesClassName } = spec
  if (storageClassName) {
    errors.push(
      ...isDns1123Subdomain(storageClassName).map((p) => invalid(path.child('storageClassName'), storageClassName, p)),
    )
  }
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode)) {
    errors.push(notSupported(path.child('volumeMode'), volumeMode, volumeModes))
  }
  if (dataSource) errors.push(...validateDataSource(dataSource, path.child('dataSource')))
  if (dataSourceRef) errors.push(...validateDataSource(dataSourceRef, path.child('dataSourceRef')))
  // Kubernetes quotes an empty value here.
  if (dataSource && dataSourceRef?.namespace) {
    errors.push(invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified'))
  } else if (dataSource && dataSourceRef && !sameSource(dataSource, dataSourceRef)) {
    errors.push(invalid(path, {}, 'must match dataSourceRef'))
  }
  if (volumeAttributesClassName) {
    errors.push(
      ...isDns1123Subdomain(volumeAttributesClassName).map((p) =>
        invalid(path.child('volumeAttributesClassName'), volumeAttributesClassName, p),
      ),
    )
  }
  return errors
}

function validateTemplateMeta(meta: ObjectMeta, path: Path): FieldError[] {
  const errors = [
    ...validateAnnotations(meta.annotations, path.child('annotations')),
    ...validateLabels(meta.labels, path.child('labels')),
  ]
  for (const [field, value] of Object.entries(meta)) {
    if (field === 'labels' || field === 'annotations' || value === undefined || value === null || value === '') continue
    errors.push(forbidden(path.child(field), 'cannot be set'))
  }
  return errors
}

/** Validates the claim template of an ephemeral volume. Its metadata may only have labels and annotations. */
export function validateClaimTemplate(template: PersistentVolumeClaimTemplate, path: Path): FieldError[] {
  return [
    ...(template.metadata ? validateTemplateMeta(template.metadata, path.child('metadata')) : []),
    ...validateClaimSpec(template.spec ?? {}, path.child('spec')),
  ]
}
