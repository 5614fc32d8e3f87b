import type { PodTemplateSpec } from '../../generated/types.ts'
import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { validateAnnotations, validateLabels } from '../../validation/object-meta.ts'
import type { Path } from '../../validation/path.ts'
import { validatePodAnnotations } from './pod-annotations.ts'
import { defaultPodSpec } from './pod-defaults.ts'
import { dropUnsupportedFields } from './pod-prepare.ts'
import { validatePodSpec } from './pod-spec.ts'
import { podSpecWarnings } from './pod-warnings.ts'
import { validateProfilesAgree } from '../containers/security-profiles.ts'

/** Options for validating a template. */
interface PodTemplateOptions {
  /** The stored template, in an update: values that it already has stay allowed. */
  old?: PodTemplateSpec
}

/** Applies the defaults of a pod template, and drops fields of disabled features. */
export function defaultPodTemplate(template: PodTemplateSpec): void {
  dropUnsupportedFields(template.spec)
  defaultPodSpec(template.spec)
}

/**
 * Validates a pod template: labels, annotations and spec. The kind validates what must match the object around it, such
 * as the selector.
 */
export function validatePodTemplateSpec(
  template: PodTemplateSpec,
  path: Path,
  _options: PodTemplateOptions = {},
): FieldError[] {
  const errors: FieldError[] = []
  const spec = template.spec
  const { labels, annotations } = template.metadata ?? {}
  if (labels) errors.push(...validateLabels(labels, path.child('labels')))
  if (annotations) errors.push(...validateAnnotations(annotations, path.child('annotations')))
  validatePodAnnotations(annotations, spec, path.child('annotations'), errors)
  const specPath = path.child('spec')
  validatePodSpec(spec, specPath, { podName: '', isPod: false }, errors)
  validateProfilesAgree(template.metadata, spec, specPath, errors)
  if (spec.ephemeralContainers?.length) {
    errors.push(forbidden(specPath.child('ephemeralContainers'), 'ephemeral containers not allowed in pod template'))
  }
  return errors
}

/** Warnings about a pod template. Kinds call it only for creates and changes of the spec. */
export function podTemplateWarnings(template: PodTemplateSpec, path: Path, _old?: PodTemplateSpec): string[] {
  return podSpecWarnings(template.spec, template.metadata, path)
}
