import { deepEqual } from '../deep-equal.ts'
import { jsonText } from '../json/index.ts'
import { type FieldSet, type OpenSet, addTo, closed, elementText, emptySet, hasMember, isEmptySet } from './field-set.ts'
import type { MergeType } from './merge-type.ts'

type Fields = Record<string, unknown>
type ListType = MergeType & { kind: 'list' }

const isMap = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isNothing = (value: unknown): boolean => value === undefined || value === null
const isEmptyMap = (value: unknown): boolean => isMap(value) && Object.keys(value).length === 0

const scalar: MergeType = { kind: 'scalar' }
const untyped: MergeType = { kind: 'untyped' }

/** How a value is walked: as one value, field by field, or item by item. */
type Shape = 'leaf' | 'map' | 'list'

function shapeOf(type: MergeType, value: unknown): Shape {
  switch (type.kind) {
    case 'scalar': return 'leaf'
    case 'map': return type.isAtomic ? 'leaf' : 'map'
    case 'list': return type.merging.kind === 'atomic' ? 'leaf' : 'list'
    case 'untyped': return isMap(value) ? 'map' : 'leaf'
  }
}

/** The type of a field. One that the type does not have is a value without a schema. */
const fieldType = (type: MergeType, name: string): MergeType => (type.kind === 'map' ? type.field(name) ?? untyped : untyped)
const itemType = (type: MergeType): MergeType => (type.kind === 'list' ? type.items : scalar)

/** The path element of a list's item; undefined where it has none of its keys. */
export function itemElement(type: ListType, item: unknown): string | undefined {
  const { merging } = type
  if (merging.kind !== 'map') return `v:${item === undefined ? 'null' : jsonText(item)}`
  if (!isMap(item)) return undefined
  const [only] = merging.keys
  // Most lists have one key: the same text, made faster.
  if (merging.keys.length === 1 && typeof item[only!] === 'string') return `k:{"${only}":${JSON.stringify(item[only!])}}`
  const keys: Fields = {}
  for (const key of merging.keys.toSorted()) {
    const value = item[key] ?? merging.defaultOf(key)
    if (value !== undefined) keys[key] = value
  }
  return isEmptyMap(keys) ? undefined : `k:${jsonText(keys)}`
}

/** The items of a list by their path elements. Items that stand twice are one entry of several. */
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

const asFields = (value: unknown): Fields => (isMap(value) ? value : {})

/** The fields that a value sets. */
export const fieldSetOf = (type: MergeType, value: unknown): FieldSet => closed(openSetOf(type, value))

function openSetOf(type: MergeType, value: unknown): OpenSet {
  const set: OpenSet = {}
  const shape = shapeOf(type, value)
  if (shape === 'map') {
    const fields = asFields(value)
    for (const name in fields) {
      const field = fields[name]
      if (field === undefined) continue
      const of = fieldType(type, name)
      const isLeaf = shapeOf(of, field) === 'leaf' || field === null || isEmptyMap(field) || type.kind === 'untyped'
      addTo(set, `f:${name}`, openSetOf(of, field), isLeaf)
    }
  } else if (shape === 'list') {
    for (const [element, [item]] of itemsOf(type, value)) addTo(set, element, openSetOf(itemType(type), item), true)
  }
  return set
}

/** A tree of the values of a type that were created lately, by the fields they set. */
interface Created {
  root: CreatedNode
  nodes: number
}

/** One step on the way through a value. Most nodes have one child: its name is compared before any map is looked into. */
class CreatedNode {
  /** The fields of the values that end here. */
  set: FieldSet | undefined = undefined
  #name: string | undefined = undefined
  #child: CreatedNode | undefined = undefined
  #others: Map<string, CreatedNode> | undefined = undefined

