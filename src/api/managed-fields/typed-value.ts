import { deepEqual } from '../deep-equal.ts'
import { jsonText } from '../json/index.ts'
import { type FieldSet, type OpenSet, addTo, asMember, closed, emptySet, hasMember, isEmptySet } from './field-set.ts'
import type { MergeType } from './merge-type.ts'
import { type Fields, isFields } from '../object.ts'

export type ListType = MergeType & { kind: 'list' }

const isNothing = (value: unknown): boolean => value === undefined || value === null
const isEmptyMap = (value: unknown): boolean => isFields(value) && Object.keys(value).length === 0

const scalar: MergeType = { kind: 'scalar' }
const untyped: MergeType = { kind: 'untyped' }

/** The traversal of a value: as a whole, by fields, or by items. */
type Shape = 'leaf' | 'map' | 'list'

export function shapeOf(type: MergeType, value: unknown): Shape {
  switch (type.kind) {
    case 'scalar':
      return 'leaf'
    case 'map':
      return type.isAtomic ? 'leaf' : 'map'
    case 'list':
      return type.merging.kind === 'atomic' ? 'leaf' : 'list'
    case 'untyped':
      return isFields(value) ? 'map' : 'leaf'
  }
}

/** The type of a field. An undeclared field is a value without a schema. */
export const fieldType = (type: MergeType, name: string): MergeType =>
  type.kind === 'map' ? (type.field(name) ?? untyped) : untyped
const isDeclared = (type: MergeType, name: string): boolean => type.kind === 'map' && type.declares(name)
export const itemType = (type: MergeType): MergeType => (type.kind === 'list' ? type.items : scalar)

/** The path element of a list item; undefined if it has none of the keys. */
export function itemElement(type: ListType, item: unknown): string | undefined {
  const { merging } = type
  if (merging.kind !== 'map') return `v:${item === undefined ? 'null' : jsonText(item)}`
  if (!isFields(item)) return undefined
  const [only] = merging.keys
  // Fast path for lists with one key.
  if (merging.keys.length === 1 && typeof item[only!] === 'string')
    return `k:{"${only}":${JSON.stringify(item[only!])}}`
  const keys: Fields = {}
  for (const key of merging.keys.toSorted()) {
    const value = item[key] ?? merging.defaultOf(key)
    if (value !== undefined) keys[key] = value
  }
  return isEmptyMap(keys) ? undefined : `k:${jsonText(keys)}`
}

/** The items of a list by path element. Duplicates are one entry of several items. */
function itemsOf(type: MergeType, list: unknown): Map<string, unknown[]> {
  const found = new Map<string, unknown[]>()
  if (!Array.isArray(list)) return found
  for (const item of list) {
    const element = itemElement(type as ListType, item)
    if (element === undefined) continue
    const same = found.get(element)
    if (same) same.push(item)
    else found.set(element, [item])
  }
  return found
}

export const asFields = (value: unknown): Fields => (isFields(value) ? value : {})

/** The fields that a value sets. */
export const fieldSetOf = (type: MergeType, value: unknown): FieldSet => closed(openSetOf(type, value))

/** The same in any order, for sets that are only compared. */
export function openSetOf(type: MergeType, value: unknown): OpenSet {
  const set: OpenSet = {}
  const shape = shapeOf(type, value)
  if (shape === 'map') {
    const fields = asFields(value)
    for (const name in fields) {
      const field = fields[name]
      if (field === undefined) continue
      const of = fieldType(type, name)
      if (field === null || shapeOf(of, field) === 'leaf') addTo(set, `f:${name}`, undefined, true)
      else addTo(set, `f:${name}`, openSetOf(of, field), isEmptyMap(field) || !isDeclared(type, name))
    }
  } else if (shape === 'list') {
    for (const [element, [item]] of itemsOf(type, value)) addTo(set, element, openSetOf(itemType(type), item), true)
  }
  return set
}

/** Adds every declared field with members below it as a member. Keys of maps and items of lists are unchanged. */
export function withNamedFields(type: MergeType, set: FieldSet): FieldSet {
  const out: OpenSet = {}
  for (const element in set) {
    const node = set[element]!
    if (element === '.' || isEmptySet(node)) {
      out[element] = node as OpenSet
      continue
    }
    const name = element.startsWith('f:') ? element.slice(2) : undefined
    const inner = withNamedFields(name === undefined ? itemType(type) : fieldType(type, name), node)
    out[element] = (name !== undefined && isDeclared(type, name) ? asMember(inner) : inner) as OpenSet
  }
  return out
}

/** The difference between two values. */
export interface Comparison {
  /** Added or changed fields. */
  changed: FieldSet
  removed: FieldSet
}

interface Changes {
  changed: OpenSet
  removed: OpenSet
}

