import { kindNames } from '../../../api/kind-names.ts'
import type { LabelSelector, PodDisruptionBudget, PodDisruptionBudgetSpec } from '../../../api/generated/types.ts'
import { isNotMoreThan100Percent, validateNonnegativeIntOrPercent } from '../../../api/numbers/int-or-string.ts'
import { validateLabelSelector } from '../../../api/selectors/label-selector.ts'
import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { pathSegmentName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { type Column, defineResource } from '../../registry/resource.ts'
import { keepSpec, selectorAsGo, unsupported, validateCounts } from '../apps/workload-rules.ts'
import { validateConditions } from './condition-rules.ts'

const specPath = Path.of('spec')
const statusPath = Path.of('status')

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

/** The reserved label key with which v1beta1 distinguished an empty selector from one of v1. It is never returned. */
const reservedKey = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'

function stripReservedKey(selector: LabelSelector | undefined): void {
  if (selector?.matchLabels) delete selector.matchLabels[reservedKey]
  if (!selector?.matchExpressions?.some((requirement) => requirement.key === reservedKey)) return
  const others = selector.matchExpressions.filter((requirement) => requirement.key !== reservedKey)
  if (others.length) selector.matchExpressions = others
  else delete selector.matchExpressions
}

function validateSpec(spec: PodDisruptionBudgetSpec): FieldError[] {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec
  const errors: FieldError[] = []
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: selectorAsGo(spec.selector),
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: policy ?? null,
    }
    errors.push(invalid(specPath, shown, 'minAvailable and maxUnavailable cannot be both set'))
  }
  for (const field of ['minAvailable', 'maxUnavailable'] as const) {
    const value = spec[field]
    if (value === undefined) continue
    errors.push(
      ...validateNonnegativeIntOrPercent(value, specPath.child(field)),
      ...isNotMoreThan100Percent(value, specPath.child(field)),
    )
  }
  errors.push(...validateLabelSelector(spec.selector, specPath.child('selector')))
  if (policy !== undefined && !evictionPolicies.includes(policy)) {
    errors.push(unsupported(specPath.child('unhealthyPodEvictionPolicy'), policy, evictionPolicies))
  }
  return errors
}

const amount = (
  name: string,
  description: string,
  value: (spec: PodDisruptionBudgetSpec) => number | string | undefined,
): Column<PodDisruptionBudget> => ({
  name,
  type: 'string',
  description,
  cell: (obj) => String(value(obj.spec ?? {}) ?? 'N/A'),
})

const columns: Column<PodDisruptionBudget>[] = [
  nameColumn(),
  amount('Min Available', 'The minimum number of pods that must be available.', (spec) => spec.minAvailable),
  amount('Max Unavailable', 'The maximum number of pods that may be unavailable.', (spec) => spec.maxUnavailable),
  {
    name: 'Allowed Disruptions',
    type: 'integer',
    description: 'Calculated number of pods that may be disrupted at this time.',
    cell: (obj) => obj.status?.disruptionsAllowed ?? 0,
  },
  ageColumn(),
]

/** policy/v1 PodDisruptionBudgets. */
export const poddisruptionbudgets = defineResource<PodDisruptionBudget>({
  ...kindNames.poddisruptionbudgets,
  // As in Kubernetes, only the rules for all kinds apply to the name.
  nameRule: pathSegmentName,
  generation: true,
  allowUnconditionalUpdate: false,
  defaults: (obj) => stripReservedKey(obj.spec?.selector),
  validate: (obj) => validateSpec(obj.spec ?? {}),
  validateUpdate: (obj) => validateSpec(obj.spec ?? {}),
  status: {
    prepare: keepSpec,
    validate: (obj) => [
      ...validateConditions(obj.status?.conditions, statusPath.child('conditions')),
      ...validateCounts(
        obj.status ?? {},
        ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'],
        statusPath,
      ),
    ],
  },
  columns,
})
