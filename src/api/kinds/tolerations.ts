import type { Toleration } from '../generated/types.ts'
import { notSupportedInOrder } from '../validation/field-checks.ts'
import { type FieldError, invalid } from '../validation/field-error.ts'
import { isLabelKey, isLabelValue } from '../validation/names.ts'
import type { Path } from '../validation/path.ts'

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Judges what taints of nodes a pod puts up with. */
export function validateTolerations(tolerations: readonly Toleration[], path: Path, errors: FieldError[]): void {
  for (let i = 0; i < tolerations.length; i++) {
    const { key, operator, value, effect, tolerationSeconds } = tolerations[i]!
    if (key) for (const problem of isLabelKey(key)) errors.push(invalid(path.index(i).child('key'), key, problem))
    if (!key && operator !== 'Exists') {
      const message = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push(invalid(path.index(i).child('operator'), operator ?? '', message))
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      errors.push(invalid(path.index(i).child('effect'), effect ?? '', "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    }
    validateOperator(operator, value, () => path.index(i).child('operator'), errors)
    if (effect && !effects.includes(effect)) errors.push(notSupportedInOrder(path.index(i).child('effect'), effect, effects))
  }
}

function validateOperator(operator: string | undefined, value: string | undefined, path: () => Path, errors: FieldError[]): void {
  if (operator === 'Exists') {
    if (value) errors.push(invalid(path(), value, "value must be empty when `operator` is 'Exists'"))
  } else if (!operator || operator === 'Equal') {
    const problems = isLabelValue(value ?? '')
    if (problems.length) errors.push(invalid(path(), value, problems.join(';')))
  } else {
    // Comparing operators are known and switched off: Kubernetes lists them all the same.
    const isComparison = operator === 'Gt' || operator === 'Lt'
    errors.push(notSupportedInOrder(path(), operator, isComparison ? ['Equal', 'Exists', 'Lt', 'Gt'] : ['Equal', 'Exists']))
  }
}
