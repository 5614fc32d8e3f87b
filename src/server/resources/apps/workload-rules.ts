import { semanticEqual } from '../../../api/deep-equal.ts'
import type { LabelSelector, ObjectMeta, PodTemplateSpec } from '../../../api/generated/types.ts'
import { type IntOrString, intOrPercentValue } from '../../../api/int-or-string.ts'
import type { Int64 } from '../../../api/int64.ts'
import { validatePodTemplateSpec } from '../../../api/kinds/pod-template.ts'
import { labelSelectorMatches, labelSelectorText, validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { immutableMessage, validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, quoteValue, required } from '../../../api/validation/field-error.ts'
import { isDns1123Label } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'
import type { ScaleMapping } from '../../registry/resource.ts'

/** The value is not one of those allowed, which are listed in the order given. */
export const unsupported = (path: Path, value: unknown, allowed: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field: path.toString(),
  message: `Unsupported value: ${quoteValue(value)}: supported values: ${allowed.map((v) => JSON.stringify(v)).join(', ')}`,
})

/** Something is wrong with a field whose value says nothing by itself. */
export const invalidAsAWhole = (path: Path, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field: path.toString(),
  message: `Invalid value: ${detail}`,
})

/** What a kind says of a selector that is no good, and its name where it speaks of its pods. */
export interface SelectorWords {
  empty: string
  malformed: string
  kind: string
}

/**
 * Judges a selector that must be there, be well-formed and select something, and the template whose pods it has to select: pods that run
 * until they are deleted. `path` is that of both, `old` the template as it was.
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
  if (!isUsableSelector(selector, selectorPath)) return [...errors, invalid(selectorPath, selectorAsGo(selector), words.malformed)]
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

/** Whether a selector is well-formed, as far as turning it into a query goes; one that is absent is. */
export const isUsableSelector = (selector: LabelSelector | null | undefined, path: Path): boolean => validateLabelSelector(selector, path).length === 0

export const isEmptySelector = (selector: LabelSelector): boolean =>
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0

/** The template's pods must be selected by the object's own selector; an empty selector says nothing. */
export function validateSelectorMatches(selector: LabelSelector | null | undefined, template: PodTemplateSpec, path: Path): FieldError[] {
  if (selector && isEmptySelector(selector)) return []
  if (labelSelectorMatches(selector, template.metadata?.labels)) return []
  return [labelsMismatch(template, path)]
}

export const labelsMismatch = (template: PodTemplateSpec, path: Path): FieldError =>
  invalid(path.child('metadata', 'labels'), mapAsGo(template.metadata?.labels), '`selector` does not match template `labels`')

/** A map as it stands in Kubernetes' messages: its keys sorted. */
export const mapAsGo = (map: Record<string, string> | null | undefined): Record<string, string> | undefined =>
  map ? Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))) : undefined

/** A selector as it stands in Kubernetes' messages. */
export function selectorAsGo(selector: LabelSelector | null | undefined): unknown {
  if (!selector) return null
  const { matchLabels, matchExpressions } = selector
  return {
    matchLabels: mapAsGo(matchLabels),
    matchExpressions: matchExpressions?.map(({ key, operator, values }) => ({ key, operator, values })),
  }
}

/** The selector of a kind whose pods are found by it for good. */
export function validateSelectorUnchanged(selector: LabelSelector | null | undefined, old: LabelSelector | null | undefined, path: Path): FieldError[] {
  return semanticEqual(selector ?? null, old ?? null) && !selector === !old ? [] : [invalid(path, selectorAsGo(selector), immutableMessage)]
}

/** What a count or percentage comes to by itself: `25%` is 25, as Kubernetes sees it where only zero matters. */
export function plainValue(value: IntOrString): number {
  return typeof value === 'string' && /^[+-]?[0-9]+$/.test(value) ? Number(value) : intOrPercentValue(value)
}

/** Judges the template of a kind whose pods run until they are deleted; `kind` is the name in the message. */
export function validateLongRunningTemplate(template: PodTemplateSpec, path: Path, kind: string, old?: PodTemplateSpec): FieldError[] {
  return [...validatePodTemplateSpec(template, path, old ? { old } : {}), ...validateLongRunningPod(template, path, kind)]
}

/** Pods that run until they are deleted restart always and have no deadline. */
export function validateLongRunningPod(template: PodTemplateSpec, path: Path, kind: string): FieldError[] {
  const spec = template.spec
  const errors: FieldError[] = []
  if (spec?.restartPolicy !== 'Always') errors.push(unsupported(path.child('spec', 'restartPolicy'), spec?.restartPolicy ?? '', ['Always']))
  if (spec?.activeDeadlineSeconds !== undefined) {
    errors.push(forbidden(path.child('spec', 'activeDeadlineSeconds'), `activeDeadlineSeconds in ${kind} is not Supported`))
  }
  return errors
}

type Counts<K extends string> = Partial<Record<K, Int64>>

/** None of the named counts may be negative. */
export function validateCounts<K extends string>(status: Counts<K>, names: readonly K[], path: Path): FieldError[] {
  return names.flatMap((name) => validateNonnegative(status[name], path.child(name)))
}

/** None of the named counts may be above status.replicas. */
export function validateAtMostReplicas<K extends string>(status: Counts<K> & { replicas?: number }, names: readonly K[], path: Path): FieldError[] {
  const total = status.replicas ?? 0
  const tooLarge = names.filter((name) => (status[name] ?? 0) > total)
  return tooLarge.map((name) => invalid(path.child(name), status[name] ?? 0, 'cannot be greater than status.replicas'))
}

/** A pod is ready before it is available. */
export function validateAvailableAreReady(status: { readyReplicas?: number; availableReplicas?: number }, path: Path, message: string): FieldError[] {
  const { readyReplicas = 0, availableReplicas = 0 } = status
  return availableReplicas > readyReplicas ? [invalid(path.child('availableReplicas'), availableReplicas, message)] : []
}

/** The count of hash collisions only grows: names of revisions are built from it. */
export function validateCollisionCount(status: { collisionCount?: number } | undefined, old: { collisionCount?: number } | undefined, path: Path): FieldError[] {
  if (old?.collisionCount === undefined) return []
  const count = status?.collisionCount ?? 0
  const isLess = status?.collisionCount === undefined || count < old.collisionCount
  return isLess ? [invalid(path.child('collisionCount'), count, 'cannot be decremented')] : []
}

/** A name that is no DNS label makes poor names of pods. Said once, at creation. */
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

/** Scale for a kind with replicas in the usual places; `selector` gives the selector of an object. */
export const replicaScale = <T extends Scaled>(selector: (obj: T) => LabelSelector | null | undefined): ScaleMapping<T> => ({
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

/** A write of the status leaves the spec as it is. */
export function keepSpec<T extends { spec?: unknown }>(obj: T, old: T): void {
  obj.spec = old.spec
}

/** The template of a workload with the parts that are always there. */
export function ensureTemplate(spec: { template?: PodTemplateSpec }): PodTemplateSpec {
  const template = (spec.template ??= {} as PodTemplateSpec)
  template.metadata ??= {}
  template.spec ??= { containers: [] }
  return template
}
