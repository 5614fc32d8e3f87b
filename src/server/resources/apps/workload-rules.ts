import { semanticEqual } from '../../../api/deep-equal.ts'
import type { LabelSelector, ObjectMeta, PodTemplateSpec } from '../../../api/generated/types.ts'
import { type IntOrString, intOrPercentValue } from '../../../api/numbers/int-or-string.ts'
import type { Int64 } from '../../../api/numbers/int64.ts'
import { validatePodTemplateSpec } from '../../../api/kinds/pods/pod-template.ts'
import {
  labelSelectorMatches,
  labelSelectorText,
  validateLabelSelector,
} from '../../../api/selectors/label-selector.ts'
import { immutableMessage, validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, quoteValue, required } from '../../../api/validation/field-error.ts'
import { isDns1123Label } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'
import type { ScaleMapping } from '../../registry/resource.ts'

/** A NotSupported error that lists the allowed values in the given order. */
export const unsupported = (path: Path, value: unknown, allowed: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field: path.toString(),
  message: `Unsupported value: ${quoteValue(value)}: supported values: ${allowed.map((v) => JSON.stringify(v)).join(', ')}`,
})

/** An Invalid error without a value. */
export const invalidAsAWhole = (path: Path, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field: path.toString(),
  message: `Invalid value: ${detail}`,
})

/** The words of a kind in selector errors. */
interface SelectorWords {
  empty: string
  malformed: string
  kind: string
}

/**
 * Validates a required, non-empty selector and the template that it must select, whose pods run until they are deleted.
 * `path` is the path of both, `old` the template before.
 */
export function validateSelectedTemplate(
  selector: LabelSelector | null | undefined,
  template: PodTemplateSpec,
  path: Path,
  words: SelectorWords,
  old?: PodTemplateSpec,
): FieldError[] {
  const selectorPath = path.child('selector')
  const templatePath = path.child('template')
  const errors = validateOwnSelector(selector, selectorPath, words.empty)
  if (!isUsableSelector(selector, selectorPath))
    return [...errors, invalid(selectorPath, selectorAsGo(selector), words.malformed)]
  return [
    ...errors,
    ...validateSelectorMatches(selector, template, templatePath),
    ...validateLongRunningTemplate(template, templatePath, words.kind, old),
  ]
}

function validateOwnSelector(selector: LabelSelector | null | undefined, path: Path, emptyWords: string): FieldError[] {
  if (!selector) return [required(path)]
  const errors = validateLabelSelector(selector, path)
  if (isEmptySelector(selector)) errors.push(invalid(path, selectorAsGo(selector), emptyWords))
  return errors
}

/** True if a selector is absent or can be converted to a query. */
export const isUsableSelector = (selector: LabelSelector | null | undefined, path: Path): boolean =>
  validateLabelSelector(selector, path).length === 0

export const isEmptySelector = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0

/** Validates that the selector matches the template. An empty selector has its own error. */
function validateSelectorMatches(
  selector: LabelSelector | null | undefined,
  template: PodTemplateSpec,
  path: Path,
): FieldError[] {
  if (selector && isEmptySelector(selector)) return []
  if (labelSelectorMatches(selector, template.metadata?.labels)) return []
  return [labelsMismatch(template, path)]
}

export const labelsMismatch = (template: PodTemplateSpec, path: Path): FieldError =>
  invalid(
    path.child('metadata', 'labels'),
    mapAsGo(template.metadata?.labels),
    '`selector` does not match template `labels`',
  )

/** Formats a map as Kubernetes' messages do, sorted by key. */
export const mapAsGo = (map: Record<string, string> | null | undefined): Record<string, string> | undefined =>
  map ? Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))) : undefined

/** Formats a selector as Kubernetes' messages do. */
export function selectorAsGo(selector: LabelSelector | null | undefined): unknown {
  if (!selector) return null
  const { matchLabels, matchExpressions } = selector
  return {
    matchLabels: mapAsGo(matchLabels),
    matchExpressions: matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values })),
  }
}

/** Validates that the selector is unchanged. */
export function validateSelectorUnchanged(
  selector: LabelSelector | null | undefined,
  old: LabelSelector | null | undefined,
  path: Path,
): FieldError[] {
  return semanticEqual(selector ?? null, old ?? null) && !selector === !old
    ? []
    : [invalid(path, selectorAsGo(selector), immutableMessage)]
}

