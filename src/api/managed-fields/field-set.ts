import { jsonText, readJson } from '../json/index.ts'

/**
 * A set of field paths, in the very form of fieldsV1: a tree whose keys are path elements (`f:name` a field, `k:{…}` an
 * item by its keys, `v:…` an item by its value, `i:…` one by its index). A path is a member if its node is empty or has
 * a '.'. The root is no member. Sets are never changed once they are made, so that they can be shared.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

/** A mutable set under construction. */
export interface OpenSet {
  [element: string]: OpenSet
}

const self = '.'
const leaf: FieldSet = Object.freeze({})

export const emptySet: FieldSet = leaf

/**
 * Sets with many elements, which are never empty again. V8 collects all keys of such an object before it begins a loop
 * over them, so that a loop which ends at once takes milliseconds.
 */
const wide = new WeakSet<FieldSet>()
const fewElements = 64

export function isEmptySet(set: FieldSet): boolean {
  if (wide.has(set)) return false
  let count = 0
  for (const _ in set) {
    if (++count <= fewElements) continue
    wide.add(set)
    break
  }
  return count === 0
}

const isMember = (node: FieldSet): boolean => self in node || isEmptySet(node)

/** Creates a node from its children; undefined if it has none and is not a member. */
function nodeOf(member: boolean, children: OpenSet): FieldSet | undefined {
  if (isEmptySet(children)) return member ? leaf : undefined
  return member ? { [self]: leaf as OpenSet, ...children } : children
}

/** The union. Returns `a` itself if `b` adds nothing. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(b)) return a
  return isEmptySet(a) ? b : unite(a, b)
}

function unite(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  let isSame = !isMember(b) || isMember(a)
  const children: OpenSet = {}
  for (const element in a) {
    if (element === self) continue
    const other = b[element]
    const both = other ? unite(a[element]!, other) : a[element]!
    if (both !== a[element]) isSame = false
    children[element] = both as OpenSet
  }
  let isGrown = false
  for (const element in b) {
    if (element === self || element in a) continue
    children[element] = b[element] as OpenSet
    isGrown = true
  }
  if (isSame && !isGrown) return a
  return nodeOf(isMember(a) || isMember(b), isGrown ? inOrder(children) : children)!
}

/** The difference. Returns `a` itself if `b` removes nothing. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b) ?? emptySet
}

function subtract(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const wasMember = isMember(a)
  const member = wasMember && !isMember(b)
  let isSame = member === wasMember
  const children: OpenSet = {}
  for (const element in a) {
    if (element === self) continue
    const other = b[element]
    const left = other ? subtract(a[element]!, other) : a[element]!
    if (left !== a[element]) isSame = false
    if (left) children[element] = left as OpenSet
  }
  return isSame ? a : nodeOf(member, children)
}

/** The paths of `a` that are neither in `b` nor below a path in `b`. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  const children: OpenSet = {}
  for (const element in a) {
    const other = element === self ? undefined : b[element]
    if (other && isMember(other)) continue
    const left = other ? differenceBelow(a[element]!, other) : a[element]!
    if (!other || !isEmptySet(left)) children[element] = left as OpenSet
  }
  return children
}

/** The intersection. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(a) || isEmptySet(b) ? emptySet : (intersect(a, b) ?? emptySet)
}

function intersect(a: FieldSet, b: FieldSet): FieldSet | undefined {
  if (a === b) return a
  const children: OpenSet = {}
  for (const element in a) {
    if (element === self || !b[element]) continue
    const both = intersect(a[element]!, b[element])
    if (both) children[element] = both as OpenSet
  }
  return nodeOf(isMember(a) && isMember(b), children)
}

/** True if the child is a member of the set at this level. */
export const hasMember = (set: FieldSet, element: string): boolean => {
  const node = set[element]
  return node !== undefined && isMember(node)
}

/** The node, marked as a member. */
export const asMember = (node: FieldSet): FieldSet => (isMember(node) ? node : { [self]: leaf, ...node })

