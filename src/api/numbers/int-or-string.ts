import { type FieldError, invalid, invalidEach } from '../validation/field-error.ts'
import { isPortName, isPortNumber } from '../validation/names.ts'
import type { Path } from '../validation/path.ts'

/** A number, or a percentage such as `25%` (or, for ports, a name). */
export type IntOrString = number | string

const percent = /^[0-9]+%$/
const percentMessage =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"

/** True for digits followed by a percent sign. */
export const isPercent = (text: string): boolean => percent.test(text)

const percentNumber = (text: string): number => Number(text.slice(0, -1))

/** Resolves a value to a count out of `total`. A percentage is rounded as requested. Throws for any other string. */
export function percentOf(value: IntOrString, total: number, roundUp: boolean): number {
  if (typeof value === 'number') return value
  if (!isPercent(value)) throw new Error(`invalid value for IntOrString: invalid type: string is not a percentage`)
  const exact = (percentNumber(value) * total) / 100
  return roundUp ? Math.ceil(exact) : Math.floor(exact)
}

/** The number, or the number before the percent sign. Any other string counts as 0. */
export function intOrPercentValue(value: IntOrString | undefined): number {
  if (value === undefined) return 0
  if (typeof value === 'number') return value
  return isPercent(value) ? percentNumber(value) : 0
}

export function validateNonnegativeIntOrPercent(value: IntOrString, path: Path): FieldError[] {
  if (typeof value === 'string') return isPercent(value) ? [] : [invalid(path, value, percentMessage)]
  return value >= 0 ? [] : [invalid(path, value, 'must be greater than or equal to 0')]
}

/** Rejects a percentage above 100. Other rules validate numbers and other strings. */
export function isNotMoreThan100Percent(value: IntOrString, path: Path): FieldError[] {
  if (typeof value !== 'string' || !isPercent(value) || percentNumber(value) <= 100) return []
  return [invalid(path, value, 'must not be greater than 100%')]
}

/** A port by number or by name. */
export function validatePortNumOrName(value: IntOrString, path: Path): FieldError[] {
  const problems = typeof value === 'number' ? isPortNumber(value) : isPortName(value)
  return invalidEach(path, value, problems)
}
