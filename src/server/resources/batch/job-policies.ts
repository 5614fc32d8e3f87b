import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '../../../api/generated/types.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, duplicate, invalid, required, tooLong, tooMany } from '../../../api/validation/field-error.ts'
import { byteLength, isQualifiedName } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'
import { invalidAsAWhole, unsupported } from '../apps/workload-rules.ts'
import { countIndexes, validateIndexes } from './job-indexes.ts'

const maxRules = 20
const maxExitCodes = 255
const maxConditions = 20
const maxIndexesLength = 64 * 1024

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const conditionStatuses = ['False', 'True', 'Unknown']

const validValues = (values: readonly string[]) => `valid values: [${values.map((v) => JSON.stringify(v)).join(' ')}]`

/** Applies the default status True to pod conditions. */
export function defaultPodFailurePolicy(policy: PodFailurePolicy | undefined): void {
  for (const rule of policy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True'
  }
}

/** Validates the pod failure policy of a Job. */
export function validatePodFailurePolicy(spec: JobSpec, path: Path): FieldError[] {
  if (!spec.podFailurePolicy) return []
  const rules = spec.podFailurePolicy.rules ?? []
  const rulesPath = path.child('rules')
  const pod = spec.template.spec
  const containers = new Set(
    [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map((container) => container.name),
  )
  return [
    ...(rules.length > maxRules ? [tooMany(rulesPath, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, i) => validateFailureRule(spec, rule, rulesPath.index(i), containers)),
  ]
}

function validateFailureRule(
  spec: JobSpec,
  rule: PodFailurePolicyRule,
  path: Path,
  containers: ReadonlySet<string>,
): FieldError[] {
  const errors = validateAction(spec, rule.action ?? '', path.child('action'))
  const conditions = rule.onPodConditions ?? []
  if (rule.onExitCodes) errors.push(...validateExitCodes(rule.onExitCodes, path.child('onExitCodes'), containers))
  errors.push(...validateConditions(conditions, path.child('onPodConditions')))
  if (rule.onExitCodes && conditions.length)
    errors.push(invalidAsAWhole(path, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  if (!rule.onExitCodes && !conditions.length)
    errors.push(invalidAsAWhole(path, 'specifying one of OnExitCodes and OnPodConditions is required'))
  return errors
}

function validateAction(spec: JobSpec, action: string, path: Path): FieldError[] {
  if (action === '') return [required(path, validValues(actions))]
  if (action === 'FailIndex') {
    return spec.backoffLimitPerIndex === undefined
      ? [invalid(path, action, 'requires the backoffLimitPerIndex to be set')]
      : []
  }
  return actions.includes(action) ? [] : [unsupported(path, action, actions)]
}

function validateConditions(conditions: readonly PodFailurePolicyOnPodConditionsPattern[], path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (conditions.length > maxConditions) errors.push(tooMany(path, conditions.length, maxConditions))
  for (const [i, { type = '', status = '' }] of conditions.entries()) {
    const at = path.index(i)
    errors.push(...isQualifiedName(type).map((problem) => invalid(at.child('type'), type, problem)))
    if (status === '') errors.push(required(at.child('status'), validValues(conditionStatuses)))
    else if (!conditionStatuses.includes(status))
      errors.push(unsupported(at.child('status'), status, conditionStatuses))
  }
  return errors
}

function validateExitCodes(
  codes: PodFailurePolicyOnExitCodesRequirement,
  path: Path,
  containers: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = []
  const operator = codes.operator ?? ''
  if (operator === '') errors.push(required(path.child('operator'), validValues(operators)))
  else if (!operators.includes(operator)) errors.push(unsupported(path.child('operator'), operator, operators))
  if (codes.containerName !== undefined && !containers.has(codes.containerName)) {
    errors.push(
      invalid(
        path.child('containerName'),
        codes.containerName,
        'must be one of the container or initContainer names in the pod template',
      ),
    )
  }
  const values = codes.values ?? []
  const at = path.child('values')
  if (!values.length) errors.push(invalid(at, codes.values, 'at least one value is required'))
  else if (values.length > maxExitCodes) errors.push(tooMany(at, values.length, maxExitCodes))
  const seen = new Set<number>()
  for (const [i, value] of values.entries()) {
    if (operator === 'In' && value === 0) errors.push(invalid(at.index(i), value, 'must not be 0 for the In operator'))
    if (seen.has(value)) errors.push(duplicate(at.index(i), value))
    seen.add(value)
  }
  if (values.some((value, i) => i > 0 && values[i - 1]! > value)) errors.push(invalid(at, values, 'must be ordered'))
  return errors
}

/** Validates the success policy of a Job. */
export function validateSuccessPolicy(spec: JobSpec, path: Path): FieldError[] {
  if (!spec.successPolicy) return []
  if (spec.completionMode !== 'Indexed')
    return [invalid(path, successPolicyAsGo(spec.successPolicy), 'requires indexed completion mode')]
  const rules = spec.successPolicy.rules ?? []
  const rulesPath = path.child('rules')
  const errors: FieldError[] = []
  if (!rules.length)
    errors.push(required(rulesPath, 'at least one rules must be specified when the successPolicy is specified'))
  if (rules.length > maxRules) errors.push(tooMany(rulesPath, rules.length, maxRules))
  return [
    ...errors,
    ...rules.flatMap((rule, i) => validateSuccessRule(rule, spec.completions ?? 0, rulesPath.index(i))),
  ]
}

function validateSuccessRule(rule: SuccessPolicyRule, completions: number, path: Path): FieldError[] {
  const { succeededIndexes: indexes, succeededCount: count } = rule
  const errors: FieldError[] = []
  if (indexes === undefined && count === undefined) {
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  }
  let total = 0
  if (indexes !== undefined) {
    const at = path.child('succeededIndexes')
    // As in Kubernetes, a text that is too long is parsed as well.
    if (byteLength(indexes) > maxIndexesLength) return [tooLong(at, maxIndexesLength)]
    errors.push(...validateIndexes(indexes, completions, 'succeededIndexes', at))
    const counted = countIndexes(indexes, completions)
    total = 'total' in counted ? counted.total : 0
  }
  if (count === undefined) return errors
  const at = path.child('succeededCount')
  errors.push(...validateNonnegative(count, at))
  if (count > completions)
    errors.push(
      invalid(at, count, `must be less than or equal to ${completions} (the number of specified completions)`),
    )
  if (indexes !== undefined && count > total) {
    errors.push(
      invalid(
        at,
        count,
        `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`,
      ),
    )
  }
  return errors
}

/** Formats the policy as Kubernetes' messages do. */
export function successPolicyAsGo(policy: SuccessPolicy | undefined): unknown {
  if (!policy) return null
  const rules = policy.rules?.map((r) => ({
    SucceededIndexes: r.succeededIndexes ?? null,
    SucceededCount: r.succeededCount ?? null,
  }))
  return { Rules: rules ?? null }
}

/** Formats the policy as Kubernetes' messages do. */
export function podFailurePolicyAsGo(policy: PodFailurePolicy | undefined): unknown {
  if (!policy) return null
  const rules = policy.rules?.map(({ action, onExitCodes: codes, onPodConditions: conditions }) => ({
    Action: action,
    OnExitCodes: codes
      ? { ContainerName: codes.containerName ?? null, Operator: codes.operator, Values: codes.values }
      : null,
    OnPodConditions: conditions?.map(({ type, status }) => ({ Type: type, Status: status ?? '' })) ?? null,
  }))
  return { Rules: rules ?? null }
}
