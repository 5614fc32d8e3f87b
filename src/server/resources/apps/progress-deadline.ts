import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { positiveMessage } from '../../../api/validation/field-checks.ts'
import type { Path } from '../../../api/validation/path.ts'

interface Deadlined {
  progressDeadlineSeconds?: number
  minReadySeconds?: number
}

/** With the feature gate off, the field is kept only if the stored object has it. */
export function dropDeadline(spec: Deadlined, old: Deadlined | undefined, isOn: boolean): void {
  if (!isOn && old?.progressDeadlineSeconds === undefined) delete spec.progressDeadlineSeconds
}

/** Validates that the deadline is positive and greater than minReadySeconds. */
export function validateDeadline(spec: Deadlined, path: Path): FieldError[] {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec
  if (deadline === undefined) return []
  const at = path.child('progressDeadlineSeconds')
  if (deadline <= 0) return [invalid(at, deadline, positiveMessage)]
  return deadline > minReadySeconds ? [] : [invalid(at, deadline, 'must be greater than minReadySeconds')]
}
