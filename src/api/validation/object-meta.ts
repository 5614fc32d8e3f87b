import type { ObjectMeta, OwnerReference } from '../object.ts'
import { type FieldError, forbidden, invalid, required, tooLong } from './field-error.ts'
import { type NameRule, byteLength, isLabelKey, isLabelValue, isPathSegment, isQualifiedName } from './names.ts'
import type { Path } from './path.ts'

/** The maximum total size of an object's annotations, keys and values. */
export const maxAnnotationBytes = 256 * 1024

export function validateLabels(labels: Record<string, string> | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  for (const key of Object.keys(labels ?? {}).sort()) {
    const value = labels![key]!
    for (const problem of isLabelKey(key)) errors.push(invalid(path, key, problem))
    for (const problem of isLabelValue(value)) errors.push(invalid(path, value, problem))
  }
  return errors
}

/** True if the annotations exceed their maximum total size. */
export const areTooLong = (annotations: Record<string, string>): boolean =>
  Object.entries(annotations).reduce((size, [key, value]) => size + byteLength(key) + byteLength(value), 0) >
  maxAnnotationBytes

export function validateAnnotations(annotations: Record<string, string> | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  for (const key in annotations)
    for (const problem of isLabelKey(key.toLowerCase())) errors.push(invalid(path, key, problem))
  if (annotations && areTooLong(annotations)) errors.push(tooLong(path, maxAnnotationBytes))
  return errors
}

/** Rules that depend on the kind. */
interface MetaRules {
  /** The object is a custom resource, whose finalizers may be without a domain. */
  isCustom?: boolean | undefined
}

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion'])

/** Warnings about new finalizers of a custom resource. Those of built-in kinds must have a domain. */
export function finalizerWarnings(meta: ObjectMeta, old: ObjectMeta | undefined): string[] {
  const before = new Set(old?.finalizers)
  const added = new Set(meta.finalizers?.filter((finalizer) => !before.has(finalizer)))
  return [...added]
    .filter((finalizer) => !finalizer.includes('/') && !standardFinalizers.has(finalizer))
    .sort()
    .map((finalizer) => {
      const advice = 'prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts'
      return `metadata.finalizers: ${JSON.stringify(finalizer)}: ${advice} with other finalizer writers`
    })
}

function validateFinalizers(
  finalizers: readonly string[] | undefined,
  path: Path,
  { isCustom = false }: MetaRules,
): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, finalizer] of (finalizers ?? []).entries()) {
    for (const problem of isQualifiedName(finalizer)) errors.push(invalid(path, finalizer, problem))
    if (!isCustom && !finalizer.includes('/') && !standardFinalizers.has(finalizer)) {
      errors.push(
        invalid(path.index(i), finalizer, 'name is neither a standard finalizer name nor is it fully qualified'),
      )
    }
  }
  if (finalizers?.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
  }
  return errors
}

function validateOwnerReference(owner: OwnerReference, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const version = owner.apiVersion
  const isVersion = version !== '' && !version.endsWith('/') && version.split('/').length <= 2
  if (!isVersion) errors.push(invalid(path.child('apiVersion'), version, 'version must not be empty'))
  for (const field of ['kind', 'name', 'uid'] as const)
    if (owner[field] === '') errors.push(invalid(path.child(field), '', 'must not be empty'))
  if (version === 'v1' && owner.kind === 'Event')
    errors.push(invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner'))
  return errors
}

/** Kubernetes names the list, not the item, in all of these. */
function validateOwnerReferences(owners: readonly OwnerReference[] | undefined, path: Path): FieldError[] {
  const errors: FieldError[] = []
  let controller = ''
  for (const owner of owners ?? []) {
    errors.push(...validateOwnerReference(owner, path))
    if (!owner.controller) continue
    const name = `${owner.kind}/${owner.name}`
    if (controller !== '') {
      errors.push(
        invalid(
          path,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
        ),
      )
    }
    controller = name
  }
  return errors
}

/** Validates the metadata of a new object. */
export function validateObjectMeta(
  meta: ObjectMeta,
  namespaced: boolean,
  nameRule: NameRule,
  path: Path,
  rules: MetaRules = {},
): FieldError[] {
  const errors: FieldError[] = []
  if (meta.generateName)
    errors.push(
      ...nameRule(meta.generateName, true).map((p) => invalid(path.child('generateName'), meta.generateName, p)),
    )
  if (!meta.name) {
    errors.push(required(path.child('name'), 'name or generateName is required'))
  } else {
    errors.push(...nameRule(meta.name, false).map((p) => invalid(path.child('name'), meta.name, p)))
    if (errors.length === 0)
      errors.push(...isPathSegment(meta.name, false).map((p) => invalid(path.child('name'), meta.name, p)))
  }
  if (namespaced) {
    if (!meta.namespace) errors.push(required(path.child('namespace')))
  } else if (meta.namespace) {
    errors.push(forbidden(path.child('namespace'), 'not allowed on this type'))
  }
  errors.push(...validateMetaCommon(meta, path, rules))
  return errors
}

/** Values identical to `old` were validated before. */
function validateMetaCommon(meta: ObjectMeta, path: Path, rules: MetaRules, old?: ObjectMeta): FieldError[] {
  const { generation = 0, labels, annotations, ownerReferences, finalizers } = meta
  return [
    ...(generation < 0 ? [invalid(path.child('generation'), generation, 'must be greater than or equal to 0')] : []),
    ...(labels === old?.labels ? [] : validateLabels(labels, path.child('labels'))),
    ...(annotations === old?.annotations ? [] : validateAnnotations(annotations, path.child('annotations'))),
    ...(ownerReferences === old?.ownerReferences
      ? []
      : validateOwnerReferences(ownerReferences, path.child('ownerReferences'))),
    ...(finalizers === old?.finalizers ? [] : validateFinalizers(finalizers, path.child('finalizers'), rules)),
  ]
}

/** An absent name equals an empty one. Other fields must be identical. */
const fixedNames = ['name', 'namespace', 'uid'] as const
const fixedFields = ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

function validateFixed(meta: ObjectMeta, old: ObjectMeta, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const refuse = (field: string, value: unknown, was: unknown) =>
    errors.push(invalid(path.child(field), value ?? (typeof was === 'string' ? '' : value), 'field is immutable'))
  for (const field of fixedNames) if ((meta[field] ?? '') !== (old[field] ?? '')) refuse(field, meta[field], '')
  for (const field of fixedFields) if (meta[field] !== old[field]) refuse(field, meta[field], old[field])
  return errors
}

/** Validates the metadata of an update: as for a new object, and the immutable fields. */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  path: Path,
  rules: MetaRules = {},
): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp) {
    const before = new Set(old.finalizers)
    const added = (meta.finalizers ?? []).filter((f) => !before.has(f))
    if (added.length) {
      errors.push(
        forbidden(
          path.child('finalizers'),
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((f) => JSON.stringify(f)).join(', ')}}`,
        ),
      )
    }
  }
  errors.push(...validateFixed(meta, old, path))
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(path.child('generation'), meta.generation ?? 0, 'must not be decremented'))
  }
  errors.push(...validateMetaCommon(meta, path, rules, old))
  return errors
}
