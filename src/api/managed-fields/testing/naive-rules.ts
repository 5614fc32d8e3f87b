import type { Schema } from '../../structural/index.ts'
import { type Fields, isFields } from '../../object.ts'

/**
 * The rules of structured-merge-diff over flat sets of paths, directly from a structural schema. Slow and simple, for
 * tests. It shares no code and no data structure with the server.
 */
export type Paths = Set<string>

/** A type with its allowed forms. A value without a schema may have any form. */
interface Atom {
  scalar?: true
  list?: { isAtomic: boolean; isSet: boolean; keys: string[]; items: Schema }
  map?: { isAtomic: boolean; fields: Record<string, Schema>; values: Schema }
}

const anything: Schema = {}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : !isFields(value) || Object.keys(value).length === 0
const same = (a: unknown, b: unknown): boolean => sorted(a) === sorted(b)
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    isFields(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v,
  )

function atomOf(schema: Schema): Atom {
  if (schema['x-kubernetes-int-or-string']) return { scalar: true }
  switch (schema.type) {
    case 'array':
      return {
        list: {
          isAtomic: !['set', 'map'].includes(schema['x-kubernetes-list-type'] ?? ''),
          isSet: schema['x-kubernetes-list-type'] === 'set',
          keys: [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort(),
          items: schema.items ?? anything,
        },
      }
    case 'object': {
      const { additionalProperties: more } = schema
      return {
        map: {
          isAtomic: schema['x-kubernetes-map-type'] === 'atomic',
          fields: schema.properties ?? {},
          values: typeof more === 'object' ? more : anything,
        },
      }
    }
    case undefined:
      return {
        scalar: true,
        list: { isAtomic: true, isSet: false, keys: [], items: anything },
        map: { isAtomic: false, fields: {}, values: anything },
      }
    default:
      return { scalar: true }
  }
}

/** The form of a value. A null may have any form. */
function formOf(atom: Atom, value: unknown): Atom {
  if (value === undefined || value === null) return atom
  if (Array.isArray(value)) return atom.list ? { list: atom.list } : atom
  if (isFields(value)) return atom.map ? { map: atom.map } : atom
  return atom.scalar ? { scalar: true } : atom
}
const kindOf = (atom: Atom): 'map' | 'scalar' | 'list' => (atom.map ? 'map' : atom.scalar ? 'scalar' : 'list')

function elementOf(list: NonNullable<Atom['list']>, item: unknown): string {
  if (list.isSet) return `[=${JSON.stringify(item)}]`
  const value = (key: string) => (item as Fields)[key] ?? list.items.properties?.[key]?.default
  return `[${list.keys
    .filter((key) => value(key) !== undefined)
    .map((key) => `${key}=${JSON.stringify(value(key))}`)
    .join(',')}]`
}

const join = (path: string[], element: string): string[] => [...path, element]
/** Encodes a path as a member of a set: each element is preceded by a zero byte. */
const text = (path: string[]): string => path.map((element) => `\0${element}`).join('')
const elements = (path: string): string[] => path.split('\0').slice(1)
const schemaAt = (map: NonNullable<Atom['map']>, name: string): Schema =>
  Object.hasOwn(map.fields, name) ? map.fields[name]! : map.values

/** The fields that a value sets. */
export function pathsOf(schema: Schema, value: unknown, path: string[] = [], out: Paths = new Set()): Paths {
  const atom = formOf(atomOf(schema), value)
  if (kindOf(atom) === 'scalar' || atom.map?.isAtomic || (!atom.map && atom.list?.isAtomic)) {
    out.add(text(path))
  } else if (atom.map && isFields(value)) {
    for (const [name, child] of Object.entries(value)) {
      const below = join(path, `.${name}`)
      pathsOf(schemaAt(atom.map, name), child, below, out)
      if (child === null || (isFields(child) && isEmpty(child)) || !Object.hasOwn(atom.map.fields, name))
        out.add(text(below))
    }
  } else if (atom.list && Array.isArray(value)) {
    for (const item of value) {
      const below = join(path, elementOf(atom.list, item))
      pathsOf(atom.list.items, item, below, out)
      out.add(text(below))
    }
  }
  return out
}

interface Difference {
  changed: Paths
  removed: Paths
}

/** The changes from one value to another. `undefined` is a missing value. */
export function differences(
  schema: Schema,
  was: unknown,
  is: unknown,
  path: string[] = [],
  out: Difference = { changed: new Set(), removed: new Set() },
): Difference {
  const atom = atomOf(schema)
  const [left, right] = [formOf(atom, was), formOf(atom, is)]
  let isLeaf: boolean
  if (is === undefined) isLeaf = compareAs(left, was, is, path, out)
  else if (was === undefined || same(left, right)) isLeaf = compareAs(right, was, is, path, out)
  else {
    compareAs(left, was, is, path, out)
    isLeaf = compareAs(right, was, is, path, out)
  }
  if (!isLeaf && was === undefined) out.changed.add(text(path))
  if (!isLeaf && is === undefined) out.removed.add(text(path))
  return out
}

/** Returns true if the values were compared as wholes. */
function compareAs(atom: Atom, was: unknown, is: unknown, path: string[], out: Difference): boolean {
  const kind = kindOf(atom)
  const fits = (value: unknown) => (kind === 'map' ? isFields(value) : Array.isArray(value))
  const [left, right] = [fits(was) ? was : undefined, fits(is) ? is : undefined]
  if (kind === 'scalar' || atom[kind]!.isAtomic || (isEmpty(left) && isEmpty(right))) {
    if (was === undefined) out.changed.add(text(path))
    else if (is === undefined) out.removed.add(text(path))
    else if (!same(was, is)) out.changed.add(text(path))
    return true
  }
  if (kind === 'map') {
    const [a, b] = [(left ?? {}) as Fields, (right ?? {}) as Fields]
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
      differences(schemaAt(atom.map!, name), a[name], b[name], join(path, `.${name}`), out)
    return false
  }
  const [a, b] = [(left ?? []) as unknown[], (right ?? []) as unknown[]]
  const found = (list: unknown[], element: string) => list.filter((item) => elementOf(atom.list!, item) === element)
  for (const element of new Set([...a, ...b].map((item) => elementOf(atom.list!, item)))) {
    const [one, other, at] = [found(a, element), found(b, element), join(path, element)]
    if (one.length < 2 && other.length < 2) differences(atom.list!.items, one[0], other[0], at, out)
    else if (!same(one, other)) (other.length ? out.changed : out.removed).add(text(at))
  }
  return false
}

/** Merges an applied value into the live one. */
export function merged(schema: Schema, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live
  if (live === undefined) return applied
  const atom = atomOf(schema)
  const [left, right] = [formOf(atom, live), formOf(atom, applied)]
  // A null takes the form of the other value.
  const form = applied === null ? left : right
  const kind = kindOf(form)
  if (kind === 'scalar' || form[kind]!.isAtomic || (isEmpty(live) && isEmpty(applied))) return applied
  if (kind === 'map') {
    const [was, wanted] = [isFields(live) ? live : {}, isFields(applied) ? applied : {}]
    const out: Fields = { ...was }
    for (const [name, value] of Object.entries(wanted)) out[name] = merged(schemaAt(form.map!, name), was[name], value)
    return out
  }
  const [was, wanted] = [Array.isArray(live) ? live : [], Array.isArray(applied) ? applied : []]
  return mergedItems(form.list!, was, wanted)
}

/**
 * Merges both lists side by side. Applied items keep their order. Each other item stays before the applied item that
 * followed it.
 */
function mergedItems(list: NonNullable<Atom['list']>, was: unknown[], wanted: unknown[]): unknown[] {
  const left = was.map((item) => ({ item, element: elementOf(list, item) }))
  const right = wanted.map((item) => ({ item, element: elementOf(list, item) }))
  const isWanted = (element: string) => right.some((r) => r.element === element)
  const shared = right.filter((r) => left.some((l) => l.element === r.element)).map((r) => r.element)
  const out: unknown[] = []
  const done = new Set<string>()
  const take = () => {
    const { item, element } = right.shift()!
    const there = was.filter((other) => elementOf(list, other) === element)
    out.push(merged(list.items, there.length === 1 ? there[0] : undefined, item))
    done.add(element)
    if (shared[0] === element) shared.shift()
  }
  while (left.length || right.length) {
    const head = left[0]
    if (head && right.length && head.element === right[0]!.element) {
      left.shift()
      take()
    } else if (head && !isWanted(head.element)) out.push(left.shift()!.item)
    else if (head && (done.has(head.element) || (right.length && shared[0] !== head.element))) left.shift()
    else take()
  }
  return out
}

/** A value without the members of a set. */
function without(schema: Schema, value: unknown, set: Paths, path: string[] = []): unknown {
  const below = [...set].some((p) => elements(p).slice(0, path.length).join('\0') === path.join('\0'))
  const atom = formOf(atomOf(schema), value)
  if (!below || isEmpty(value)) return value
  if (atom.map && isFields(value)) {
    if (atom.map.isAtomic) return value
    const left = Object.entries(value).flatMap(([name, child]) => {
      const at = join(path, `.${name}`)
      return set.has(text(at)) ? [] : [[name, without(schemaAt(atom.map!, name), child, set, at)]]
    })
    return Object.fromEntries(left)
  }
  if (!atom.list || atom.list.isAtomic || !Array.isArray(value)) return value
  const left = value.flatMap((item) => {
    const at = join(path, elementOf(atom.list!, item))
    return set.has(text(at)) ? [] : [without(atom.list!.items, item, set, at)]
  })
  return left
}

/** The set with every struct field that has members below it. Keys of maps and items of lists are not added. */
function withFieldsAbove(schema: Schema, set: Paths): Paths {
  const out = new Set(set)
  for (const member of set) {
    let at: Schema = schema
    const path: string[] = []
    for (const element of elements(member)) {
      path.push(element)
      const atom = atomOf(at)
      const name = element.slice(1)
      if (!element.startsWith('.')) at = atom.list?.items ?? anything
      else {
        if (Object.hasOwn(atom.map?.fields ?? {}, name)) out.add(text(path))
        at = atom.map ? schemaAt(atom.map, name) : anything
      }
    }
  }
  return out
}

const minus = (a: Paths, b: Paths): Paths => new Set([...a].filter((path) => !b.has(path)))
const both = (a: Paths, b: Paths): Paths => new Set([...a].filter((path) => b.has(path)))
const either = (...sets: Paths[]): Paths => new Set(sets.flatMap((set) => [...set]))

/** An object with its managers. `Apply one` and `Update one` are different managers. */
export interface NaiveState {
  value: unknown
  owners: Map<string, Paths>
  /** Conflicts of the last apply, by manager. */
  conflicts: [manager: string, path: string][]
}

export const shown = (path: string): string => elements(path).join('')

export function naiveUpdate(schema: Schema, state: NaiveState, by: string, value: unknown): NaiveState {
  const { changed, removed } = differences(schema, state.value, value)
  const owners = new Map(
    [...state.owners].map(([owner, set]) => [owner, minus(minus(set, owner === by ? new Set() : changed), removed)]),
  )
  owners.set(by, minus(either(owners.get(by) ?? new Set(), changed), removed))
  return { value, owners: filled(owners), conflicts: [] }
}

export function naiveApply(schema: Schema, state: NaiveState, by: string, config: unknown, force: boolean): NaiveState {
  if (state.owners.size === 0 && !isEmpty(state.value)) {
    state = { ...state, owners: new Map([['Update before-first-apply', differences(schema, {}, state.value).changed]]) }
  }
  const last = state.owners.get(by) ?? new Set()
  const own = pathsOf(schema, config)
  const others = new Map([...state.owners].filter(([owner]) => owner !== by))
  const left = pruned(schema, merged(schema, state.value, config), last, [own, ...others.values()])
  const value = minus(last, own).size ? nulled(left, config) : left
  const { changed, removed } = differences(schema, state.value, value)
  const conflicts = [...others].flatMap(([owner, set]) =>
    [...both(set, changed)].map((path): [string, string] => [owner, shown(path)]),
  )
  if (conflicts.length && !force) return { ...state, conflicts }
  const owners = new Map([...others].map(([owner, set]) => [owner, minus(minus(set, changed), removed)]))
  owners.set(by, own)
  return { value, owners: filled(owners), conflicts: force ? conflicts : [] }
}

/** An applied null sets a field of this manager to null, not to empty. */
function nulled(value: unknown, config: unknown): unknown {
  if (!isFields(value) || !isFields(config)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      config[name] === null && isEmpty(field) ? null : nulled(field, config[name]),
    ]),
  )
}

const filled = (owners: Map<string, Paths>): Map<string, Paths> =>
  new Map([...owners].filter(([, set]) => set.size > 0))

/**
 * Prunes in three steps: removes the last applied fields, restores those that other managers own, and then removes all
 * that were not applied last.
 */
function pruned(schema: Schema, whole: unknown, last: Paths, managed: Paths[]): unknown {
  if (last.size === 0) return whole
  const all = (value: unknown) => withFieldsAbove(schema, pathsOf(schema, value))
  const was = withFieldsAbove(schema, last)
  const first = without(schema, whole, was)
  const kept = either(all(first), ...managed.map((set) => withFieldsAbove(schema, set)))
  const second = without(schema, whole, minus(all(whole), kept))
  return without(schema, whole, both(minus(all(whole), all(second)), was))
}
