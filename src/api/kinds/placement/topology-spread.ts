import type { TopologySpreadConstraint } from '../../generated/types.ts'
import { validateLabelSelector } from '../../selectors/label-selector.ts'
import { type FieldError, duplicate, invalid, notSupported, required } from '../../validation/field-error.ts'
import type { Path } from '../../validation/path.ts'
import { validateKeysNotSelected, validateLabelKeys } from './affinity.ts'

const actions = ['DoNotSchedule', 'ScheduleAnyway']
const policies = ['Honor', 'Ignore']
const positive = 'must be greater than zero'

function validateConstraint(
  constraint: TopologySpreadConstraint,
  isRepeated: boolean,
  path: Path,
  errors: FieldError[],
): void {
  const { maxSkew = 0, topologyKey, whenUnsatisfiable, minDomains } = constraint
  if (maxSkew <= 0) errors.push(invalid(path.child('maxSkew'), maxSkew, positive))
  if (!topologyKey) errors.push(required(path.child('topologyKey'), 'can not be empty'))
  if (!actions.includes(whenUnsatisfiable)) {
    errors.push(notSupported(path.child('whenUnsatisfiable'), whenUnsatisfiable ?? '', actions))
  }
  if (isRepeated) {
    errors.push(duplicate(path.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`))
  }
  if (minDomains !== undefined) {
    if (minDomains <= 0) errors.push(invalid(path.child('minDomains'), minDomains, positive))
    if (whenUnsatisfiable !== 'DoNotSchedule') {
      errors.push(
        invalid(
          path.child('minDomains'),
          minDomains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
        ),
      )
    }
  }
  for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
    const policy = constraint[field]
    if (policy !== undefined && !policies.includes(policy))
      errors.push(notSupported(path.child(field), policy, policies))
  }
  validateLabelKeys(constraint.matchLabelKeys, constraint.labelSelector, path.child('matchLabelKeys'), errors)
  validateKeysNotSelected(constraint.matchLabelKeys, constraint.labelSelector, path, errors)
  if (constraint.labelSelector)
    errors.push(...validateLabelSelector(constraint.labelSelector, path.child('labelSelector')))
}

/** Validates topology spread constraints. */
export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[],
  path: Path,
  errors: FieldError[],
): void {
  const keyOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint) =>
    JSON.stringify([topologyKey, whenUnsatisfiable])
  const last = new Map(constraints.map((constraint, i) => [keyOf(constraint), i]))
  for (const [i, constraint] of constraints.entries())
    validateConstraint(constraint, last.get(keyOf(constraint))! > i, path.index(i), errors)
}
