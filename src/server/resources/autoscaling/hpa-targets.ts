import type {
  V2HorizontalPodAutoscaler,
  V2MetricSpec,
  V2MetricStatus,
  V2MetricTarget,
  V2MetricValueStatus,
} from '../../../api/generated/types.ts'

const unknown = '<unknown>'
const maxShown = 2

const percentText = (value: number | undefined) => (value === undefined ? undefined : `${value}%`)

/** Formats current and target usage of a resource: as a quantity for AverageValue targets, else in per cent. */
function resourceText(
  name: string,
  target: V2MetricTarget | undefined,
  current: V2MetricValueStatus | undefined,
): string {
  if (target?.averageValue !== undefined) return `${name}: ${current?.averageValue ?? unknown}/${target.averageValue}`
  return `${name}: ${percentText(current?.averageUtilization) ?? unknown}/${percentText(target?.averageUtilization) ?? '<auto>'}`
}

/** Formats current and target value of a metric, in total or per pod. */
function valueText(target: V2MetricTarget | undefined, current: V2MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`
  return `${current?.value ?? unknown}/${target?.value ?? ''}`
}

function metricText(spec: V2MetricSpec, status: V2MetricStatus | undefined): string {
  switch (spec.type) {
    case 'External':
      return valueText(spec.external?.target, status?.external?.current)
    case 'Object':
      return valueText(spec.object?.target, status?.object?.current)
    case 'Pods':
      return `${status?.pods?.current.averageValue ?? unknown}/${spec.pods?.target.averageValue ?? ''}`
    case 'Resource':
      return resourceText(spec.resource?.name ?? '', spec.resource?.target, status?.resource?.current)
    case 'ContainerResource':
      return resourceText(
        spec.containerResource?.name ?? '',
        spec.containerResource?.target,
        status?.containerResource?.current,
      )
    default:
      return '<unknown type>'
  }
}

/** Formats an autoscaler's targets: `cpu: 30%/50%, <unknown>/10 + 1 more...`. */
export function targetsText(obj: V2HorizontalPodAutoscaler): string {
  const metrics = obj.spec.metrics ?? []
  if (!metrics.length) return '<none>'
  const texts = metrics.map((metric, i) => metricText(metric, obj.status?.currentMetrics?.[i]))
  const shown = texts.slice(0, maxShown).join(', ')
  return texts.length > maxShown ? `${shown} + ${texts.length - maxShown} more...` : shown
}
