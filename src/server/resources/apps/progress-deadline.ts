import { type FieldError, invalid } from '../../../api/validation/field-error.ts'
import { positiveMessage } from '../../../api/validation/field-checks.ts'
import type { Path } from '../../../api/validation/path.ts'

/** "No deadline": what a StatefulSet or DaemonSet has that does not ask for one. */
export const noDeadline = 2147483647

interface Deadlined {
  progressDeadlineSeconds?: number
  minReadySeconds?: number
}

/** With its gate off the field is only kept where it already is. */
export function dropDeadline(spec: Deadlined, old: Deadlined | undefined, isOn: boolean): void {
  if (!isOn && old?.progressDeadlineSeconds === undefined) delete spec.progressDeadlineSeconds
}

/** A deadline is positive and leaves a pod the time to become available. */
export function validateDeadline(spec: Deadlined, path: Path): FieldError[] {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec
  if (deadline === undefined) return []
  const at = path.child('progressDeadlineSeconds')
  if (deadline <= 0) return [invalid(at, deadline, positiveMessage)]
  return deadline > minReadySeconds ? [] : [invalid(at, deadline, 'must be greater than minReadySeconds')]
}
