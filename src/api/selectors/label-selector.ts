import type { LabelSelector, LabelSelectorRequirement } from '../generated/types.ts'
import { type FieldError, forbidden, invalid, required } from '../validation/field-error.ts'
import { isLabelKey, isLabelValue } from '../validation/names.ts'
import { Path } from '../validation/path.ts'

/** The labels of an object. */
export type Labels = Readonly<Record<string, string>> | undefined

/** True if the selector matches an object with these labels. */
export type LabelMatcher = (labels: Labels) => boolean

/** Exceptions for selectors of objects that were stored under older rules. */
interface LabelSelectorOptions {
  allowInvalidLabelValueInSelector?: boolean
}

function validateValues(requirement: LabelSelectorRequirement, path: Path): FieldError[] {
  const count = requirement.values?.length ?? 0
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return count ? [] : [required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return count
        ? [forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : []
    default:
      return [invalid(path.child('operator'), requirement.operator ?? '', 'not a valid selector operator')]
  }
}

function validateRequirement(
  requirement: LabelSelectorRequirement,
  options: LabelSelectorOptions,
  path: Path,
): FieldError[] {
  const key = requirement.key ?? ''
  const errors = [
    ...validateValues(requirement, path),
    ...isLabelKey(key).map((problem) => invalid(path.child('key'), key, problem)),
  ]
  if (options.allowInvalidLabelValueInSelector) return errors
  for (const [i, value] of (requirement.values ?? []).entries()) {
    errors.push(...isLabelValue(value).map((problem) => invalid(path.child('values').index(i), value, problem)))
  }
  return errors
}

function validateMatchLabels(labels: Record<string, string>, path: Path): FieldError[] {
  return Object.keys(labels)
    .sort()
    .flatMap((key) => [
      ...isLabelKey(key).map((problem) => invalid(path, key, problem)),
      ...isLabelValue(labels[key]!).map((problem) => invalid(path, labels[key], problem)),
    ])
}

/** Validates a selector, which may be absent. */
export function validateLabelSelector(
  selector: LabelSelector | undefined | null,
  path: Path,
  options: LabelSelectorOptions = {},
): FieldError[] {
  if (!selector) return []
  return [
    ...validateMatchLabels(selector.matchLabels ?? {}, path.child('matchLabels')),
    ...(selector.matchExpressions ?? []).flatMap((requirement, i) =>
      validateRequirement(requirement, options, path.child('matchExpressions').index(i)),
    ),
  ]
}

const valueOf = (labels: Labels, key: string): string | undefined =>
  labels !== undefined && labels !== null && Object.hasOwn(labels, key) ? labels[key] : undefined

function compileRequirement({ key, operator, values }: LabelSelectorRequirement): LabelMatcher {
  switch (operator) {
    case 'In':
      return (labels) => {
        const value = valueOf(labels, key)
        return value !== undefined && !!values?.includes(value)
      }
    case 'NotIn':
      return (labels) => {
        const value = valueOf(labels, key)
        return value === undefined || !values?.includes(value)
      }
    case 'Exists':
      return (labels) => valueOf(labels, key) !== undefined
    case 'DoesNotExist':
      return (labels) => valueOf(labels, key) === undefined
    default:
      throw new Error(`${JSON.stringify(operator)} is not a valid label selector operator`)
  }
}

/** Matches objects with all of the given labels. An empty map matches everything. */
export function selectorFromMap(map: Labels): LabelMatcher {
  const wanted = Object.entries(map ?? {})
  return (labels) => wanted.every(([key, value]) => valueOf(labels, key) === value)
}

/** Compiles a selector. An absent one matches nothing, an empty one everything. Throws for an unknown operator. */
export function compileLabelSelector(selector: LabelSelector | undefined | null): LabelMatcher {
  if (!selector) return () => false
  const hasLabels = selectorFromMap(selector.matchLabels)
  const requirements = (selector.matchExpressions ?? []).map(compileRequirement)
  return (labels) => hasLabels(labels) && requirements.every((matches) => matches(labels))
}

/** True if the selector matches these labels. An invalid selector matches nothing. */
export function labelSelectorMatches(selector: LabelSelector | undefined | null, labels: Labels): boolean {
  if (!isConvertible(selector)) return false
  return compileLabelSelector(selector)(labels)
}

// Selectors that Kubernetes converts to its internal form without an error.
const isConvertible = (selector: LabelSelector | undefined | null): boolean =>
  validateLabelSelector(selector, Path.of('selector')).length === 0

const setText = (values: readonly string[] | undefined) => `(${[...(values ?? [])].sort().join(',')})`

function requirementText({ key, operator, values }: LabelSelectorRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in ${setText(values)}`
    case 'NotIn':
      return `${key} notin ${setText(values)}`
    case 'DoesNotExist':
      return `!${key}`
    default:
      return key
  }
}

/**
 * The selector as kubectl shows it: `a=b,c in (d,e)`; `<none>` for an empty one, `<error>` for one that is not valid.
 */
export function labelSelectorText(selector: LabelSelector | undefined | null): string {
  if (!selector) return '<none>'
  if (!isConvertible(selector)) return '<error>'
  const equalities = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }))
  const expressions = (selector.matchExpressions ?? []).map((r) => ({ key: r.key, text: requirementText(r) }))
  const parts = [...equalities, ...expressions].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return parts.map((part) => part.text).join(',') || '<none>'
}