const noFields: ReadonlySet<string> = new Set()

/**
 * Compares two values. Shared parts (the same object or list) are skipped. `skips` lists top-level fields to ignore.
 */
export function compare(
  type: MergeType,
  before: unknown,
  after: unknown,
  skips: ReadonlySet<string> = noFields,
): Comparison {
  const changes: Changes = { changed: {}, removed: {} }
  compareInto(changes, type, before, after, skips)
  return {
    changed: isEmptySet(changes.changed) ? emptySet : closed(changes.changed),
    removed: isEmptySet(changes.removed) ? emptySet : closed(changes.removed),
  }
}

function compareInto(out: Changes, type: MergeType, before: unknown, after: unknown, skips: ReadonlySet<string>): void {
  if (shapeOf(type, after ?? before) === 'list') {
    if (compareInOrder(out, type as ListType, before, after)) return
    const [was, is] = [itemsOf(type, before), itemsOf(type, after)]
    for (const [element, items] of was) compareItems(out, itemType(type), element, items, is.get(element))
    for (const [element, items] of is)
      if (!was.has(element)) compareItems(out, itemType(type), element, undefined, items)
    return
  }
  const [was, is] = [asFields(before), asFields(after)]
  for (const name in was) {
    if (was[name] === is[name] || was[name] === undefined || skips.has(name)) continue
    compareChild(out, fieldType(type, name), `f:${name}`, was[name], is[name])
  }
  for (const name in is) {
    if (name in was && was[name] !== undefined) continue
    if (is[name] !== undefined && !skips.has(name))
      compareChild(out, fieldType(type, name), `f:${name}`, undefined, is[name])
  }
}

/** The maximum number of items that are searched for duplicates. */
const fewItems = 16

/**
 * Compares lists with the same items in the same order, which is the case for most updates, without building path
 * elements. Returns false, and changes nothing, if the lists differ in that or it cannot be determined.
 */
function compareInOrder(out: Changes, type: ListType, before: unknown, after: unknown): boolean {
  const { merging } = type
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length || before.length > fewItems)
    return false
  if (merging.kind !== 'map' || merging.keys.length !== 1) return false
  const key = merging.keys[0]!
  const keys: unknown[] = []
  for (let i = 0; i < after.length; i++) {
    const name: unknown = isFields(after[i]) ? (after[i] as Fields)[key] : undefined
    if (typeof name !== 'string' || !isFields(before[i]) || (before[i] as Fields)[key] !== name || keys.includes(name))
      return false
    keys.push(name)
  }
  for (let i = 0; i < after.length; i++) {
    if (!deepEqual(before[i], after[i]))
      compareChild(out, type.items, itemElement(type, after[i])!, before[i], after[i])
  }
  return true
}

/** Duplicate items are compared as one value. */
function compareItems(
  out: Changes,
  type: MergeType,
  element: string,
  was: unknown[] | undefined,
  is: unknown[] | undefined,
): void {
  if ((was?.length ?? 1) === 1 && (is?.length ?? 1) === 1) compareChild(out, type, element, was?.[0], is?.[0])
  else if (!deepEqual(was, is)) addTo(is ? out.changed : out.removed, element, undefined, true)
}

function compareChild(out: Changes, type: MergeType, element: string, was: unknown, is: unknown): void {
  if (was === is) return
  const shape = shapeOf(type, is ?? was)
  const wasShape = shapeOf(type, was ?? is)
  if (shape !== wasShape) return compareShapes(out, type, element, was, is)
  if (shape === 'leaf' || (hasNothing(was) && hasNothing(is))) {
    if (is === undefined) addTo(out.removed, element, undefined, true)
    else if (was === undefined || !deepEqual(was, is)) addTo(out.changed, element, undefined, true)
    return
  }
  const below: Changes = { changed: {}, removed: {} }
  compareInto(below, type, was, is, noFields)
  addTo(out.changed, element, below.changed, was === undefined)
  addTo(out.removed, element, below.removed, is === undefined)
}

/**
 * A value without a schema changed from or to a map: the value itself changed, and the map's fields were removed or
 * added.
 */
function compareShapes(out: Changes, type: MergeType, element: string, was: unknown, is: unknown): void {
  const below: Changes = { changed: {}, removed: {} }
  if (isFields(was)) compareInto(below, type, was, {}, noFields)
  if (isFields(is)) compareInto(below, type, {}, is, noFields)
  addTo(out.changed, element, below.changed, true)
  addTo(out.removed, element, below.removed, false)
}

export const hasNothing = (value: unknown): boolean =>
  isNothing(value) || isEmptyMap(value) || (Array.isArray(value) && value.length === 0)

