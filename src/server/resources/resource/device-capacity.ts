import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from '../../../api/generated/types.ts'
import { addQuantities, compareQuantity, quantitySign, quantityValue } from '../../../api/numbers/quantity.ts'
import { type FieldError, forbidden, invalid, required } from '../../../api/validation/field-error.ts'
import type { Path } from '../../../api/validation/path.ts'
import { validateUnique } from './device-names.ts'

const maxValues = 10

/** Validates a capacity. A sharing policy requires allowMultipleAllocations. */
export function validateCapacity(
  { value, requestPolicy: policy }: DeviceCapacity,
  isShared: boolean,
  path: Path,
): FieldError[] {
  if (!policy) return []
  const at = path.child('requestPolicy')
  return isShared ? validatePolicy(value, policy, at) : [forbidden(at, 'allowMultipleAllocations must be true')]
}

function validatePolicy(capacity: string, policy: CapacityRequestPolicy, path: Path): FieldError[] {
  const { validValues = [], validRange, default: usual } = policy
  if (validValues.length && validRange) {
    return [
      forbidden(
        path,
        'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
      ),
    ]
  }
  const kind = validValues.length ? 'validValues' : validRange ? 'validRange' : undefined
  if (!kind) return []
  if (usual === undefined) return [required(path.child('default'), `required when ${kind} is defined`)]
  return validRange
    ? validateRange(capacity, usual, validRange, path.child(kind))
    : validateValues(capacity, usual, validValues, path.child(kind))
}

function validateValues(capacity: string, usual: string, values: readonly string[], path: Path): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, value] of values.entries()) {
    if (i > 0 && compareQuantity(values[i - 1]!, value) > 0) {
      errors.push(invalid(path.index(i), value, 'values must be sorted in ascending order'))
    }
  }
  const judge = (value: string, at: Path) =>
    compareQuantity(value, capacity) > 0
      ? [invalid(at, value, `option is larger than capacity value: ${capacity}`)]
      : []
  errors.push(...validateUnique(values, maxValues, judge, (value) => String(quantityValue(value)), path))
  if (values.length <= maxValues && values.some((value) => compareQuantity(value, usual) === 0)) return errors
  return [...errors, invalid(path, usual, 'default value is not valid according to the requestPolicy')]
}

function validateRange(
  capacity: string,
  usual: string,
  { min, max, step }: Partial<CapacityRequestPolicyRange>,
  path: Path,
): FieldError[] {
  if (min === undefined) return [required(path.child('min'), 'required when validRange is defined')]
  const errors: FieldError[] = []
  const refuse = (field: string, value: string, why: string) => errors.push(invalid(path.child(field), value, why))
  if (compareQuantity(min, capacity) > 0) refuse('min', min, `min is larger than capacity value: ${capacity}`)
  if (compareQuantity(usual, min) < 0) refuse('default', usual, `default is less than min: ${min}`)
  if (max !== undefined) {
    if (compareQuantity(min, max) > 0) refuse('max', min, `min is larger than max: ${max}`)
    if (compareQuantity(max, capacity) > 0) refuse('max', max, `max is larger than capacity value: ${capacity}`)
    if (compareQuantity(usual, max) > 0) refuse('default', usual, `default is more than max: ${max}`)
  }
  if (step === undefined) return errors
  if (quantitySign(step) <= 0) {
    refuse('step', step, 'must be greater than zero')
    return errors
  }
  const first = addQuantities(min, step)
  if (compareQuantity(first, capacity) > 0)
    refuse('step', step, `one step ${first} is larger than capacity value: ${capacity}`)
  for (const value of [usual, ...(max === undefined ? [] : [max])]) {
    if ((quantityValue(value) - quantityValue(min)) % quantityValue(step) === 0n) continue
    refuse('step', value, `value is not a multiple of a given step (${step}) from (${min})`)
  }
  return errors
}
