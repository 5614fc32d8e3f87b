import type { V2HPAScalingRules, V2HorizontalPodAutoscalerBehavior } from '../../../api/generated/types.ts'

const rulesAsGo = (rules: V2HPAScalingRules | undefined) =>
  rules
    ? {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type, value, periodSeconds }) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
        Tolerance: rules.tolerance ?? null,
      }
    : null

/** The annotation text of a behavior in v1, with the field names of Kubernetes' internal type. */
export const behaviorText = (behavior: V2HorizontalPodAutoscalerBehavior): string =>
  JSON.stringify({ ScaleUp: rulesAsGo(behavior.scaleUp), ScaleDown: rulesAsGo(behavior.scaleDown) })

function lowerNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerNames)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(
    fields.map(([name, field]) => [name.slice(0, 1).toLowerCase() + name.slice(1), lowerNames(field)]),
  )
}

/** Parses the text of behaviorText. Throws a SyntaxError. */
export const behaviorFromText = (text: string): V2HorizontalPodAutoscalerBehavior | undefined =>
  (lowerNames(JSON.parse(text)) ?? undefined) as V2HorizontalPodAutoscalerBehavior | undefined
