import { type Library, globalOverload, memberOverload } from '../declarations.ts'
import { boolType, intType, opaqueType, stringType } from '../types.ts'
import { CelError, Opaque, type Value } from '../values.ts'

const semverType = opaqueType('kubernetes.Semver')

/** A semantic version. Build metadata (after `+`) is ignored in comparisons. */
class SemverValue extends Opaque {
  readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly [number, number, number]
  readonly prerelease: readonly string[]
  constructor(numbers: readonly [number, number, number], prerelease: readonly string[]) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
  }
  equals(other: Opaque): boolean {
    return other instanceof SemverValue && compare(this, other) === 0
  }
}

const number = '(0|[1-9][0-9]{0,14})'
const identifiers = '((?:[0-9A-Za-z-]+)(?:\\.[0-9A-Za-z-]+)*)'
const shape = new RegExp(`^${number}\\.${number}\\.${number}(?:-${identifiers})?(?:\\+${identifiers})?$`)
const maxLength = 1024

function parseStrict(text: string): SemverValue | undefined {
  const match = text.length <= maxLength ? shape.exec(text) : undefined
  if (!match) return undefined
  const prerelease = match[4]?.split('.') ?? []
  if (prerelease.some((part) => /^0[0-9]+$/.test(part))) return undefined
  return new SemverValue([Number(match[1]), Number(match[2]), Number(match[3])], prerelease)
}

/** Normalizes a version: `v1.2` → `1.2.0`. Removes the `v` and leading zeros, and adds missing numbers. */
function normalized(text: string): string | undefined {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.')
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(rest.length ? [rest.join('.')] : [])]
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) return undefined
  const plain = parts.map((part) =>
    part.length > 1 ? part.replace(/^0+(?=[0-9])/, '').replace(/^0+(?![0-9])/, '0') : part,
  )
  while (plain.length < 3) plain.push('0')
  return plain.join('.')
}

function parse(text: string, isLenient = false): SemverValue | undefined {
  const given = isLenient ? normalized(text) : text
  return given === undefined ? undefined : parseStrict(given)
}

function mustParse(text: string, isLenient = false): SemverValue {
  const version = parse(text, isLenient)
  if (!version) throw new CelError(`Invalid version string: ${text}`)
  return version
}

const order = (a: number | string, b: number | string) => (a < b ? -1 : a > b ? 1 : 0)

function comparePart(a: string, b: string): number {
  const [isANumber, isBNumber] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)]
  if (isANumber && isBNumber) return order(Number(a), Number(b))
  if (isANumber !== isBNumber) return isANumber ? -1 : 1
  return order(a, b)
}

function compare(a: SemverValue, b: SemverValue): number {
  for (const i of [0, 1, 2]) {
    const difference = order(a.numbers[i]!, b.numbers[i]!)
    if (difference) return difference
  }
  const [left, right] = [a.prerelease, b.prerelease]
  // A version is greater than its own pre-releases.
  if (left.length === 0 || right.length === 0) return order(right.length ? 1 : 0, left.length ? 1 : 0)
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = comparePart(left[i]!, right[i]!)
    if (difference) return difference
  }
  return order(left.length, right.length)
}

const parseCost = (_: Value, text: string) => 60 + text.length * 2
const pair = [semverType, semverType]
const lenient = [stringType, boolType]

/** Kubernetes' versions. */
export const semver: Library = {
  name: 'semver',
  functions: {
    semver: [
      globalOverload('string_to_semver', [stringType], semverType, (_, text: string) => mustParse(text), parseCost),
      globalOverload(
        'string_bool_to_semver',
        lenient,
        semverType,
        (_, text: string, is: boolean) => mustParse(text, is),
        parseCost,
      ),
    ],
    isSemver: [
      globalOverload(
        'is_semver_string',
        [stringType],
        boolType,
        (_, text: string) => parse(text) !== undefined,
        parseCost,
      ),
      globalOverload(
        'is_semver_string_bool',
        lenient,
        boolType,
        (_, text: string, is: boolean) => parse(text, is) !== undefined,
        parseCost,
      ),
    ],
    isGreaterThan: [
      memberOverload(
        'semver_is_greater_than',
        pair,
        boolType,
        (_, a: SemverValue, b: SemverValue) => compare(a, b) > 0,
      ),
    ],
    isLessThan: [
      memberOverload('semver_is_less_than', pair, boolType, (_, a: SemverValue, b: SemverValue) => compare(a, b) < 0),
    ],
    compareTo: [
      memberOverload('semver_compare_to', pair, intType, (_, a: SemverValue, b: SemverValue) => compare(a, b)),
    ],
    major: [memberOverload('semver_major', [semverType], intType, (_, version: SemverValue) => version.numbers[0])],
    minor: [memberOverload('semver_minor', [semverType], intType, (_, version: SemverValue) => version.numbers[1])],
    patch: [memberOverload('semver_patch', [semverType], intType, (_, version: SemverValue) => version.numbers[2])],
  },
}