/** Adds a path element to a set under construction. `child` is the set below it. */
export function addTo(set: OpenSet, element: string, child: OpenSet | undefined, member: boolean): void {
  const node = child ? nodeOf(member, child) : member ? leaf : undefined
  if (node) set[element] = node as OpenSet
}

/** Finishes a set: sorts its elements in Kubernetes' order at all levels. */
export function closed(set: OpenSet): FieldSet {
  for (const element in set) if (!isEmptySet(set[element]!)) set[element] = closed(set[element]!) as OpenSet
  return inOrder(set)
}

function inOrder(set: OpenSet): OpenSet {
  const elements = Object.keys(set)
  // The names of fields, and the member mark before them, are in the order of texts.
  if (elements.every(isName)) return inOrderOf(set, elements, elements.toSorted())
  const places = elements.map(placeOf)
  let isSorted = true
  for (let i = 1; isSorted && i < places.length; i++) isSorted = comparePlaces(places[i - 1]!, places[i]!) <= 0
  if (isSorted) return set
  return inOrderOf(
    set,
    elements,
    places.sort(comparePlaces).map(({ element }) => element),
  )
}

const isName = (element: string): boolean => element.startsWith('f:') || element === self

/** The set with its elements in another order; the set itself if that is theirs. */
function inOrderOf(set: OpenSet, elements: readonly string[], wanted: readonly string[]): OpenSet {
  if (wanted.every((element, i) => element === elements[i])) return set
  const out: OpenSet = {}
  for (const element of wanted) out[element] = set[element]!
  return out
}

/** The member mark comes first, then fields, keys, values, indices. */
const kinds = '.fkvi'
/** Elements of the kinds from `k` on contain a JSON value. */
const firstValueKind = 2

/** The sort key of a path element. Its value is parsed once. */
interface Place {
  readonly element: string
  readonly rank: number
  readonly value: unknown
}

function placeOf(element: string): Place {
  const rank = kinds.indexOf(element[0]!)
  return { element, rank, value: rank < firstValueKind ? element : readJson(element.slice(2)) }
}

/** Kubernetes' order of path elements. */
const comparePlaces = (a: Place, b: Place): number =>
  a.rank === b.rank ? compareValues(a.value, b.value) : a.rank - b.rank

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    const [left, right] = [Object.entries(a), Object.entries(b)]
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const order = compareValues(left[i]![0], right[i]![0]) || compareValues(left[i]![1], right[i]![1])
      if (order !== 0) return order
    }
    return left.length - right.length
  }
  if (a === b) return 0
  if (typeof a === typeof b) return (a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0
  return typeof a < typeof b ? -1 : 1
}

/** All members in Kubernetes' notation: `.spec.containers[name="c"].image`. */
export function* pathTexts(set: FieldSet, prefix = ''): Iterable<string> {
  for (const element in set) {
    if (element === self) continue
    const path = prefix + elementText(element)
    const node = set[element]!
    if (isMember(node)) yield path
    yield* pathTexts(node, path)
  }
}

/** Formats a path element. */
export function elementText(element: string): string {
  const said = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${said}`
    case 'v':
      return `[=${said}]`
    case 'i':
      return `[${said}]`
    default:
      return `[${Object.entries(readJson(said) as object)
        .map(([key, value]) => `${key}=${jsonText(value)}`)
        .join(',')}]`
  }
}

/** True for a valid fieldsV1 value: its keys are path elements at all levels. */
export function isFieldSet(value: unknown): value is FieldSet {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(
    ([element, child]) => (element === self || isElement(element)) && isFieldSet(child),
  )
}

function isElement(element: string): boolean {
  if (element[1] !== ':' || !'fkvi'.includes(element[0]!)) return false
  if (element[0] === 'f') return true
  try {
    readJson(element.slice(2))
    return true
  } catch {
    return false
  }
}