/** Merges an applied value into the live one. Parts that it does not set are the same objects as before. */
export function merge(type: MergeType, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live
  if (live === undefined) return applied
  const shape = shapeOf(type, applied)
  if (shape === 'leaf' || shape !== shapeOf(type, live) || (hasNothing(live) && hasNothing(applied)))
    return deepEqual(live, applied) ? live : applied
  return shape === 'list' ? mergeLists(type as ListType, live, applied) : mergeMaps(type, live, applied)
}

function mergeMaps(type: MergeType, live: unknown, applied: unknown): unknown {
  const [was, wanted] = [asFields(live), asFields(applied)]
  let out: Fields | undefined
  for (const name in wanted) {
    const merged = merge(fieldType(type, name), was[name], wanted[name])
    if (merged === was[name]) continue
    out ??= { ...was }
    Object.defineProperty(out, name, { value: merged, writable: true, enumerable: true, configurable: true })
  }
  return out ?? live
}

/**
 * Merges two lists. Applied items keep the order of the configuration; other items stay before the applied item that
 * followed them: [a, o, b] with [b, a] applied becomes [o, b, a].
 */
function mergeLists(type: ListType, live: unknown, applied: unknown): unknown {
  const [was, wanted] = [itemsOf(type, live), itemsOf(type, applied)]
  const out: unknown[] = []
  const [left, right] = [elementsOf(type, live), [...wanted.keys()]]
  const shared = right.filter((element) => was.has(element))
  const done = new Set<string>()
  let [atLeft, atRight, atShared] = [0, 0, 0]
  while (atLeft < left.length || atRight < right.length) {
    const next = left[atLeft]
    const isWanted = next !== undefined && wanted.has(next.element)
    if (next && !isWanted) {
      out.push(next.item)
      atLeft++
    } else if (
      next &&
      next.element !== right[atRight] &&
      (done.has(next.element) || next.element !== shared[atShared])
    ) {
      atLeft++
    } else {
      const element = right[atRight++]!
      const there = was.get(element)
      // Duplicate items are not merged: the applied one replaces them.
      out.push(merge(type.items, there?.length === 1 ? there[0] : undefined, wanted.get(element)![0]))
      done.add(element)
      if (next?.element === element) atLeft++
      if (shared[atShared] === element) atShared++
    }
  }
  return deepEqual(out, live) ? live : out
}

/** The items of a list with their path elements, in order. Items without one are omitted. */
function elementsOf(type: ListType, list: unknown): { item: unknown; element: string }[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown) => {
    const element = itemElement(type, item)
    return element === undefined ? [] : [{ item, element }]
  })
}

/** The value without the members of a set. A list or map that becomes empty is kept. */
export function remove(type: MergeType, value: unknown, set: FieldSet): unknown {
  if (isEmptySet(set)) return value
  const shape = shapeOf(type, value)
  if (shape === 'map' && isFields(value)) {
    const out: Fields = {}
    for (const name in value) {
      const element = `f:${name}`
      if (hasMember(set, element)) continue
      const below = set[element]
      const left = below ? remove(fieldType(type, name), value[name], below) : value[name]
      Object.defineProperty(out, name, { value: left, writable: true, enumerable: true, configurable: true })
    }
    return out
  }
  if (shape !== 'list' || !Array.isArray(value)) return value
  const out: unknown[] = []
  for (const item of value) {
    const element = itemElement(type as ListType, item)
    if (element !== undefined && hasMember(set, element)) continue
    const below = element === undefined ? undefined : set[element]
    out.push(below ? remove(itemType(type), item, below) : item)
  }
  return out
}

/** The value with null for every empty list and map that is null in the applied value. */
export function withNulls(value: unknown, applied: unknown): unknown {
  if (!isFields(value) || !isFields(applied)) return value
  let out: Fields | undefined
  for (const name in applied) {
    const was = value[name]
    const is = applied[name] === null && hasNothing(was) ? null : withNulls(was, applied[name])
    if (is !== was && Object.hasOwn(value, name)) (out ??= { ...value })[name] = is
  }
  return out ?? value
}

/** The paths of all atomic lists, maps and structs in a value: setting one of them replaces its contents. */
export function atomicsIn(type: MergeType, value: unknown, path = ''): string[] {
  if (isFields(value)) {
    const inner = Object.entries(value).flatMap(([name, field]) => {
      const of = type.kind === 'map' ? type.field(name) : untyped
      return of ? atomicsIn(of, field, `${path}.${name}`) : []
    })
    return type.kind === 'map' && type.isAtomic ? [path, ...inner] : inner
  }
  if (!Array.isArray(value)) return []
  const inner = value.flatMap((item, i) => atomicsIn(itemType(type), item, `${path}[${i}]`))
  return type.kind === 'untyped' || (type.kind === 'list' && type.merging.kind === 'atomic') ? [path, ...inner] : inner
}
