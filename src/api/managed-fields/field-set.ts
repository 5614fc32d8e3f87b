import { jsonText, readJson } from '../json/index.ts'

/**
 * A set of field paths, in the very form of fieldsV1: a tree whose keys are path elements (`f:name` a field, `k:{…}` an item
 * by its keys, `v:…` an item by its value, `i:…` one by its index). A path is a member if its node is empty or has a '.'.
 * The root is no member. Sets are never changed once they are made, so that they can be shared.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

/** A set that is being built. */
export interface OpenSet {
  [element: string]: OpenSet
}

const self = '.'
const leaf: FieldSet = Object.freeze({})

export const emptySet: FieldSet = leaf

export const isEmptySet = (set: FieldSet): boolean => {
  for (const _ in set) return false
  return true
}

const isMember = (node: FieldSet): boolean => self in node || isEmptySet(node)

/** A node out of its children; undefined where it has none and is no member. */
function nodeOf(member: boolean, children: OpenSet): FieldSet | undefined {
  if (isEmptySet(children)) return member ? leaf : undefined
  return member ? { [self]: leaf as OpenSet, ...children } : children
}

/** All paths of both. The very first set if the second adds nothing. */
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

/** The paths of `a` that are not in `b`. The very first set if the second takes nothing away. */
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

/** The paths that are in both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(a) || isEmptySet(b) ? emptySet : intersect(a, b) ?? emptySet
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

/** The same node as a member itself. */
export const asMember = (node: FieldSet): FieldSet => (isMember(node) ? node : { [self]: leaf, ...node })

/** True if two sets have the same members. */
export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  for (const element in a) if (!(element in b) || !sameSet(a[element]!, b[element]!)) return false
  for (const element in b) if (!(element in a)) return false
  return true
}

/** Puts a path element into a set that is being built; `child` is what is known below it. */
export function addTo(set: OpenSet, element: string, child: OpenSet | undefined, member: boolean): void {
  const node = child ? nodeOf(member, child) : member ? leaf : undefined
  if (node) set[element] = node as OpenSet
}

/** Closes a set that was built: its elements in Kubernetes' order, all the way down. */
export function closed(set: OpenSet): FieldSet {
  for (const element in set) if (!isEmptySet(set[element]!)) set[element] = closed(set[element]!) as OpenSet
  return inOrder(set)
}

function inOrder(set: OpenSet): OpenSet {
  const elements = Object.keys(set)
  let isSorted = true
  for (let i = 1; isSorted && i < elements.length; i++) isSorted = compareElements(elements[i - 1]!, elements[i]!) <= 0
  if (isSorted) return set
  const out: OpenSet = {}
  for (const element of elements.sort(compareElements)) out[element] = set[element]!
  return out
}

/** The member mark stands first, then fields, keys, values, indices. */
const kinds = '.fkvi'

/** Kubernetes' order of path elements. */
export function compareElements(a: string, b: string): number {
  const rank = kinds.indexOf(a[0]!) - kinds.indexOf(b[0]!)
  if (rank !== 0) return rank
  if (a[0] === 'f' || a === b) return a < b ? -1 : a > b ? 1 : 0
  return compareValues(readJson(a.slice(2)), readJson(b.slice(2)))
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    const [left, right] = [Object.entries(a), Object.entries(b)]
    for (let i = 0; i < Math.min(left.length, right.length); i++) {
      const order = compareValues(left[i]![0], right[i]![0]) || compareValues(left[i]![1], right[i]![1])
      if (order !== 0) return order
    }
    return left.length - right.length
  }
  if (typeof a === typeof b) return (a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0
  return typeof a < typeof b ? -1 : 1
}

/** Every member as Kubernetes writes a path: `.spec.containers[name="c"].image`. */
export function* pathTexts(set: FieldSet, prefix = ''): Iterable<string> {
  for (const element in set) {
    if (element === self) continue
    const path = prefix + elementText(element)
    const node = set[element]!
    if (isMember(node)) yield path
    yield* pathTexts(node, path)
  }
}

/** A path element in a path's text. */
export function elementText(element: string): string {
  const said = element.slice(2)
  switch (element[0]) {
    case 'f': return `.${said}`
    case 'v': return `[=${said}]`
    case 'i': return `[${said}]`
    default: return `[${Object.entries(readJson(said) as object).map(([key, value]) => `${key}=${jsonText(value)}`).join(',')}]`
  }
}

/** A value that fieldsV1 may be: only path elements, all the way down. */
export function isFieldSet(value: unknown): value is FieldSet {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(value).every(([element, child]) => (element === self || isElement(element)) && isFieldSet(child))
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
