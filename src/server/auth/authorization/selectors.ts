import { parseFieldSelector } from '../../../api/selectors/parse-field-selector.ts'
import { parseLabelRequirements } from '../../../api/selectors/parse-label-selector.ts'
import type { ResourceAttempt } from '../authorize.ts'

/** One requirement of a selector, in the form of SubjectAccessReview. */
export interface AttemptRequirement {
  key: string
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  values?: string[]
}

/** Which objects of a list, watch or deletecollection are meant. */
export interface AttemptSelectors {
  fields?: readonly AttemptRequirement[]
  labels?: readonly AttemptRequirement[]
}

const none: AttemptSelectors = {}
const selectingVerbs = new Set(['list', 'watch', 'deletecollection'])

/** The selectors that authorizers may judge by. One that cannot be parsed limits nothing, as in Kubernetes. */
export function selectorsOf({ verb, query, selectors }: ResourceAttempt): AttemptSelectors {
  if (selectors) return selectors
  if (!query || !selectingVerbs.has(verb)) return none
  const fields = query.get('fieldSelector')
  const labels = query.get('labelSelector')
  if (!fields && !labels) return none
  return { ...(fields ? { fields: fieldRequirements(fields) } : {}), ...(labels ? { labels: labelRequirements(labels) } : {}) }
}

/** The requirements of a field selector; none where it is malformed. */
export function fieldRequirements(text: string): AttemptRequirement[] {
  try {
    return parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({ key: field, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] }))
  } catch {
    return []
  }
}

const operators = new Map<string, AttemptRequirement['operator']>([
  ['in', 'In'], ['=', 'In'], ['==', 'In'], ['notin', 'NotIn'], ['!=', 'NotIn'], ['exists', 'Exists'], ['!', 'DoesNotExist'],
])

/** The requirements of a label selector; those that compare numbers have no form in a review and are left out. */
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

/** True if only objects whose field has this very value are meant. */
export const requiresField = ({ fields = [] }: AttemptSelectors, key: string, value: string): boolean =>
  fields.some((r) => r.key === key && r.operator === 'In' && r.values?.length === 1 && r.values[0] === value)
