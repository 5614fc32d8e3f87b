import type {
  Affinity,
  LabelSelector,
  NodeAffinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodAntiAffinity,
} from '../../generated/types.ts'
import { validateLabelSelector } from '../../selectors/label-selector.ts'
import { type FieldError, forbidden, invalid, required } from '../../validation/field-error.ts'
import { isDns1123Label, isDns1123Subdomain, isLabelKey, isLabelValue } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'

function validateNodeRequirement(
  requirement: NodeSelectorRequirement,
  checkValues: boolean,
  path: Path,
  errors: FieldError[],
): void {
  const { key, operator, values = [] } = requirement
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push(forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    }
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) {
      errors.push(required(path.child('values'), "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    }
  } else {
    errors.push(invalid(path.child('operator'), operator ?? '', 'not a valid selector operator'))
  }
  for (const problem of isLabelKey(key ?? '')) errors.push(invalid(path.child('key'), key ?? '', problem))
  if (!checkValues) return
  for (const [i, value] of values.entries()) {
    for (const problem of isLabelValue(value)) errors.push(invalid(path.child('values').index(i), value, problem))
  }
}

function validateNodeFieldRequirement(requirement: NodeSelectorRequirement, path: Path, errors: FieldError[]): void {
  const { key, operator, values = [] } = requirement
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(invalid(path.child('operator'), operator ?? '', 'not a valid selector operator'))
  } else if (values.length !== 1) {
    errors.push(
      required(
        path.child('values'),
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    )
  }
  if (key !== 'metadata.name') {
    errors.push(invalid(path.child('key'), key ?? '', 'not a valid field selector key'))
    return
  }
  for (const [i, value] of values.entries()) {
    for (const problem of isDns1123Subdomain(value)) errors.push(invalid(path.child('values').index(i), value, problem))
  }
}

/** Validates a node selector term. In a preference, values need not be valid label values. */
function validateNodeSelectorTerm(
  term: NodeSelectorTerm,
  checkValues: boolean,
  path: Path,
  errors: FieldError[],
): void {
  for (const [i, requirement] of (term.matchExpressions ?? []).entries()) {
    validateNodeRequirement(requirement, checkValues, path.child('matchExpressions').index(i), errors)
  }
  for (const [i, requirement] of (term.matchFields ?? []).entries()) {
    validateNodeFieldRequirement(requirement, path.child('matchFields').index(i), errors)
  }
}

/** Validates a node selector of a pod or persistent volume. */
export function validateNodeSelector(selector: NodeSelector, path: Path, errors: FieldError[]): void {
  const at = path.child('nodeSelectorTerms')
  const terms = selector.nodeSelectorTerms ?? []
  if (terms.length === 0) errors.push(required(at, 'must have at least one node selector term'))
  for (const [i, term] of terms.entries()) validateNodeSelectorTerm(term, true, at.index(i), errors)
}

const requiredField = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferredField = 'preferredDuringSchedulingIgnoredDuringExecution'

function validateWeight(weight: number, path: Path, errors: FieldError[]): void {
  if (weight <= 0 || weight > 100) errors.push(invalid(path.child('weight'), weight, 'must be in the range 1-100'))
}

function validateNodeAffinity(affinity: NodeAffinity, path: Path, errors: FieldError[]): void {
  if (affinity[requiredField]) validateNodeSelector(affinity[requiredField], path.child(requiredField), errors)
  for (const [i, term] of (affinity[preferredField] ?? []).entries()) {
    const at = path.child(preferredField).index(i)
    validateWeight(term.weight ?? 0, at, errors)
    validateNodeSelectorTerm(term.preference ?? {}, false, at.child('preference'), errors)
  }
}

/** Validates matchLabelKeys and mismatchLabelKeys, whose values come from the pod itself. */
export function validateLabelKeys(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  path: Path,
  errors: FieldError[],
): void {
  if (!keys?.length) return
  if (!selector) {
    errors.push(forbidden(path, 'must not be specified when labelSelector is not set'))
    return
  }
  for (const [i, key] of keys.entries())
    for (const problem of isLabelKey(key)) errors.push(invalid(path.index(i), key, problem))
}

/**
 * Rejects keys that the selector already has. When a pod is created, the keys are merged into the selector, so a key
 * that occurs there twice was already in it.
 */
export function validateKeysNotSelected(
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
  path: Path,
  errors: FieldError[],
): void {
  if (!keys?.length || !selector) return
  const seen = new Set(Object.keys(selector.matchLabels ?? {}))
  for (const { key } of selector.matchExpressions ?? []) {
    const i = keys.lastIndexOf(key)
    if (i >= 0 && seen.has(key))
      errors.push(invalid(path.index(i), key, 'exists in both matchLabelKeys and labelSelector'))
    seen.add(key)
  }
}

function validatePodAffinityTerm(term: PodAffinityTerm, path: Path, errors: FieldError[]): void {
  const { labelSelector, namespaceSelector, namespaces, matchLabelKeys, mismatchLabelKeys, topologyKey } = term
  if (labelSelector) errors.push(...validateLabelSelector(labelSelector, path.child('labelSelector')))
  if (namespaceSelector) errors.push(...validateLabelSelector(namespaceSelector, path.child('namespaceSelector')))
  for (const name of namespaces ?? []) {
    for (const problem of isDns1123Label(name)) errors.push(invalid(path.child('namespace'), name, problem))
  }
  validateLabelKeys(matchLabelKeys, labelSelector, path.child('matchLabelKeys'), errors)
  validateLabelKeys(mismatchLabelKeys, labelSelector, path.child('mismatchLabelKeys'), errors)
  validateKeysNotSelected(matchLabelKeys, labelSelector, path, errors)
  for (const [i, key] of (matchLabelKeys ?? []).entries()) {
    if (!mismatchLabelKeys?.includes(key)) continue
    errors.push(
      invalid(path.child('matchLabelKeys').index(i), key, 'exists in both matchLabelKeys and mismatchLabelKeys'),
    )
  }
  if (!topologyKey) errors.push(required(path.child('topologyKey'), 'can not be empty'))
  for (const problem of isLabelKey(topologyKey ?? ''))
    errors.push(invalid(path.child('topologyKey'), topologyKey ?? '', problem))
}

function validatePodAffinity(affinity: PodAffinity | PodAntiAffinity, path: Path, errors: FieldError[]): void {
  for (const [i, term] of (affinity[requiredField] ?? []).entries()) {
    validatePodAffinityTerm(term, path.child(requiredField).index(i), errors)
  }
  for (const [i, term] of (affinity[preferredField] ?? []).entries()) {
    const at = path.child(preferredField).index(i)
    validateWeight(term.weight ?? 0, at, errors)
    validatePodAffinityTerm(term.podAffinityTerm, at.child('podAffinityTerm'), errors)
  }
}

/** Validates node affinity, pod affinity and pod anti-affinity. */
export function validateAffinity(affinity: Affinity, path: Path, errors: FieldError[]): void {
  if (affinity.nodeAffinity) validateNodeAffinity(affinity.nodeAffinity, path.child('nodeAffinity'), errors)
  if (affinity.podAffinity) validatePodAffinity(affinity.podAffinity, path.child('podAffinity'), errors)
  if (affinity.podAntiAffinity) validatePodAffinity(affinity.podAntiAffinity, path.child('podAntiAffinity'), errors)
}
