import type {
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSchedulingGate,
  PodSpec,
  Toleration,
} from '../../generated/types.ts'
import { semanticEqual } from '../../deep-equal.ts'
import { type FieldError, forbidden, invalid, required } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { validateImagesAreTrimmed } from '../containers/containers.ts'
import { metaPath, specPath, validatePod } from './pod.ts'
import { validatePodAnnotationsUpdate } from './pod-annotations.ts'
import { validateTolerations } from '../placement/tolerations.ts'

const updatableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

const maxDeadlineSeconds = 2 ** 31 - 1

/** Checks that the number of containers is unchanged and that every image is set. */
function validateImages(
  containers: readonly Container[],
  old: readonly Container[],
  path: Path,
  errors: FieldError[],
): boolean {
  if (containers.length !== old.length) {
    errors.push(forbidden(path, 'pod updates may not add or remove containers'))
    return false
  }
  for (const [i, container] of containers.entries()) {
    if (!container.image) errors.push(required(path.index(i).child('image')))
  }
  validateImagesAreTrimmed(containers, path, errors)
  return true
}

/** activeDeadlineSeconds may be set or decreased. */
function validateDeadline(spec: PodSpec, old: PodSpec, errors: FieldError[]): boolean {
  const path = specPath.child('activeDeadlineSeconds')
  const [deadline, before] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds]
  if (deadline === undefined) {
    if (before !== undefined)
      errors.push(invalid(path, undefined, 'must not update from a positive integer to nil value'))
    return true
  }
  if (deadline < 0 || deadline > maxDeadlineSeconds) {
    errors.push(invalid(path, deadline, `must be between 0 and ${maxDeadlineSeconds}, inclusive`))
    return false
  }
  if (before !== undefined && before < deadline) {
    errors.push(invalid(path, deadline, 'must be less than or equal to previous value'))
    return false
  }
  return true
}

function validateOnlyAddedTolerations(
  tolerations: readonly Toleration[],
  old: readonly Toleration[],
  errors: FieldError[],
): void {
  const path = specPath.child('tolerations')
  const keyOf = ({ key = '', operator = '', value = '', effect = '' }: Toleration) =>
    JSON.stringify([key, operator, value, effect])
  const now = new Set(tolerations.map(keyOf))
  const isKept = (was: Toleration) => now.has(keyOf(was))
  if (old.every(isKept)) validateTolerations(tolerations, path, errors)
  else errors.push(forbidden(path, 'existing toleration can not be modified except its tolerationSeconds'))
}

function validateOnlyRemovedGates(
  gates: readonly PodSchedulingGate[],
  old: readonly PodSchedulingGate[],
  errors: FieldError[],
): void {
  const before = new Set(old.map((was) => was.name))
  for (const [i, gate] of gates.entries()) {
    if (before.has(gate.name)) continue
    errors.push(
      forbidden(
        specPath.child('schedulingGates').index(i).child('name'),
        `only deletion is allowed, but found new scheduling gate '${gate.name}'`,
      ),
    )
  }
}

const isPrefix = (old: readonly unknown[] | undefined, next: readonly unknown[] | undefined): boolean =>
  !old?.length || ((next?.length ?? 0) >= old.length && semanticEqual(next!.slice(0, old.length), old))

function hasOnlyAdditions(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const wasEmpty = !old.matchExpressions?.length && !old.matchFields?.length
  // An empty term matches nothing. Adding requirements would make it match.
  if (wasEmpty && (term.matchExpressions?.length || term.matchFields?.length)) return false
  return isPrefix(old.matchExpressions, term.matchExpressions) && isPrefix(old.matchFields, term.matchFields)
}

/** A node selector term as Kubernetes' messages print it. */
const internalTerm = (term: NodeSelectorTerm) => {
  const list = (requirements: NodeSelectorTerm['matchFields']) =>
    requirements?.map(({ key, operator, values }) => ({ Key: key, Operator: operator, Values: values ?? null })) ?? null
  return { MatchExpressions: list(term.matchExpressions), MatchFields: list(term.matchFields) }
}

