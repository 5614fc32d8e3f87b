import type { Taint, Toleration } from '../../generated/types.ts'
import { notSupportedInOrder } from '../../validation/field-checks.ts'
import { type FieldError, invalid } from '../../validation/field-error.ts'
import { isLabelKey, isLabelValue } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Validates tolerations. */
export function validateTolerations(tolerations: readonly Toleration[], path: Path, errors: FieldError[]): void {
  for (let i = 0; i < tolerations.length; i++) {
    const { key, operator, value, effect, tolerationSeconds } = tolerations[i]!
    if (key) for (const problem of isLabelKey(key)) errors.push(invalid(path.index(i).child('key'), key, problem))
    if (!key && operator !== 'Exists') {
      const message = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push(invalid(path.index(i).child('operator'), operator ?? '', message))
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      errors.push(
        invalid(
          path.index(i).child('effect'),
          effect ?? '',
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      )
    }
    validateOperator(operator, value, () => path.index(i).child('operator'), errors)
    if (effect && !effects.includes(effect))
      errors.push(notSupportedInOrder(path.index(i).child('effect'), effect, effects))
  }
}

function validateOperator(
  operator: string | undefined,
  value: string | undefined,
  path: () => Path,
  errors: FieldError[],
): void {
  if (operator === 'Exists') {
    if (value) errors.push(invalid(path(), value, "value must be empty when `operator` is 'Exists'"))
  } else if (!operator || operator === 'Equal') {
    const problems = isLabelValue(value ?? '')
    if (problems.length) errors.push(invalid(path(), value, problems.join(';')))
  } else {
    // Kubernetes lists the numeric operators in its message although their feature is disabled.
    const isComparison = operator === 'Gt' || operator === 'Lt'
    errors.push(
      notSupportedInOrder(path(), operator, isComparison ? ['Equal', 'Exists', 'Lt', 'Gt'] : ['Equal', 'Exists']),
    )
  }
}

/** True if a toleration tolerates a taint. An empty key or effect matches every key or effect. */
export function tolerates({ effect, key, operator, value }: Toleration, taint: Taint): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (!operator || operator === 'Equal') && Boolean(key) && (value ?? '') === (taint.value ?? '')
}

/** True if two taints have the same key and effect, which identify a taint. */
export const isSameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect

/** The first taint with one of these effects that the pod does not tolerate. */
export const untoleratedTaint = (
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined =>
  taints?.find(
    (taint) => effects.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)),
  )
