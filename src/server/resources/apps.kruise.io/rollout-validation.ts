import type { UpdatePriorityStrategy, UpdateScatterTerm } from '../../../api/generated/types.ts'
import {
  type IntOrString,
  isPercent,
  percentOf,
  validateNonnegativeIntOrPercent,
} from '../../../api/numbers/int-or-string.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, invalid, required } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import { isEmptySelector, isUsableSelector } from '../apps/workload-rules.ts'
import { type Rollout, podUpdatePolicies } from './cloneset-spec.ts'

/** Validates the rolling update. */
export function validateRollout({ policy, policyPath, rolling, path }: Rollout, replicas: number): FieldError[] {
  const { partition, maxUnavailable, maxSurge, priorityStrategy, scatterStrategy, inPlaceUpdateStrategy } = rolling
  const errors: FieldError[] = []
  if (!podUpdatePolicies.includes(policy ?? ''))
    errors.push(invalid(policyPath, policy ?? '', "must be 'ReCreate', 'InPlaceIfPossible' or 'InPlaceOnly'"))
  for (const [name, value] of Object.entries({ partition, maxUnavailable, maxSurge })) {
    if (value !== undefined) errors.push(...validateNonnegativeIntOrPercent(value, path.child(name)))
  }
  const priorityProblem = priorityStrategy && problemOfPriority(priorityStrategy)
  if (priorityProblem) errors.push(required(path.child('priorityStrategy'), priorityProblem))
  const scatterProblem = problemOfScatter(scatterStrategy ?? [])
  if (scatterProblem) errors.push(required(path.child('scatterStrategy'), scatterProblem))
  errors.push(
    ...validateNonnegative(
      inPlaceUpdateStrategy?.gracePeriodSeconds,
      path.child('inPlaceUpdateStrategy', 'gracePeriodSeconds'),
    ),
  )

  const surge = countOf(maxSurge, replicas)
  if (policy === 'InPlaceOnly' && surge > 0)
    errors.push(invalid(path.child('maxSurge'), maxSurge, 'can not use maxSurge with strategy type InPlaceOnly'))
  if (replicas > 0 && surge < 1 && countOf(maxUnavailable, replicas) < 1) {
    errors.push(
      invalid(
        path.child('maxUnavailable'),
        maxUnavailable,
        'maxUnavailable and maxSurge should not both be less than 1',
      ),
    )
  }
  return errors
}

/** An invalid percentage counts as 0, because it has its own error. */
const countOf = (value: IntOrString | undefined, replicas: number): number =>
  value === undefined || (typeof value === 'string' && !isPercent(value)) ? 0 : percentOf(value, replicas, true)

const anywhere = Path.of('matchSelector')

function problemOfPriority({ weightPriority = [], orderPriority = [] }: UpdatePriorityStrategy): string | undefined {
  if (weightPriority.length && orderPriority.length) return 'only one of weightPriority and orderPriority can be used'
  for (const { weight, matchSelector } of weightPriority) {
    if (weight < 0 || weight > 100) return 'weight must be valid number in the range 1-100'
    if (isEmptySelector(matchSelector)) return 'selector can not be empty'
    if (!isUsableSelector(matchSelector, anywhere)) return 'invalid selector'
  }
  return orderPriority.some(({ orderedKey }) => !orderedKey) ? 'order key can not be empty' : undefined
}

function problemOfScatter(terms: readonly UpdateScatterTerm[]): string | undefined {
  const seen = new Set<string>()
  for (const { key, value } of terms) {
    if (!key) return 'key should not be empty'
    const pair = JSON.stringify([key, value])
    if (seen.has(pair)) return `duplicated key=${key} value=${value}`
    seen.add(pair)
  }
  return undefined
}