  child(name: string, tree: Created): CreatedNode {
    if (this.#name === name) return this.#child!
    if (this.#name === undefined) {
      this.#name = name
      return (this.#child = newNode(tree))
    }
    let other = this.#others?.get(name)
    if (!other) (this.#others ??= new Map()).set(name, (other = newNode(tree)))
    return other
  }
}

function newNode(tree: Created): CreatedNode {
  tree.nodes++
  return new CreatedNode()
}

const noFields: ReadonlySet<string> = new Set()

const created = new WeakMap<MergeType, Created>()
/** Past this the tree is begun anew, so that nobody can fill the memory through it. */
const maxNodes = 8192
const newTree = (): Created => ({ root: new CreatedNode(), nodes: 0 })

/**
 * What is added where `after` is made and `before` is what the type always has. Objects that set the same fields, such as the
 * pods of a ReplicaSet, have the same set: it is found by a walk that compares names and makes nothing.
 */
export function addedFields(type: MergeType, before: unknown, after: unknown, skips: ReadonlySet<string>): FieldSet {
  let tree = created.get(type)
  if (!tree || tree.nodes > maxNodes) created.set(type, (tree = newTree()))
  const start = tree.root.child(skips.size + (skips.has('spec') ? 's' : ''), tree)
  const last = nodeAfter(start, type, after, tree, skips)
  return (last.set ??= compare(type, before, after, skips).changed)
}

/** Goes on in the tree by all that decides which fields a value sets. */
function nodeAfter(node: CreatedNode, type: MergeType, value: unknown, tree: Created, skips: ReadonlySet<string> = noFields): CreatedNode {
  if (value === null) return node.child(nothing, tree)
  const shape = shapeOf(type, value)
  if (shape === 'leaf') return node.child(hasNothing(value) ? nothing : something, tree)
  let at = node
  if (shape === 'map') {
    const fields = asFields(value)
    for (const name in fields) {
      if (fields[name] !== undefined && !skips.has(name)) at = nodeAfter(at.child(name, tree), fieldType(type, name), fields[name], tree)
    }
  } else if (Array.isArray(value)) {
    for (const item of value) at = nodeAfter(at.child(itemElement(type as ListType, item) ?? '', tree), itemType(type), item, tree)
  }
  return at.child(ending, tree)
}

/** Steps that are no names: a null or empty value, any other one, and the end of a map or list. */
const nothing = '\0nothing'
const something = '\0something'
const ending = '\0ending'

/** What has changed from one value to another. */
export interface Comparison {
  /** Added or with another value. */
  changed: FieldSet
  removed: FieldSet
}

interface Changes {
  changed: OpenSet
  removed: OpenSet
}

/** Compares two values. What both share, the very same object or list, is passed over. `skips` are fields of the value that do not count. */
export function compare(type: MergeType, before: unknown, after: unknown, skips: ReadonlySet<string> = noFields): Comparison {
  const changes: Changes = { changed: {}, removed: {} }
  compareInto(changes, type, before, after, skips)
  return { changed: isEmptySet(changes.changed) ? emptySet : closed(changes.changed), removed: isEmptySet(changes.removed) ? emptySet : closed(changes.removed) }
}

function compareInto(out: Changes, type: MergeType, before: unknown, after: unknown, skips: ReadonlySet<string>): void {
  if (shapeOf(type, after ?? before) === 'list') {
    const [was, is] = [itemsOf(type, before), itemsOf(type, after)]
    for (const [element, items] of was) compareItems(out, itemType(type), element, items, is.get(element))
    for (const [element, items] of is) if (!was.has(element)) compareItems(out, itemType(type), element, undefined, items)
    return
  }
  const [was, is] = [asFields(before), asFields(after)]
  for (const name in was) {
    if (was[name] === is[name] || was[name] === undefined || skips.has(name)) continue
    compareChild(out, fieldType(type, name), `f:${name}`, was[name], is[name])
  }
  for (const name in is) {
    if (name in was && was[name] !== undefined) continue
    if (is[name] !== undefined && !skips.has(name)) compareChild(out, fieldType(type, name), `f:${name}`, undefined, is[name])
  }
}

/** Items that stand twice are compared as one value. */
function compareItems(out: Changes, type: MergeType, element: string, was: unknown[] | undefined, is: unknown[] | undefined): void {
  if ((was?.length ?? 1) === 1 && (is?.length ?? 1) === 1) compareChild(out, type, element, was?.[0], is?.[0])
  else if (!deepEqual(was, is)) addTo(is ? out.changed : out.removed, element, undefined, true)
}

function compareChild(out: Changes, type: MergeType, element: string, was: unknown, is: unknown): void {
  if (was === is) return
  const shape = shapeOf(type, is ?? was)
  const isLeaf = shape === 'leaf' || (hasNothing(was) && hasNothing(is)) || shape !== shapeOf(type, was ?? is)
  if (isLeaf) {
    if (is === undefined) addTo(out.removed, element, undefined, true)
    else if (was === undefined || !deepEqual(was, is)) addTo(out.changed, element, undefined, true)
    return
  }
  const below: Changes = { changed: {}, removed: {} }
  compareInto(below, type, was, is, noFields)
  addTo(out.changed, element, below.changed, was === undefined)
  addTo(out.removed, element, below.removed, is === undefined)
}

const hasNothing = (value: unknown): boolean => isNothing(value) || isEmptyMap(value) || (Array.isArray(value) && value.length === 0)

/** What an applied value makes of the one that is there. What it does not say stays, the very same. */
export function merge(type: MergeType, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live
  if (live === undefined) return applied
  const shape = shapeOf(type, applied)
  if (shape === 'leaf' || shape !== shapeOf(type, live) || (hasNothing(live) && hasNothing(applied))) return deepEqual(live, applied) ? live : applied
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

/** Items that are applied stand in the order of what is applied; others stay behind the one they followed. */
function mergeLists(type: ListType, live: unknown, applied: unknown): unknown {
  const [was, wanted] = [itemsOf(type, live), itemsOf(type, applied)]
  const out: unknown[] = []
  const done = new Set<string>()
  const take = (element: string) => {
    done.add(element)
    out.push(merge(type.items, was.get(element)?.[0], wanted.get(element)![0]))
  }
  const rest = [...wanted.keys()]
  let next = 0
  for (const [element, items] of was) {
    if (!wanted.has(element)) {
      out.push(...items)
      continue
    }
    while (!done.has(element)) take(rest[next++]!)
  }
  while (next < rest.length) take(rest[next++]!)
  return deepEqual(out, live) ? live : out
}

/** The value without the members of a set. */
export function remove(type: MergeType, value: unknown, set: FieldSet): unknown {
  if (isEmptySet(set)) return value
  const shape = shapeOf(type, value)
  if (shape === 'map' && isMap(value)) {
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

/** Why a value does not fit the type, in the words of structured-merge-diff; undefined if it does. */
export function problemOf(type: MergeType, value: unknown, path = ''): string | undefined {
  if (isNothing(value)) return undefined
  if (type.kind === 'map') return mapProblem(type, value, path)
  if (type.kind === 'list') return listProblem(type, value, path)
  const expected = type.kind === 'scalar' ? type.of : undefined
  if (!expected || typeof value === expected || (expected === 'number' && typeof value === 'bigint')) return undefined
  return `${path}: expected ${expected === 'number' ? 'numeric (int or float)' : expected}, got ${goValue(value)}`
}

function mapProblem(type: MergeType & { kind: 'map' }, value: unknown, path: string): string | undefined {
  if (!isMap(value)) return `${path}: expected map, got ${goValue(value)}`
  for (const name in value) {
    const of = type.field(name)
    const problem = of ? problemOf(of, value[name], `${path}.${name}`) : `${path}.${name}: field not declared in schema`
    if (problem) return problem
  }
  return undefined
}

function listProblem(type: ListType, value: unknown, path: string): string | undefined {
  if (!Array.isArray(value)) return `${path}: expected list, got ${goValue(value)}`
  const seen = new Set<string>()
  for (const [i, item] of value.entries()) {
    const element = type.merging.kind === 'atomic' ? `i:${i}` : itemElement(type, item)
    if (element === undefined) return `${path}: element ${i}: ${keysProblem(type, item)}`
    if (seen.has(element)) return `${path}: duplicate entries for key ${elementText(element)}`
    seen.add(element)
    const problem = problemOf(type.items, item, path + elementText(element))
    if (problem) return problem
  }
  return undefined
}

function keysProblem({ merging }: ListType, item: unknown): string {
  if (!isMap(item)) return 'associative list with keys may not have non-map elements'
  const key = merging.kind === 'map' ? merging.keys.toSorted()[0] : ''
  return `associative list with keys has an element that omits key field ${JSON.stringify(key)} (and doesn't have default value)`
}

/** A value as Go shows it in such errors. */
const goValue = (value: unknown): string => `&value.valueUnstructured{Value:${typeof value === 'bigint' ? value : JSON.stringify(value)}}`

/** The paths of all lists, maps and structs in a value that are owned as a whole: to set one of them replaces all that is in it. */
export function atomicsIn(type: MergeType, value: unknown, path = ''): string[] {
  if (isMap(value)) {
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
