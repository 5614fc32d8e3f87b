import { parseFieldSelector } from '../../../api/selectors/parse-field-selector.ts'
import { parseLabelRequirements } from '../../../api/selectors/parse-label-selector.ts'

/** One requirement of a selector, in the form of a SubjectAccessReview. */
export interface AttemptRequirement {
  key: string
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  values?: string[]
}

/** The selectors of a list, watch or deletecollection. */
export interface AttemptSelectors {
  fields?: readonly AttemptRequirement[]
  labels?: readonly AttemptRequirement[]
}

/** The parts of an attempt that determine its selectors. */
interface SelectingAttempt {
  readonly verb: string
  readonly query?: URLSearchParams
  readonly selectors?: AttemptSelectors
}

const none: AttemptSelectors = {}
const selectingVerbs = new Set(['list', 'watch', 'deletecollection'])

/** Returns the selectors for authorizers. As in Kubernetes, a selector that cannot be parsed restricts nothing. */
export function selectorsOf({ verb, query, selectors }: SelectingAttempt): AttemptSelectors {
  if (selectors) return selectors
  if (!query || !selectingVerbs.has(verb)) return none
  const fields = query.get('fieldSelector')
  const labels = query.get('labelSelector')
  if (!fields && !labels) return none
  return {
    ...(fields ? { fields: fieldRequirements(fields) } : {}),
    ...(labels ? { labels: labelRequirements(labels) } : {}),
  }
}

/** Returns the requirements of a field selector; none if it is malformed. */
export function fieldRequirements(text: string): AttemptRequirement[] {
  try {
    return parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({
      key: field,
      operator: operator === '!=' ? 'NotIn' : 'In',
      values: [value],
    }))
  } catch {
    return []
  }
}

const operators = new Map<string, AttemptRequirement['operator']>([
  ['in', 'In'],
  ['=', 'In'],
  ['==', 'In'],
  ['notin', 'NotIn'],
  ['!=', 'NotIn'],
  ['exists', 'Exists'],
  ['!', 'DoesNotExist'],
])

/** Returns the requirements of a label selector. Numeric comparisons have no form in a review and are omitted. */
export function labelRequirements(text: string): AttemptRequirement[] {
  try {
    return parseLabelRequirements(text).flatMap(({ key, operator, values }) => {
      const known = operators.get(operator)
      return known ? [{ key, operator: known, ...(values.length ? { values: [...values] } : {}) }] : []
    })
  } catch {
    return []
  }
}

/** True if the selector requires `key` to equal `value`. */
export const requiresField = ({ fields = [] }: AttemptSelectors, key: string, value: string): boolean =>
  fields.some((r) => r.key === key && r.operator === 'In' && r.values?.length === 1 && r.values[0] === value)
