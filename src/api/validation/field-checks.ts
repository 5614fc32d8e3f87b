import { deepEqual } from '../deep-equal.ts'
import type { Int64 } from '../numbers/int64.ts'
import { type FieldError, invalid } from './field-error.ts'
import type { Path } from './path.ts'

export const immutableMessage = 'field is immutable'
export const nonnegativeMessage = 'must be greater than or equal to 0'
export const positiveMessage = 'must be greater than 0'

/** Rejects any change of a field. */
export function validateImmutableField(value: unknown, old: unknown, path: Path): FieldError[] {
  return deepEqual(value, old) ? [] : [invalid(path, value, immutableMessage)]
}

/** Absent counts as 0. */
export function validateNonnegative(value: Int64 | undefined, path: Path): FieldError[] {
  return value !== undefined && value < 0 ? [invalid(path, value, nonnegativeMessage)] : []
}

/** Absent counts as 0, and is refused. */
export function validatePositive(value: Int64 | undefined, path: Path): FieldError[] {
  return (value ?? 0) > 0 ? [] : [invalid(path, value ?? 0, positiveMessage)]
}

/** As notSupported, for lists that Kubernetes prints unsorted. */
export const notSupportedInOrder = (path: Path, value: unknown, allowed: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field: path.toString(),
  message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${allowed.map((v) => JSON.stringify(v)).join(', ')}`,
})

/** The indices of duplicate values in a list, in one pass. */
export function repeatedPlaces(list: readonly unknown[]): ReadonlySet<number> {
  const seen = new Set<unknown>()
  const places = new Set<number>()
  for (const [i, value] of list.entries()) {
    if (seen.has(value)) places.add(i)
    else seen.add(value)
  }
  return places
}
