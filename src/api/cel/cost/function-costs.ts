import { characterCost, patternCost } from '../run/frame.ts'
import { type CelType, paramsOf } from '../types.ts'
import { isSameType } from '../unify.ts'
import type { Node } from '../syntax/ast.ts'
import { type Range, fixed, plus, scaled, times, unbounded, unitCost, unknownSize } from './ranges.ts'

/** An argument for the cost of a call: its type, its path in the data, and its size if the expression determines it. */
export interface Sized {
  node?: Node
  type: CelType
  path?: readonly string[]
  size?: Range | undefined
}

/** The cost of a call without the cost of its arguments, and the size of its result. */
export interface CallEstimate {
  cost: Range
  size?: Range
}

/** The size of the data at a path, from the limits of its schema. */
export type SizeLookup = (path: readonly string[] | undefined) => Range | undefined

type Estimate = (
  sizeOf: (node: Sized) => Range,
  target: Sized | undefined,
  args: Sized[],
  overload: string,
) => CallEstimate | undefined

const unit: Estimate = () => ({ cost: unitCost })
/** The cost of reading this many characters, `factor` times. */
export const read = (size: Range, factor = 1) => scaled(size, factor * characterCost)
/** The cost of matching a string against a pattern. */
export const matchCost = (text: Range, pattern: Range) =>
  times(read(plus(text, unitCost)), scaled(pattern, patternCost))

/** The elements of a list, with their path in the data if the list has one. */
function elementOf({ type, path }: Sized): Sized | undefined {
  const [element] = paramsOf(type)
  if (!element) return undefined
  return path ? { type: element, path: [...path, '@items'] } : { type: element }
}

const overList: Estimate = (sizeOf, target) => {
  if (!target) return undefined
  const element = elementOf(target)
  if (!element) return { cost: read(sizeOf(target)) }
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
  const each = isText ? plus(unitCost, read(sizeOf(element))) : unitCost
  return { cost: times(sizeOf(target), each) }
}

/** One pass over the target. The result is no longer than the target. */
const overText: Estimate = (sizeOf, target) => target && { cost: read(sizeOf(target)), size: sizeOf(target) }

const replace: Estimate = (sizeOf, target, args) => {
  if (!target || args.length < 2) return undefined
  const [size, from, to] = [sizeOf(target), sizeOf(args[0]!), sizeOf(args[1]!)]
  const count = { min: 0, max: 0 }
  const kept = { min: 0, max: 0 }
  if (from.min === 0) {
    count.max = Math.min(size.max + 1, unbounded)
    kept.max = size.max
  } else if (to.max <= from.min) kept.max = size.max
  else count.max = Math.ceil(size.max / from.min)
  if (from.max === 0) {
    count.min = Math.min(size.min + 1, unbounded)
    kept.min = size.min
  } else if (from.max <= to.min) kept.min = size.min
  else count.min = Math.ceil(size.min / from.max)
  return { cost: read(size, 2), size: plus(times(count, to), kept) }
}

const split: Estimate = (sizeOf, target, args) => {
  if (!target) return undefined
  const size = sizeOf(target)
  const limit = args[1]?.node
  const max =
    limit?.kind === 'literal' && typeof limit.value === 'number'
      ? limit.value < 0
        ? unbounded
        : limit.value
      : size.max
  return { cost: read(size, 2), size: { min: 0, max } }
}

const join: Estimate = (sizeOf, target, args) => {
  if (!target) return undefined
  const count = sizeOf(target)
  const element = elementOf(target)
  const texts = element ? times(count, sizeOf(element)) : fixed(0)
  const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
  const size = args[0] ? plus(texts, times(sizeOf(args[0]), gaps)) : texts
  return { cost: read(size), size }
}

const find: Estimate = (sizeOf, target, args) => {
  if (!target || !args[0]) return undefined
  const size = sizeOf(target)
  return { cost: matchCost(size, sizeOf(args[0])), size: { min: 0, max: size.max } }
}

