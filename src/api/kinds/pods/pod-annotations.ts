import type { ObjectMeta, PodSpec, Toleration } from '../../generated/types.ts'
import { readJson } from '../../json/index.ts'
import { type FieldError, forbidden, invalid } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { validateDescendingPath } from '../containers/file-paths.ts'
import { appArmorPrefix, seccompContainerPrefix, seccompPodAnnotation } from '../containers/security-profiles.ts'
import { validateTolerations } from '../placement/tolerations.ts'
import { hasContainer } from '../containers/visit-containers.ts'

export const mirrorAnnotation = 'kubernetes.io/config.mirror'
const tolerationsAnnotation = 'scheduler.alpha.kubernetes.io/tolerations'
const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost'

type Annotations = Readonly<Record<string, string>>

const isDeletionCost = (text: string): boolean =>
  /^(?:0|-?[1-9][0-9]*)$/.test(text) && Math.abs(Number(text) + 0.5) < 2 ** 31

/** The deletion cost of a pod from its annotation; 0 if it is absent or not a number. */
export function deletionCostOf(annotations: Annotations | undefined): number {
  const cost = annotations?.[deletionCostAnnotation]
  return cost !== undefined && isDeletionCost(cost) ? Number(cost) : 0
}

function validateSeccomp(value: string, path: Path, errors: FieldError[]): void {
  if (value === 'runtime/default' || value === 'docker/default' || value === 'unconfined') return
  if (value.startsWith('localhost/')) validateDescendingPath(value.slice('localhost/'.length), path, errors)
  else errors.push(invalid(path, value, 'must be a valid seccomp profile'))
}

function validateAppArmor(key: string, value: string, spec: PodSpec, path: Path, errors: FieldError[]): void {
  const name = key.slice(appArmorPrefix.length)
  if (!hasContainer(spec, name)) errors.push(invalid(path.key(key), name, 'container not found'))
  if (value === '' || value === 'runtime/default' || value === 'unconfined' || value.startsWith('localhost/')) return
  errors.push(invalid(path.key(key), value, `invalid AppArmor profile name: ${JSON.stringify(value)}`))
}

function validateTolerationsAnnotation(text: string, path: Path, errors: FieldError[]): void {
  try {
    validateTolerations(readJson(text) as Toleration[], path.child(tolerationsAnnotation), errors)
  } catch {
    // The message differs from that of Go's JSON parser. Only the rejection matters.
    errors.push(invalid(path, tolerationsAnnotation, 'invalid character looking for beginning of value'))
  }
}

/** Validates the annotations with a meaning on a pod or template. */
export function validatePodAnnotations(
  annotations: Annotations | undefined,
  spec: PodSpec,
  path: Path,
  errors: FieldError[],
): void {
  if (!annotations) return
  const mirror = annotations[mirrorAnnotation]
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(invalid(path.key(mirrorAnnotation), mirror, 'must set spec.nodeName if mirror pod annotation is set'))
  }
  if (annotations[tolerationsAnnotation])
    validateTolerationsAnnotation(annotations[tolerationsAnnotation], path, errors)
  const cost = annotations[deletionCostAnnotation]
  if (cost !== undefined && !isDeletionCost(cost)) {
    errors.push(invalid(path.key(deletionCostAnnotation), cost, 'must be a 32bit integer'))
  }
  const seccomp = annotations[seccompPodAnnotation]
  if (seccomp !== undefined) validateSeccomp(seccomp, path.child(seccompPodAnnotation), errors)
  for (const key in annotations) {
    if (key.startsWith(seccompContainerPrefix)) validateSeccomp(annotations[key]!, path.child(key), errors)
    else if (key.startsWith(appArmorPrefix)) validateAppArmor(key, annotations[key]!, spec, path, errors)
  }
}

const fixedAnnotation = (key: string): string | undefined =>
  key.startsWith(appArmorPrefix)
    ? 'AppArmor annotations'
    : key === mirrorAnnotation
      ? 'mirror pod annotation'
      : undefined

/** Rejects changes of annotations that the node has already applied. */
export function validatePodAnnotationsUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  spec: PodSpec,
  path: Path,
  errors: FieldError[],
): void {
  const [now, before] = [meta.annotations ?? {}, old.annotations ?? {}]
  for (const key of Object.keys(before).sort()) {
    const fixed = now[key] === before[key] ? undefined : fixedAnnotation(key)
    if (fixed) errors.push(forbidden(path.key(key), `may not remove or update ${fixed}`))
  }
  for (const key of Object.keys(now).sort()) {
    const fixed = before[key] === undefined ? fixedAnnotation(key) : undefined
    if (fixed) errors.push(forbidden(path.key(key), `may not add ${fixed}`))
  }
  validatePodAnnotations(meta.annotations, spec, path, errors)
}
