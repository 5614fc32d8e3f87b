import type { PodTemplateSpec } from '../generated/types.ts'
import { type FieldError, forbidden } from '../validation/field-error.ts'
import { validateAnnotations, validateLabels } from '../validation/object-meta.ts'
import type { Path } from '../validation/path.ts'
import { validatePodAnnotations } from './pod-annotations.ts'
import { defaultPodSpec } from './pod-defaults.ts'
import { dropUnsupportedFields } from './pod-prepare.ts'
import { validatePodSpec } from './pod-spec.ts'
import { podSpecWarnings } from './pod-warnings.ts'
import { validateProfilesAgree } from './security-profiles.ts'

/** What the judge of a template knows of the object around it. */
export interface PodTemplateOptions {
  /** The template as it is stored, for an update: what was allowed once stays allowed. */
  old?: PodTemplateSpec
}

/** Fills in what the user left out of a pod template, and drops fields of features that are switched off. */
export function defaultPodTemplate(template: PodTemplateSpec): void {
  dropUnsupportedFields(template.spec)
  defaultPodSpec(template.spec)
}

/** Judges a pod template: labels, annotations and spec. What must match the object around it, such as the selector, is that kind's to say. */
export function validatePodTemplateSpec(template: PodTemplateSpec, path: Path, _options: PodTemplateOptions = {}): FieldError[] {
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

/** What is worth a warning in a pod template. The kind around it asks only when it was made or its spec has changed. */
export function podTemplateWarnings(template: PodTemplateSpec, path: Path, _old?: PodTemplateSpec): string[] {
  return podSpecWarnings(template.spec, template.metadata, path)
}