/** The number of a count or percentage: `25%` is 25. Kubernetes uses it only to check for zero. */
export function plainValue(value: IntOrString): number {
  return typeof value === 'string' && /^[+-]?[0-9]+$/.test(value) ? Number(value) : intOrPercentValue(value)
}

/** Validates a template whose pods run until they are deleted. `kind` is the name in the message. */
export function validateLongRunningTemplate(
  template: PodTemplateSpec,
  path: Path,
  kind: string,
  old?: PodTemplateSpec,
): FieldError[] {
  return [
    ...validatePodTemplateSpec(template, path, old ? { old } : {}),
    ...validateLongRunningPod(template, path, kind),
  ]
}

/** Validates that pods have restartPolicy Always and no activeDeadlineSeconds. */
function validateLongRunningPod(template: PodTemplateSpec, path: Path, kind: string): FieldError[] {
  const spec = template.spec
  const errors: FieldError[] = []
  if (spec?.restartPolicy !== 'Always')
    errors.push(unsupported(path.child('spec', 'restartPolicy'), spec?.restartPolicy ?? '', ['Always']))
  if (spec?.activeDeadlineSeconds !== undefined) {
    errors.push(
      forbidden(path.child('spec', 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`),
    )
  }
  return errors
}

type Counts<K extends string> = Partial<Record<K, Int64>>

/** Validates that counts are not negative. */
export function validateCounts<K extends string>(status: Counts<K>, names: readonly K[], path: Path): FieldError[] {
  return names.flatMap((name) => validateNonnegative(status[name], path.child(name)))
}

/** Validates that counts do not exceed status.replicas. */
export function validateAtMostReplicas<K extends string>(
  status: Counts<K> & { replicas?: number },
  names: readonly K[],
  path: Path,
): FieldError[] {
  const total = status.replicas ?? 0
  const tooLarge = names.filter((name) => (status[name] ?? 0) > total)
  return tooLarge.map((name) => invalid(path.child(name), status[name] ?? 0, 'cannot be greater than status.replicas'))
}

/** Validates that availableReplicas does not exceed readyReplicas. */
export function validateAvailableAreReady(
  status: { readyReplicas?: number; availableReplicas?: number },
  path: Path,
  message: string,
): FieldError[] {
  const { readyReplicas = 0, availableReplicas = 0 } = status
  return availableReplicas > readyReplicas ? [invalid(path.child('availableReplicas'), availableReplicas, message)] : []
}

/** Validates that collisionCount does not decrease: revision names depend on it. */
export function validateCollisionCount(
  status: { collisionCount?: number } | undefined,
  old: { collisionCount?: number } | undefined,
  path: Path,
): FieldError[] {
  if (old?.collisionCount === undefined) return []
  const count = status?.collisionCount ?? 0
  const isLess = status?.collisionCount === undefined || count < old.collisionCount
  return isLess ? [invalid(path.child('collisionCount'), count, 'cannot be decremented')] : []
}

/** Warns at creation about a name that is not a DNS label, because pod names derive from it. */
export function podNameWarnings(meta: ObjectMeta): string[] {
  const problems = isDns1123Label(meta.name ?? '')
  if (!problems.length) return []
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ]
}

interface Scaled {
  spec?: { replicas?: number; selector?: LabelSelector | Record<string, string> | null }
  status?: { replicas?: number }
}

/** Maps Scale for a kind with spec.replicas and status.replicas. `selector` returns an object's selector. */
export const replicaScale = <T extends Scaled>(
  selector: (obj: T) => LabelSelector | null | undefined,
): ScaleMapping<T> => ({
  specReplicas: (obj) => obj.spec?.replicas ?? 0,
  statusReplicas: (obj) => obj.status?.replicas ?? 0,
  selector(obj) {
    const text = labelSelectorText(selector(obj))
    return text === '<none>' || text === '<error>' ? '' : text
  },
  setReplicas(obj, replicas) {
    obj.spec!.replicas = replicas
  },
})

/** Keeps the stored spec in a status update. */
export function keepSpec<T extends { spec?: unknown }>(obj: T, old: T): void {
  obj.spec = old.spec
}

/** Creates the required parts of a workload's template. */
export function ensureTemplate(spec: { template?: PodTemplateSpec }): PodTemplateSpec {
  const template = (spec.template ??= {} as PodTemplateSpec)
  template.metadata ??= {}
  template.spec ??= { containers: [] }
  return template
}
