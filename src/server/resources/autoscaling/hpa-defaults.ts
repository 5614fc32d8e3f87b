import type { V2HPAScalingRules, V2HorizontalPodAutoscaler, V2HorizontalPodAutoscalerSpec } from '../../../api/generated/types.ts'

const defaultCpuUtilization = 80

const scaleUpRules = (): V2HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
})

// How long to look back before scaling down is the controller's setting where the object does not say.
const scaleDownRules = (): V2HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
})

function fillIn(rules: V2HPAScalingRules | undefined, defaults: V2HPAScalingRules): V2HPAScalingRules {
  const given = Object.entries(rules ?? {}).filter(([, value]) => value !== undefined)
  // A list of policies that was sent empty is not one that was left out: it stays, and is refused.
  return { ...defaults, ...Object.fromEntries(given) }
}

/** Fills in what the user left out of an autoscaler: one replica at least, CPU at 80 %, the usual pace of scaling. */
export function defaultAutoscaler(obj: V2HorizontalPodAutoscaler): void {
  const spec = (obj.spec ??= {} as V2HorizontalPodAutoscalerSpec)
  spec.minReplicas ??= 1
  if (!spec.metrics?.length) {
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: defaultCpuUtilization } } }]
  }
  if (!spec.behavior) return
  spec.behavior.scaleUp = fillIn(spec.behavior.scaleUp, scaleUpRules())
  spec.behavior.scaleDown = fillIn(spec.behavior.scaleDown, scaleDownRules())
}
