import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pathTexts } from './field-set.ts'
import type { Manager, Owner } from './managers.ts'
import { type NaiveState, differences, merged, naiveApply, naiveUpdate, pathsOf, shown } from './testing/naive-rules.ts'
import { applyConfiguration, ownersAfterUpdate } from './ownership.ts'
import { isSameButForTimes, packAll } from './packed-owner.ts'
import { sampleSchema, sampleType } from './testing/sample-type.ts'
import { compare, fieldSetOf, merge } from './typed-value.ts'

interface State {
  value: unknown
  owners: readonly Owner[]
  conflicts: [manager: string, path: string][]
}
type Step = { how: Manager['operation']; who: string; what: unknown; force: boolean }

const about = (manager: string, operation: Manager['operation']) =>
  ({ type: sampleType, by: { manager, operation, apiVersion: 'v1', subresource: '' }, time: '2026-01-01T00:00:00Z', ignores: new Set<string>() })
const nameOf = ({ operation, manager }: Manager) => `${operation} ${manager}`

function take(state: State, { how, who, what, force }: Step): State {
  const write = about(who, how)
  if (how === 'Update') return { value: what, owners: ownersAfterUpdate(write, state.owners, state.value, what), conflicts: [] }
  const { value, owners, conflicts } = applyConfiguration(write, state.owners, state === nothing ? undefined : state.value, what, force)
  return conflicts.length ? { ...state, conflicts: conflicts.map((c) => [nameOf(c.with), c.path]) } : { value, owners, conflicts: [] }
}
const takeNaively = (state: NaiveState, { how, who, what, force }: Step): NaiveState =>
  how === 'Update' ? naiveUpdate(sampleSchema, state, `Update ${who}`, what) : naiveApply(sampleSchema, state, `Apply ${who}`, what, force)

const nothing: State = { value: {}, owners: [], conflicts: [] }
const nobody: NaiveState = { value: {}, owners: new Map(), conflicts: [] }
const run = (steps: readonly Step[]): State => steps.reduce(take, nothing)
const apply = (state: State, who: string, what: unknown, force = false) => take(state, { how: 'Apply', who, what, force })
const ownedBy = (state: { owners: readonly Owner[] }, who: string) => [...pathTexts(state.owners.find((o) => o.manager === who && o.operation === 'Apply')?.fields ?? {})].sort()
const owned = (state: State): Record<string, string[]> => Object.fromEntries(state.owners.map((o) => [nameOf(o), [...pathTexts(o.fields)].sort()]).sort())
const ownedNaively = (state: NaiveState) => Object.fromEntries([...state.owners].map(([who, set]): [string, string[]] => [who, [...set].map(shown).sort()]).sort())

const few = fc.integer({ min: 0, max: 2 })
const name = fc.constantFrom('p', 'q', 'r', 's')
const partly = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields, { requiredKeys: [] })
const loose = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small', maxDepth: 2 }, few, fc.dictionary(name, tie('any'), { maxKeys: 2 }), fc.array(few, { maxLength: 2 })),
})).any
const port = fc.record({ port: few, protocol: fc.constantFrom('TCP', 'UDP'), name }, { requiredKeys: ['port'] })

/** Objects of the sample schema. Nobody owns an empty list of items, and a null gives way to what is there: not all that is true in general is true of them. */
function objects({ hasEmpties }: { hasEmpties: boolean }) {
  const minLength = hasEmpties ? 0 : 1
  const nullable = <T>(of: fc.Arbitrary<T>) => (hasEmpties ? fc.option(of, { freq: 12, nil: null }) : of)
  const set = fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength, maxLength: 3 })
  const item = fc.record({ name, v: few, w: few, set, map: fc.dictionary(name, few, { maxKeys: 2 }), inner: partly({ z: few }) }, { requiredKeys: ['name'] })
  return partly({
    a: few,
    b: few,
    struct: nullable(partly({ x: few, y: few, inner: nullable(partly({ z: few })) })),
    whole: partly({ x: few, y: few }),
    map: nullable(fc.dictionary(name, few, { maxKeys: 3 })),
    structs: fc.dictionary(name, partly({ x: few, y: few }), { maxKeys: 2 }),
    wholeMap: fc.dictionary(name, few, { maxKeys: 2 }),
    list: nullable(fc.array(few, { maxLength: 2 })),
    set: nullable(set),
    items: fc.uniqueArray(item, { selector: (i) => i.name, minLength, maxLength: 3 }),
    ports: fc.uniqueArray(port, { selector: (p) => `${p.port}${p.protocol ?? 'TCP'}`, minLength, maxLength: 3 }),
    any: fc.dictionary(name, loose, { maxKeys: 2 }),
    open: fc.record({ x: few, inner: partly({ z: few }), q: loose }, { requiredKeys: [] }),
  })
}
const object = objects({ hasEmpties: true })
const stepWith = (what: fc.Arbitrary<unknown>): fc.Arbitrary<Step> =>
  fc.record({ how: fc.constantFrom('Apply', 'Apply', 'Update'), who: fc.constantFrom('one', 'two', 'three'), what, force: fc.boolean() })