/** Upstream charges for the argument only if the call has a target. These functions have none, so their cost is 1. */
const overArgumentOfMember: Estimate = (sizeOf, target, args) =>
  target && args[0] ? { cost: read(sizeOf(args[0])) } : undefined

const address: Range = { min: 4, max: 16 }

const containsAddress =
  (isNetwork: boolean): Estimate =>
  (sizeOf, target, args, overload) => {
    if (!target || !args[0]) return undefined
    const parsing = overload.endsWith('_string') ? read(sizeOf(args[0])) : fixed(0)
    const masking = isNetwork ? plus(read(address), unitCost) : fixed(0)
    return { cost: plus(read(plus(address, address)), masking, parsing) }
  }

const setCost =
  (factor: number): Estimate =>
  (sizeOf, _, args) =>
    args.length === 2 ? { cost: plus(scaled(times(sizeOf(args[0]!), sizeOf(args[1]!)), factor), unitCost) } : undefined

const selector: Estimate = (sizeOf, _, args) => {
  if (args.length !== 1) return undefined
  const size = sizeOf(args[0]!)
  return { cost: plus(fixed(10), read(size), scaled(scaled(size, 0.5), 50)) }
}

/** Kubernetes assumes a regular expression of 128 characters for every named format. */
const formatPattern = 128
const maxFormatName = 64

/** Types of libraries whose values are compared at cost 1. */
const equality: Estimate = (_, __, args) => {
  const [left, right] = args
  if (!left || !right || left.type.kind !== 'opaque' || !isSameType(left.type, right.type)) return undefined
  if (left.type.name === 'kubernetes.NamedFormat')
    return { cost: scaled({ min: 1, max: maxFormatName }, characterCost) }
  if (left.type.name === 'kubernetes.URL') return { cost: scaled({ min: 1, max: right.size?.max ?? 1 }, characterCost) }
  return left.type.name === 'optional_type' ? undefined : { cost: unitCost }
}

const check: Estimate = () => ({ cost: fixed(350_000) })

const validate: Estimate = (sizeOf, target, args) =>
  target && args[0] ? { cost: scaled(read(sizeOf(args[0])), formatPattern * patternCost) } : undefined

const all = (names: string, estimate: Estimate): Record<string, Estimate> =>
  Object.fromEntries(names.split(' ').map((name) => [name, estimate]))

/** Kubernetes' estimates for the functions of its libraries, by name. */
const estimates: Record<string, Estimate> = {
  check,
  ...all('serviceAccount path group resource subresource namespace name allowed reason error errored', unit),
  ...all('fieldSelector labelSelector', selector),
  ...all('isSorted sum max min indexOf lastIndexOf', overList),
  ...all('url jsonpatch.escapeKey', (sizeOf, _, args) =>
    args.length === 1 ? { cost: read(sizeOf(args[0]!)), size: sizeOf(args[0]!) } : undefined,
  ),
  ...all('lowerAscii upperAscii substring trim', overText),
  replace,
  split,
  join,
  ...all('find findAll', find),
  ...all('cidr isIP isCIDR ip.isCanonical quantity isQuantity semver isSemver', overArgumentOfMember),
  ip: (_, target) => (target ? { cost: unitCost } : undefined),
  ...all(
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast',
    unit,
  ),
  containsIP: containsAddress(false),
  containsCIDR: containsAddress(true),
  validate,
  'format.named': unit,
  ...all(
    'sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch',
    unit,
  ),
  ...all('getScheme getHostname getHost getPort getEscapedPath getQuery', unit),
  ...all('sets.contains sets.intersects', setCost(1)),
  'sets.equivalent': setCost(2),
  '_==_': equality,
}

/** Kubernetes' estimate for a function of its libraries; undefined if the rules of the language apply. */
export function libraryEstimate(
  name: string,
  overload: string,
  lookup: SizeLookup,
  target: Sized | undefined,
  args: Sized[],
): CallEstimate | undefined {
  const estimate = Object.hasOwn(estimates, name) ? estimates[name] : undefined
  return estimate?.((node) => node.size ?? lookup(node.path) ?? unknownSize, target, args, overload)
}
