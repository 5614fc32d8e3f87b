import type {
  V2MetricIdentifier,
  V2MetricSpec,
  V2MetricTarget,
  V2CrossVersionObjectReference,
} from '../../../api/generated/types.ts'
import { quantitySign } from '../../../api/numbers/quantity.ts'
import { type FieldError, forbidden, invalid, required } from '../../../api/validation/field-error.ts'
import { isDns1123Label, isPathSegment, isQualifiedName } from '../../../api/validation/names.ts'
import type { Path } from '../../../api/validation/path.ts'

/** The metric types, sorted. */
export const metricTypes: readonly string[] = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

/** The source fields of a metric, in the order in which Kubernetes validates them. */
export const metricSources = ['object', 'external', 'pods', 'resource', 'containerResource'] as const

/** Validates the source and target of a metric. */
export function validateMetricSource(
  metric: V2MetricSpec,
  source: (typeof metricSources)[number],
  path: Path,
): FieldError[] {
  switch (source) {
    case 'object':
      return validateObject(metric.object!, path)
    case 'external':
      return validateExternal(metric.external!, path)
    case 'pods':
      return validatePods(metric.pods!, path)
    case 'resource':
      return validateResource(metric.resource!, path)
    case 'containerResource':
      return validateContainerResource(metric.containerResource!, path)
  }
}

function validateObject(object: NonNullable<V2MetricSpec['object']>, path: Path): FieldError[] {
  const { describedObject, metric, target } = object
  const problem = apiVersionProblem(describedObject?.apiVersion ?? '', false)
  const errors = validateReference(describedObject, path.child('describedObject'))
  if (problem) errors.push(invalid(path.child('describedObject', 'apiVersion'), describedObject.apiVersion, problem))
  errors.push(...validateIdentifier(metric, path.child('metric')), ...validateTarget(target, path.child('target')))
  if (target?.value === undefined && target?.averageValue === undefined) {
    errors.push(required(path.child('target', 'averageValue'), 'must set either a target value or averageValue'))
  }
  return errors
}

function validateExternal(external: NonNullable<V2MetricSpec['external']>, path: Path): FieldError[] {
  const { metric, target } = external
  const errors = [...validateIdentifier(metric, path.child('metric')), ...validateTarget(target, path.child('target'))]
  if (target?.value === undefined && target?.averageValue === undefined) {
    errors.push(
      required(path.child('target', 'averageValue'), 'must set either a target value for metric or a per-pod target'),
    )
  }
  if (target?.value !== undefined && target.averageValue !== undefined) {
    errors.push(
      forbidden(path.child('target', 'value'), 'may not set both a target value for metric and a per-pod target'),
    )
  }
  return errors
}

function validatePods(pods: NonNullable<V2MetricSpec['pods']>, path: Path): FieldError[] {
  const errors = [
    ...validateIdentifier(pods.metric, path.child('metric')),
    ...validateTarget(pods.target, path.child('target')),
  ]
  if (pods.target?.averageValue === undefined) {
    errors.push(required(path.child('target', 'averageValue'), 'must specify a positive target averageValue'))
  }
  return errors
}

function validateResource(resource: NonNullable<V2MetricSpec['resource']>, path: Path): FieldError[] {
  const errors = resource.name ? [] : [required(path.child('name'), 'must specify a resource name')]
  return [...errors, ...validateResourceTarget(resource.target, path.child('target'))]
}

function validateContainerResource(resource: NonNullable<V2MetricSpec['containerResource']>, path: Path): FieldError[] {
  const { name, container, target } = resource
  const errors: FieldError[] = []
  if (!name) errors.push(required(path.child('name'), 'must specify a resource name'))
  else errors.push(...validateContainerResourceName(name, path.child('name')))
  if (!container) errors.push(required(path.child('container'), 'must specify a container'))
  else errors.push(...isDns1123Label(container).map((problem) => invalid(path.child('container'), container, problem)))
  return [...errors, ...validateResourceTarget(target, path.child('target'))]
}

const standardResources = /^(cpu|memory|ephemeral-storage|storage|hugepages-.*)$/

function validateContainerResourceName(name: string, path: Path): FieldError[] {
  const errors = isQualifiedName(name).map((problem) => invalid(path, name, problem))
  if (errors.length || name.includes('/') || standardResources.test(name)) return errors
  return [
    invalid(path, name, 'must be a standard resource type or fully qualified'),
    invalid(path, name, 'must be a standard resource for containers'),
  ]
}

function validateResourceTarget(target: V2MetricTarget | undefined, path: Path): FieldError[] {
  const errors = validateTarget(target, path)
  if (target?.averageUtilization === undefined && target?.averageValue === undefined) {
    errors.push(
      required(path.child('averageUtilization'), 'must set either a target raw value or a target utilization'),
    )
  }
  if (target?.averageUtilization !== undefined && target.averageValue !== undefined) {
    errors.push(forbidden(path.child('averageValue'), 'may not set both a target raw value and a target utilization'))
  }
  return errors
}

function validateTarget(target: V2MetricTarget | undefined, path: Path): FieldError[] {
  const { type = '', value, averageValue, averageUtilization } = target ?? { type: '' }
  const errors: FieldError[] = []
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric target type'))
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    errors.push(invalid(path.child('type'), type, 'must be either Utilization, Value, or AverageValue'))
  }
  if (value !== undefined && quantitySign(value) !== 1)
    errors.push(invalid(path.child('value'), value, 'must be positive'))
  if (averageValue !== undefined && quantitySign(averageValue) !== 1)
    errors.push(invalid(path.child('averageValue'), averageValue, 'must be positive'))
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.push(invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0'))
  }
  return errors
}

function validateIdentifier(metric: V2MetricIdentifier | undefined, path: Path): FieldError[] {
  const name = metric?.name ?? ''
  if (name === '') return [required(path.child('name'), 'must specify a metric name')]
  return isPathSegment(name, false).map((problem) => invalid(path.child('name'), name, problem))
}

/** Validates the kind and name of a reference. */
export function validateReference(target: V2CrossVersionObjectReference | undefined, path: Path): FieldError[] {
  return (['kind', 'name'] as const).flatMap((field) => {
    const value = target?.[field] ?? ''
    if (value === '') return [required(path.child(field))]
    return isPathSegment(value, false).map((problem) => invalid(path.child(field), value, problem))
  })
}

/** Describes an error in an apiVersion; undefined if it is valid. */
export function apiVersionProblem(apiVersion: string, needsGroup: boolean): string | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`
  const group = parts.length === 2 ? parts[0] : ''
  return needsGroup && group === '' ? 'apiVersion must specify API group' : undefined
}