describe('by the naive rules', () => {
  it('any value sets the same fields', () => {
    fc.assert(fc.property(object, (value) => {
      expect([...pathTexts(fieldSetOf(sampleType, value))].sort()).toEqual([...pathsOf(sampleSchema, value)].map(shown).sort())
    }), { numRuns: 300 })
  })

  it('any two values differ in the same fields', () => {
    fc.assert(fc.property(object, object, (was, is) => {
      const [found, expected] = [compare(sampleType, was, is), differences(sampleSchema, was, is)]
      expect([...pathTexts(found.changed)].sort()).toEqual([...expected.changed].map(shown).sort())
      expect([...pathTexts(found.removed)].sort()).toEqual([...expected.removed].map(shown).sort())
    }), { numRuns: 500 })
  })

  it('any two values are merged into the same', () => {
    fc.assert(fc.property(object, object, (live, applied) => {
      expect(merge(sampleType, live, applied)).toEqual(merged(sampleSchema, live, applied))
    }), { numRuns: 500 })
  })

  it('any sequence of writes has the same object, managers and conflicts at each step', () => {
    fc.assert(fc.property(fc.array(stepWith(object), { minLength: 1, maxLength: 6 }), (steps) => {
      let [state, naive] = [nothing, nobody]
      for (const next of steps) {
        state = take(state, next)
        naive = takeNaively(naive, next)
        if (!next.force) expect(state.conflicts.toSorted()).toEqual(naive.conflicts.toSorted())
        expect(state.value).toEqual(naive.value)
        expect(owned(state)).toEqual(ownedNaively(naive))
      }
    }), { numRuns: 300 })
  }, 30_000)
})

/** Two configurations that say something about different fields of the object. */
function disjoint(left: object, right: object): [object, object] {
  const mine = new Set(Object.keys(left))
  return [{ ...left, a: 1, b: undefined }, { ...Object.fromEntries(Object.entries(right).filter(([key]) => !mine.has(key))), a: undefined, b: 1 }]
}

describe('whatever was written before', () => {
  const full = objects({ hasEmpties: false })
  const history = fc.array(stepWith(full), { maxLength: 4 })
  const wanting = full.map((config) => ({ ...config, b: 1 }))

  it('an apply is idempotent', () => {
    fc.assert(fc.property(history, wanting, (steps, wanted) => {
      const first = apply(run(steps), 'one', wanted, true)
      const again = apply(first, 'one', wanted)
      expect(again.conflicts).toEqual([])
      expect(again.value).toEqual(first.value)
      expect(isSameButForTimes(packAll(again.owners), packAll(first.owners))).toBe(true)
    }), { numRuns: 300 })
  })

  it('two managers with fields of their own commute', () => {
    fc.assert(fc.property(full, full, (left, right) => {
      const [one, two] = disjoint(left, right)
      const [there, back] = [apply(apply(nothing, 'one', one), 'two', two), apply(apply(nothing, 'two', two), 'one', one)]
      expect([there.conflicts, back.conflicts]).toEqual([[], []])
      expect(there.value).toEqual(back.value)
      expect(isSameButForTimes(packAll(there.owners), packAll(back.owners))).toBe(true)
    }), { numRuns: 300 })
  })

  it('what one manager stops applying is not taken from another', () => {
    fc.assert(fc.property(history, wanting, (steps, wanted) => {
      const both = apply(run(steps), 'two', wanted, true)
      const left = apply(both, 'one', {}, true)
      expect(ownedBy(left, 'two')).toEqual(ownedBy(both, 'two'))
      expect(apply(left, 'two', wanted).conflicts).toEqual([])
      const kept = new Set(pathTexts(fieldSetOf(sampleType, left.value)))
      expect(ownedBy(both, 'two').filter((path) => !kept.has(path) && !isEmptyContainer(wanted, path))).toEqual([])
    }), { numRuns: 300 })
  })

  it('a forced apply takes exactly the conflicts', () => {
    fc.assert(fc.property(history, wanting, (steps, wanted) => {
      const before = run(steps)
      const asked = apply(before, 'one', wanted)
      const forced = apply(before, 'one', wanted, true)
      const conflicts = new Set(asked.conflicts.map(([who, path]) => `${who} ${path}`))
      const gone = new Set(pathTexts(compare(sampleType, before.value, forced.value).removed))
      for (const owner of before.owners.filter((o) => nameOf(o) !== 'Apply one')) {
        const now = new Set(pathTexts(forced.owners.find((o) => nameOf(o) === nameOf(owner))?.fields ?? {}))
        const lost = [...pathTexts(owner.fields)].filter((path) => !now.has(path) && !gone.has(path))
        expect(lost.filter((path) => !conflicts.has(`${nameOf(owner)} ${path}`))).toEqual([])
        expect(lost).toHaveLength(asked.conflicts.filter(([who]) => who === nameOf(owner)).length)
      }
    }), { numRuns: 300 })
  })

  it('an update owns the paths that it changes, and nobody else does', () => {
    fc.assert(fc.property(history, object, (steps, value) => {
      const before = run(steps)
      const after = take(before, { how: 'Update', who: 'four', what: value, force: false })
      const changed = [...pathTexts(compare(sampleType, before.value, value).changed)].sort()
      expect(owned(after)['Update four'] ?? []).toEqual(changed)
      const others = Object.entries(owned(after)).filter(([who]) => who !== 'Update four').flatMap(([, paths]) => paths)
      expect(others.filter((path) => changed.includes(path))).toEqual([])
    }), { numRuns: 300 })
  })
})

/** An applied structure without fields is owned as it is; with the fields of others in it, it is no field of its own. */
function isEmptyContainer(config: object, path: string): boolean {
  const names: string[] = path.split('.').slice(1)
  let at: unknown = config
  for (const part of names) at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[part] : undefined
  return path.includes('[') || (typeof at === 'object' && at !== null && Object.keys(at).length === 0)
}
