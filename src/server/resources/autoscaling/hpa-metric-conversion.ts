import type {
  LabelSelector,
  V2CrossVersionObjectReference,
  V2MetricSpec,
  V2MetricStatus,
} from '../../../api/generated/types.ts'

/** A metric in v1's annotations: flat, with the target type in the field name, in Kubernetes' field order. */
interface V1Metric {
  type: string
  object?: V1Object
  pods?: V1Pods
  resource?: V1Resource
  containerResource?: V1Resource & { container?: string }
  external?: V1External
}

interface V1Object {
  target: V2CrossVersionObjectReference
  metricName: string
  targetValue?: string
  currentValue?: string
  selector?: LabelSelector
  averageValue?: string
}

interface V1Pods {
  metricName: string
  targetAverageValue?: string
  currentAverageValue?: string
  selector?: LabelSelector
}

interface V1Resource {
  name: string
  targetAverageUtilization?: number
  targetAverageValue?: string
  currentAverageUtilization?: number
  currentAverageValue?: string
}

interface V1External {
  metricName: string
  metricSelector?: LabelSelector
  targetValue?: string
  targetAverageValue?: string
  currentValue?: string
  currentAverageValue?: string
}

const reference = ({ kind, name, apiVersion }: V2CrossVersionObjectReference) => ({
  kind,
  name,
  apiVersion: apiVersion || undefined,
})

/** Converts a metric to v1's form. */
export function metricToV1(metric: V2MetricSpec): V1Metric {
  const { type, object, pods, resource, containerResource, external } = metric
  return {
    type,
    object: object && {
      target: reference(object.describedObject),
      metricName: object.metric.name,
      targetValue: object.target.value ?? '0',
      selector: object.metric.selector,
      averageValue: object.target.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? '0',
      selector: pods.metric.selector,
    },
    resource: resource && {
      name: resource.name,
      targetAverageUtilization: resource.target.averageUtilization,
      targetAverageValue: resource.target.averageValue,
    },
    containerResource: containerResource && {
      name: containerResource.name,
      targetAverageUtilization: containerResource.target.averageUtilization,
      targetAverageValue: containerResource.target.averageValue,
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      targetValue: external.target.value,
      targetAverageValue: external.target.averageValue,
    },
  }
}

const resourceTarget = (resource: V1Resource) => ({
  type: resource.targetAverageUtilization === undefined ? 'AverageValue' : 'Utilization',
  averageUtilization: resource.targetAverageUtilization,
  averageValue: resource.targetAverageValue,
})

/** Converts a metric from v1's form, which a user may have written. */
export function metricFromV1(value: Record<string, unknown>): V2MetricSpec {
  const { type, object, pods, resource, containerResource, external } = value as unknown as V1Metric
  return {
    type: type ?? '',
    object: object && {
      describedObject: object.target,
      metric: { name: object.metricName, selector: object.selector },
      target: {
        type: object.averageValue === undefined ? 'Value' : 'AverageValue',
        value: object.averageValue === undefined ? (object.targetValue ?? '0') : undefined,
        averageValue: object.averageValue,
      },
    },
    pods: pods && {
      metric: { name: pods.metricName, selector: pods.selector },
      target: { type: 'AverageValue', averageValue: pods.targetAverageValue ?? '0' },
    },
    resource: resource && { name: resource.name, target: resourceTarget(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container ?? '',
      target: resourceTarget(containerResource),
    },
    external: external && {
      metric: { name: external.metricName, selector: external.metricSelector },
      target: {
        type: external.targetValue === undefined ? 'AverageValue' : 'Value',
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      },
    },
  }
}

/** Converts a metric status to v1's form. */
export function metricStatusToV1(metric: V2MetricStatus): V1Metric {
  const { type, object, pods, resource, containerResource, external } = metric
  return {
    type,
    object: object && {
      target: reference(object.describedObject),
      metricName: object.metric.name,
      currentValue: object.current.value ?? '0',
      selector: object.metric.selector,
      averageValue: object.current.averageValue,
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? '0',
      selector: pods.metric.selector,
    },
    resource: resource && {
      name: resource.name,
      currentAverageUtilization: resource.current.averageUtilization,
      currentAverageValue: resource.current.averageValue ?? '0',
    },
    containerResource: containerResource && {
      name: containerResource.name,
      currentAverageUtilization: containerResource.current.averageUtilization,
      currentAverageValue: containerResource.current.averageValue ?? '0',
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      metricSelector: external.metric.selector,
      currentValue: external.current.value ?? '0',
      currentAverageValue: external.current.averageValue,
    },
  }
}

const resourceCurrent = (resource: V1Resource) => ({
  averageUtilization: resource.currentAverageUtilization,
  averageValue: resource.currentAverageValue,
})

/** Converts a metric status from v1's form. */
export function metricStatusFromV1(value: Record<string, unknown>): V2MetricStatus {
  const { type, object, pods, resource, containerResource, external } = value as unknown as V1Metric
  return {
    type: type ?? '',
    object: object && {
      describedObject: object.target,
      metric: { name: object.metricName, selector: object.selector },
      current: { value: object.currentValue, averageValue: object.averageValue },
    },
    pods: pods && {
      metric: { name: pods.metricName, selector: pods.selector },
      current: { averageValue: pods.currentAverageValue },
    },
    resource: resource && { name: resource.name, current: resourceCurrent(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container ?? '',
      current: resourceCurrent(containerResource),
    },
    external: external && {
      metric: { name: external.metricName, selector: external.metricSelector },
      current: { value: external.currentValue, averageValue: external.currentAverageValue },
    },
  }
}
