import type {
  V2HPAScalingRules,
  V2HorizontalPodAutoscaler,
  V2HorizontalPodAutoscalerSpec,
} from '../../../api/generated/types.ts'

const defaultCpuUtilization = 80

const scaleUpRules = (): V2HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
})

// Without a stabilization window in the object, the controller's setting applies.
const scaleDownRules = (): V2HPAScalingRules => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
})

function fillIn(rules: V2HPAScalingRules | undefined, defaults: V2HPAScalingRules): V2HPAScalingRules {
  const given = Object.entries(rules ?? {}).filter(([, value]) => value !== undefined)
  // An explicitly empty list of policies is kept, and rejected by validation.
  return { ...defaults, ...Object.fromEntries(given) }
}

/** Applies the defaults of an autoscaler: minReplicas 1, CPU at 80 %, the default behavior. */
export function defaultAutoscaler(obj: V2HorizontalPodAutoscaler): void {
  const spec = (obj.spec ??= {} as V2HorizontalPodAutoscalerSpec)
  spec.minReplicas ??= 1
  if (!spec.metrics?.length) {
    spec.metrics = [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: defaultCpuUtilization } },
      },
    ]
  }
  if (!spec.behavior) return
  spec.behavior.scaleUp = fillIn(spec.behavior.scaleUp, scaleUpRules())
  spec.behavior.scaleDown = fillIn(spec.behavior.scaleDown, scaleDownRules())
}