function validateNodeAffinityChange(
  affinity: NodeAffinity | undefined,
  old: NodeAffinity | undefined,
  errors: FieldError[],
): void {
  const field = 'requiredDuringSchedulingIgnoredDuringExecution'
  const oldTerms = old?.[field]?.nodeSelectorTerms ?? []
  const terms = affinity?.[field]?.nodeSelectorTerms ?? []
  const path = specPath.child('affinity', 'nodeAffinity', field, 'nodeSelectorTerms')
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    errors.push(
      invalid(path, terms.map(internalTerm), 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'),
    )
    return
  }
  for (const [i, was] of oldTerms.entries()) {
    if (hasOnlyAdditions(terms[i]!, was)) continue
    errors.push(
      invalid(path.index(i), internalTerm(terms[i]!), 'only additions are allowed (no mutations or deletions)'),
    )
  }
}

/**
 * While scheduling gates hold a pod, its node placement can be narrowed. Allowed changes are reverted in `munged`, so
 * the comparison ignores them.
 */
function validateGatedChanges(munged: PodSpec, old: PodSpec, errors: FieldError[]): void {
  if (!semanticEqual(munged.nodeSelector, old.nodeSelector)) {
    const isKept = ([key, value]: [string, string]) => munged.nodeSelector?.[key] === value
    if (!Object.entries(old.nodeSelector ?? {}).every(isKept)) {
      const message = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
      errors.push(invalid(specPath.child('nodeSelector'), munged.nodeSelector, message))
    }
    munged.nodeSelector = old.nodeSelector
  }
  const [affinity, was] = [munged.affinity?.nodeAffinity, old.affinity?.nodeAffinity]
  if (semanticEqual(affinity, was)) return
  validateNodeAffinityChange(affinity, was, errors)
  const { podAffinity, podAntiAffinity } = munged.affinity ?? {}
  munged.affinity =
    !old.affinity && !podAffinity && !podAntiAffinity ? undefined : { ...munged.affinity, nodeAffinity: was }
}

const withImagesOf = (containers: readonly Container[] | undefined, old: readonly Container[] | undefined) =>
  containers?.map((container, i) => ({ ...container, image: old![i]!.image }))

/** The spec with all mutable fields restored. Any remaining difference is an error. */
function withoutAllowedChanges(spec: PodSpec, old: PodSpec, errors: FieldError[]): PodSpec {
  const munged: PodSpec = {
    ...spec,
    containers: withImagesOf(spec.containers, old.containers) ?? [],
    initContainers: withImagesOf(spec.initContainers, old.initContainers),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    schedulingGates: old.schedulingGates,
    tolerations: old.tolerations,
  }
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && munged.terminationGracePeriodSeconds === 1) {
    munged.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds
  }
  if (old.schedulingGates?.length) validateGatedChanges(munged, old, errors)
  return munged
}

/** The top-level fields of the spec that differ. */
function changedFields(spec: PodSpec, old: PodSpec): string {
  const fields = new Set([...Object.keys(spec), ...Object.keys(old)]) as Set<keyof PodSpec>
  return [...fields]
    .filter((field) => !semanticEqual(spec[field], old[field]))
    .map((field) => `spec.${field}`)
    .sort()
    .join(', ')
}

/** Validates an update of a pod. Most of the spec is immutable. */
export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  const errors: FieldError[] = []
  const [spec, was] = [pod.spec, old.spec]
  validatePod(pod, errors)
  validatePodAnnotationsUpdate(pod.metadata, old.metadata, pod.spec, metaPath.child('annotations'), errors)
  if (!validateImages(spec.containers ?? [], was.containers ?? [], specPath.child('containers'), errors)) return errors
  if (!validateImages(spec.initContainers ?? [], was.initContainers ?? [], specPath.child('initContainers'), errors))
    return errors
  if (!validateDeadline(spec, was, errors)) return errors
  validateOnlyAddedTolerations(spec.tolerations ?? [], was.tolerations ?? [], errors)
  validateOnlyRemovedGates(spec.schedulingGates ?? [], was.schedulingGates ?? [], errors)
  if (semanticEqual(spec, was)) return errors
  const munged = withoutAllowedChanges(spec, was, errors)
  if (!semanticEqual(munged, was)) {
    errors.push(
      forbidden(
        specPath,
        `pod updates may not change fields other than ${updatableFields}\nchanged: ${changedFields(munged, was)}\n`,
      ),
    )
  }
  return errors
}
