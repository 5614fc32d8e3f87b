import { badRequest } from '../../../api/errors.ts'
import type {
  HorizontalPodAutoscaler,
  V2HorizontalPodAutoscaler,
  V2HorizontalPodAutoscalerCondition,
  V2MetricSpec,
  V2MetricStatus,
} from '../../../api/generated/types.ts'
import { jsonText, readJson } from '../../../api/json/index.ts'
import { behaviorFromText, behaviorText } from './hpa-behavior-annotation.ts'
import { defaultAutoscaler } from './hpa-defaults.ts'
import { metricFromV1, metricStatusFromV1, metricStatusToV1, metricToV1 } from './hpa-metric-conversion.ts'

const prefix = 'autoscaling.alpha.kubernetes.io/'

/** The annotations for data that has no field in v1. */
export const metricsAnnotation = `${prefix}metrics`
export const behaviorAnnotation = `${prefix}behavior`
export const currentMetricsAnnotation = `${prefix}current-metrics`
export const conditionsAnnotation = `${prefix}conditions`

type Annotations = Record<string, string> | undefined

const conversionAnnotations = [metricsAnnotation, behaviorAnnotation, currentMetricsAnnotation, conditionsAnnotation]

/** Removes the annotations that only conversion may set. */
export function withoutConversionAnnotations(annotations: Annotations): Annotations {
  if (!annotations || !conversionAnnotations.some((name) => Object.hasOwn(annotations, name))) return annotations
  const others = Object.entries(annotations).filter(([name]) => !conversionAnnotations.includes(name))
  return others.length ? Object.fromEntries(others) : undefined
}

/** Removes fields with the value undefined, which stored objects do not have. */
const withoutAbsent = <T>(value: T): T => readJson(jsonText(value)) as T

const isCpu = (metric: V2MetricSpec | V2MetricStatus) => metric.type === 'Resource' && metric.resource?.name === 'cpu'

/** Converts v2 to v1. */
export function autoscalerToV1(obj: V2HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { spec, status } = obj
  const metrics = spec.metrics ?? []
  const others = metrics.filter(
    (metric) => !(isCpu(metric) && metric.resource!.target.averageUtilization !== undefined),
  )
  const added: Record<string, string> = {}
  if (others.length) added[metricsAnnotation] = JSON.stringify(others.map(metricToV1))
  if (spec.behavior) added[behaviorAnnotation] = behaviorText(spec.behavior)
  if (status?.currentMetrics?.length)
    added[currentMetricsAnnotation] = JSON.stringify(status.currentMetrics.map(metricStatusToV1))
  if (status?.conditions?.length) added[conditionsAnnotation] = JSON.stringify(status.conditions.map(inOrder))
  const annotations = { ...withoutConversionAnnotations(obj.metadata.annotations), ...added }
  const currentCpu = status?.currentMetrics?.findLast(
    (metric) => isCpu(metric) && metric.resource!.current.averageUtilization !== undefined,
  )
  return withoutAbsent({
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { ...obj.metadata, annotations: Object.keys(annotations).length ? annotations : undefined },
    spec: {
      scaleTargetRef: spec.scaleTargetRef,
      minReplicas: spec.minReplicas,
      maxReplicas: spec.maxReplicas,
      targetCPUUtilizationPercentage: metrics.find(isCpu)?.resource?.target.averageUtilization,
    },
    status: {
      observedGeneration: status?.observedGeneration,
      lastScaleTime: status?.lastScaleTime,
      currentReplicas: status?.currentReplicas ?? 0,
      desiredReplicas: status?.desiredReplicas ?? 0,
      currentCPUUtilizationPercentage: currentCpu?.resource?.current.averageUtilization,
    },
  })
}

// Kubernetes' field order.
const inOrder = ({ type, status, lastTransitionTime, reason, message }: V2HorizontalPodAutoscalerCondition) => ({
  type,
  status,
  lastTransitionTime,
  reason,
  message,
})

/** Converts v1 to v2. Rejects invalid annotations. */
export function autoscalerFromV1(obj: HorizontalPodAutoscaler): V2HorizontalPodAutoscaler {
  const { annotations } = obj.metadata
  const { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: cpu } = obj.spec
  const metrics = readList(annotations?.[metricsAnnotation]).map(metricFromV1)
  if (cpu !== undefined)
    metrics.push({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpu } },
    })
  const behavior = annotations?.[behaviorAnnotation]
  const converted: V2HorizontalPodAutoscaler = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { ...obj.metadata, annotations: withoutConversionAnnotations(annotations) },
    spec: {
      scaleTargetRef,
      minReplicas,
      maxReplicas,
      metrics,
      behavior: behavior === undefined ? undefined : read(() => behaviorFromText(behavior)),
    },
    status: statusFromV1(obj),
  }
  defaultAutoscaler(converted)
  return withoutAbsent(converted)
}

// Kubernetes writes null for no metrics.
const noMetrics = null as unknown as V2MetricStatus[]

function statusFromV1(obj: HorizontalPodAutoscaler): V2HorizontalPodAutoscaler['status'] {
  const { annotations } = obj.metadata
  const cpu = obj.status?.currentCPUUtilizationPercentage
  const ofCpu: V2MetricStatus[] =
    cpu === undefined ? [] : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: cpu } } }]
  const carried = annotations?.[currentMetricsAnnotation]
  // The annotation has more detail than v1's single number.
  const currentMetrics = carried === undefined ? ofCpu : readList(carried).map(metricStatusFromV1)
  const conditions = readList(annotations?.[conditionsAnnotation]) as unknown as V2HorizontalPodAutoscalerCondition[]
  return {
    observedGeneration: obj.status?.observedGeneration,
    lastScaleTime: obj.status?.lastScaleTime,
    currentReplicas: obj.status?.currentReplicas || undefined,
    desiredReplicas: obj.status?.desiredReplicas ?? 0,
    currentMetrics: currentMetrics.length ? currentMetrics : noMetrics,
    conditions: conditions.length ? conditions.map(inOrder) : undefined,
  }
}

function readList(text: string | undefined): Record<string, unknown>[] {
  if (text === undefined) return []
  return read(() => {
    const value = (JSON.parse(text) ?? []) as unknown
    if (!Array.isArray(value)) throw new Error('json: cannot unmarshal object into Go value of type []v1.MetricSpec')
    return value as Record<string, unknown>[]
  })
}

function read<T>(parse: () => T): T {
  try {
    return parse()
  } catch (e) {
    throw badRequest(
      `HorizontalPodAutoscaler in version "v1" cannot be handled as a HorizontalPodAutoscaler: ${(e as Error).message}`,
    )
  }
}
