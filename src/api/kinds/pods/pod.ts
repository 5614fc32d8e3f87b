import type { Pod, PodSpec } from '../../generated/types.ts'
import { type FieldError, forbidden } from '../../validation/field-error.ts'
import { Path } from '../../validation/path.ts'
import { validateImagesAreTrimmed } from '../containers/containers.ts'
import { validatePodAnnotations } from './pod-annotations.ts'
import { validatePodSpec } from './pod-spec.ts'
import { validateProfilesAgree } from '../containers/security-profiles.ts'

export const specPath = Path.of('spec')
export const metaPath = Path.of('metadata')

function refuseTokensWithoutAccount(spec: PodSpec, errors: FieldError[]): void {
  for (const [i, volume] of (spec.volumes ?? []).entries()) {
    for (const [j, source] of (volume.projected?.sources ?? []).entries()) {
      if (!source.serviceAccountToken) continue
      const at = specPath.child('volumes').index(i).child('projected', 'sources').index(j).child('serviceAccountToken')
      errors.push(forbidden(at, 'must not be specified when serviceAccountName is not set'))
    }
  }
}

/** Validation for every write of a pod. */
export function validatePod(pod: Pod, errors: FieldError[]): void {
  const { spec } = pod
  validatePodAnnotations(pod.metadata.annotations, spec, metaPath.child('annotations'), errors)
  validatePodSpec(spec, specPath, { podName: pod.metadata.name ?? '', isPod: true }, errors)
  if (!spec.serviceAccountName && spec.volumes) refuseTokensWithoutAccount(spec, errors)
  validateImagesAreTrimmed(spec.containers, specPath.child('containers'), errors)
  validateImagesAreTrimmed(spec.initContainers, specPath.child('initContainers'), errors)
}

/** Validates a new pod. */
export function validatePodCreate(pod: Pod): FieldError[] {
  const errors: FieldError[] = []
  const { spec } = pod
  validatePod(pod, errors)
  if (spec.ephemeralContainers?.length)
    errors.push(forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create'))
  if (spec.nodeName && spec.schedulingGates?.length) {
    errors.push(forbidden(specPath.child('nodeName'), 'cannot be set until all schedulingGates have been cleared'))
  }
  validateProfilesAgree(pod.metadata, spec, specPath, errors)
  return errors
}
