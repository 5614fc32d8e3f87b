import type {
  V2CrossVersionObjectReference,
  V2HPAScalingPolicy,
  V2HPAScalingRules,
  V2HorizontalPodAutoscaler,
  V2MetricSpec,
} from '../../../api/generated/types.ts'
import { quantitySign } from '../../../api/numbers/quantity.ts'
import { validateNonnegative } from '../../../api/validation/field-checks.ts'
import { type FieldError, forbidden, invalid, required } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import { unsupported } from '../apps/workload-rules.ts'
import { metricSources, metricTypes, validateMetricSource } from './hpa-metric-validation.ts'
import { apiVersionProblem, validateReference } from './hpa-metric-validation.ts'

const maxStabilizationSeconds = 3600
const maxPeriodSeconds = 1800
const selectPolicies = ['Disabled', 'Max', 'Min']
const policyTypes = ['Percent', 'Pods']

const specPath = Path.of('spec')
const statusPath = Path.of('status')

/** Validates an autoscaler's spec. A stored minReplicas of 0 may be kept. */
export function validateAutoscaler(obj: V2HorizontalPodAutoscaler, old?: V2HorizontalPodAutoscaler): FieldError[] {
  const { minReplicas, maxReplicas = 0, scaleTargetRef, metrics, behavior } = obj.spec
  const lowest = old?.spec.minReplicas === 0 ? 0 : 1
  const errors: FieldError[] = []
  if (minReplicas !== undefined && minReplicas < lowest) {
    errors.push(invalid(specPath.child('minReplicas'), minReplicas, `must be greater than or equal to ${lowest}`))
  }
  const maxPath = specPath.child('maxReplicas')
  if (maxReplicas === 0) errors.push(required(maxPath, 'must be set and greater than 0'))
  else if (maxReplicas < 0) errors.push(invalid(maxPath, maxReplicas, 'must be greater than or equal to 1'))
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    errors.push(invalid(maxPath, maxReplicas, 'must be greater than or equal to `minReplicas`'))
  }
  // The only scalable kind in the core group.
  const needsGroup = scaleTargetRef?.kind !== 'ReplicationController'
  return [
    ...errors,
    ...validateTarget(scaleTargetRef, specPath.child('scaleTargetRef'), needsGroup, old?.spec.scaleTargetRef),
    ...validateMetrics(metrics ?? [], minReplicas, specPath.child('metrics')),
    ...validateRules(behavior?.scaleUp, specPath.child('behavior', 'scaleUp')),
    ...validateRules(behavior?.scaleDown, specPath.child('behavior', 'scaleDown')),
  ]
}

function validateTarget(
  target: V2CrossVersionObjectReference | undefined,
  path: Path,
  needsGroup: boolean,
  old?: V2CrossVersionObjectReference,
): FieldError[] {
  const problem = apiVersionProblem(target?.apiVersion ?? '', needsGroup)
  // A stored value that is invalid today may be kept.
  const isOldHabit = old !== undefined && apiVersionProblem(old.apiVersion ?? '', needsGroup) !== undefined
  return [
    ...validateReference(target, path),
    ...(problem && !isOldHabit ? [invalid(path.child('apiVersion'), target?.apiVersion ?? '', problem)] : []),
  ]
}

function validateMetrics(metrics: readonly V2MetricSpec[], minReplicas: number | undefined, path: Path): FieldError[] {
  const errors = metrics.flatMap((metric, i) => validateMetric(metric, path.index(i)))
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    errors.push(
      forbidden(path, 'must specify at least one Object or External metric to support scaling to zero replicas'),
    )
  }
  return errors
}

function validateMetric(metric: V2MetricSpec, path: Path): FieldError[] {
  const type = metric.type ?? ''
  const errors: FieldError[] = []
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric source type'))
  if (!metricTypes.includes(type)) errors.push(unsupported(path.child('type'), type, metricTypes))
  const present = metricSources.filter((source) => metric[source] !== undefined)
  // Validates only the first of several sources, because the others are an error already.
  if (present[0]) errors.push(...validateMetricSource(metric, present[0], path.child(present[0])))
  const wanted = metricSources.find((source) => source.toLowerCase() === type.toLowerCase())
  if (!metricTypes.includes(type) || !wanted) errors.push(unsupported(path.child('type'), type, metricTypes))
  else if (metric[wanted] === undefined)
    errors.push(required(path.child(wanted), 'must populate information for the given metric source'))
  if (present.length === 1) return errors
  const others = present.filter((source) => source !== wanted)
  return [
    ...errors,
    ...others.map((source) => forbidden(path.child(source), 'must populate the given metric source only')),
  ]
}

function validateRules(rules: V2HPAScalingRules | undefined, path: Path): FieldError[] {
  if (!rules) return []
  const { stabilizationWindowSeconds: window, selectPolicy, policies, tolerance } = rules
  const errors: FieldError[] = []
  const windowPath = path.child('stabilizationWindowSeconds')
  if (window !== undefined && window < 0)
    errors.push(invalid(windowPath, window, 'must be greater than or equal to zero'))
  if (window !== undefined && window > maxStabilizationSeconds)
    errors.push(invalid(windowPath, window, `must be less than or equal to ${maxStabilizationSeconds}`))
  if (selectPolicy !== undefined && !selectPolicies.includes(selectPolicy)) {
    errors.push(unsupported(path.child('selectPolicy'), selectPolicy, selectPolicies))
  }
  if (!policies?.length) errors.push(required(path.child('policies'), 'must specify at least one Policy'))
  errors.push(...(policies ?? []).flatMap((policy, i) => validatePolicy(policy, path.child('policies').index(i))))
  if (tolerance !== undefined && quantitySign(tolerance) < 0) {
    errors.push(invalid(path.child('tolerance'), tolerance, 'must be greater than or equal to zero'))
  }
  return errors
}

function validatePolicy(policy: V2HPAScalingPolicy, path: Path): FieldError[] {
  const { type = '', value = 0, periodSeconds = 0 } = policy
  const errors: FieldError[] = []
  if (!policyTypes.includes(type)) errors.push(unsupported(path.child('type'), type, policyTypes))
  if (value <= 0) errors.push(invalid(path.child('value'), value, 'must be greater than zero'))
  if (periodSeconds <= 0) errors.push(invalid(path.child('periodSeconds'), periodSeconds, 'must be greater than zero'))
  if (periodSeconds > maxPeriodSeconds)
    errors.push(
      invalid(path.child('periodSeconds'), periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`),
    )
  return errors
}

/** Validates an autoscaler's status. */
export function validateAutoscalerStatus(obj: V2HorizontalPodAutoscaler): FieldError[] {
  return [
    ...validateNonnegative(obj.status?.currentReplicas, statusPath.child('currentReplicas')),
    ...validateNonnegative(obj.status?.desiredReplicas, statusPath.child('desiredReplicas')),
  ]
}
