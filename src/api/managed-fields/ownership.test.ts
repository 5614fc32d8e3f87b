import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Manager, type Owner, decodeOwners, encodeOwners, isReset, managerOfAgent } from './managers.ts'
import { isSameButForTimes, packAll } from './packed-owner.ts'
import { type Applied, applyConfiguration, conflictText, ownersAfterUpdate } from './ownership.ts'
import { pathTexts } from './field-set.ts'
import { sampleType } from './sample-type.ts'

const ignores = new Set<string>()
const by = (manager: string, operation: Manager['operation']): Manager => ({ manager, operation, apiVersion: 'v1', subresource: '' })
const about = (manager: string, operation: Manager['operation'], time = '2026-01-01T00:00:00Z') => ({ type: sampleType, by: by(manager, operation), time, ignores })

interface State {
  value: unknown
  owners: readonly Owner[]
}
const nothing: State = { value: {}, owners: [] }

const apply = (state: State, manager: string, config: unknown, force = false): Applied =>
  applyConfiguration(about(manager, 'Apply'), state.owners, state.owners.length ? state.value : undefined, config, force)
const update = (state: State, manager: string, value: unknown, time?: string): State =>
  ({ value, owners: ownersAfterUpdate(about(manager, 'Update', time), state.owners, state.value, value) })
const ownedBy = (state: State, manager: string) => [...pathTexts(state.owners.find((o) => o.manager === manager)?.fields ?? {})]

type Step = ['apply' | 'force' | 'update', string, unknown]
const run = (steps: Step[]): State =>
  steps.reduce<State>((state, [how, who, what]) => (how === 'update' ? update(state, who, what) : apply(state, who, what, how === 'force')), nothing)

describe('a sequence of writes', () => {
  it.each<[string, Step[], unknown, Record<string, string[]>]>([
    ['an apply owns what it says', [['apply', 'one', { a: 1 }]], { a: 1 }, { one: ['.a'] }],
    ['an apply of less removes', [['apply', 'one', { a: 1, b: 1 }], ['apply', 'one', { b: 1 }]], { b: 1 }, { one: ['.b'] }],
    ['an apply of nothing removes all', [['apply', 'one', { map: { p: 1 } }], ['apply', 'one', {}]], {}, {}],
    ['the same value is shared', [['apply', 'one', { a: 1 }], ['apply', 'two', { a: 1 }]], { a: 1 }, { one: ['.a'], two: ['.a'] }],
    ['what is shared stays with the other', [['apply', 'one', { a: 1 }], ['apply', 'two', { a: 1 }], ['apply', 'one', {}]], { a: 1 }, { two: ['.a'] }],
    ['force takes', [['apply', 'one', { a: 1 }], ['force', 'two', { a: 2 }]], { a: 2 }, { one: [], two: ['.a'] }],
    ['an update takes', [['apply', 'one', { a: 1 }], ['update', 'two', { a: 2 }]], { a: 2 }, { one: [], two: ['.a'] }],
    ['an update of the same takes nothing', [['apply', 'one', { a: 1 }], ['update', 'two', { a: 1 }]], { a: 1 }, { one: ['.a'], two: [] }],
    ['an update that removes', [['apply', 'one', { a: 1, b: 1 }], ['update', 'two', { b: 1 }]], { b: 1 }, { one: ['.b'], two: [] }],
    ['items of two managers', [['apply', 'one', { items: [{ name: 'x', v: 1 }] }], ['apply', 'two', { items: [{ name: 'y' }] }], ['apply', 'one', {}]], { items: [{ name: 'y' }] }, { two: ['.items[name="y"]', '.items[name="y"].name'] }],
    ['fields of one item', [['apply', 'one', { items: [{ name: 'x', v: 1 }] }], ['apply', 'two', { items: [{ name: 'x', w: 1 }] }], ['apply', 'one', {}]], { items: [{ name: 'x', w: 1 }] }, { two: ['.items[name="x"]', '.items[name="x"].name', '.items[name="x"].w'] }],
    ['values of a set', [['apply', 'one', { set: [1, 2] }], ['apply', 'two', { set: [2, 3] }], ['apply', 'one', {}]], { set: [2, 3] }, { two: ['.set[=2]', '.set[=3]'] }],
    ['keys of a map', [['apply', 'one', { map: { p: 1 } }], ['apply', 'two', { map: { q: 1 } }], ['apply', 'one', {}]], { map: { q: 1 } }, { two: ['.map.q'] }],
    ['what an update added stays', [['apply', 'one', { map: { p: 1 } }], ['update', 'two', { map: { p: 1, q: 1 } }], ['apply', 'one', {}]], { map: { q: 1 } }, { two: ['.map.q'] }],
    ['an atomic list is one field', [['apply', 'one', { list: [1] }], ['force', 'two', { list: [2] }], ['apply', 'one', {}]], { list: [2] }, { two: ['.list'] }],
    ['a new map of an update is owned with its name', [['update', 'one', { map: { p: 1 } }]], { map: { p: 1 } }, { one: ['.map', '.map.p'] }],
    ['an apply of what an update made shares it', [['update', 'one', { a: 1 }], ['apply', 'two', { a: 1 }]], { a: 1 }, { one: ['.a'], two: ['.a'] }],
  ])('%s', (_, steps, value, owned) => {
    const state = run(steps)
    expect(state.value).toEqual(value)
    for (const [manager, paths] of Object.entries(owned)) expect(ownedBy(state, manager)).toEqual(paths)
  })
})

describe('conflicts', () => {
  it('are told one by one, or by manager', () => {
    const one = run([['apply', 'one', { a: 1, b: 1 }], ['update', 'two', { a: 1, b: 1, struct: { x: 1 } }]])
    expect(conflictText(apply(one, 'three', { a: 2 }).conflicts).message).toBe('Apply failed with 1 conflict: conflict with "one": .a')
    expect(conflictText(apply(one, 'three', { a: 2, b: 2, struct: { x: 2 } }).conflicts).message).toBe(
      'Apply failed with 3 conflicts: conflicts with "one":\n- .a\n- .b\nconflicts with "two" using v1:\n- .struct.x',
    )
  })
})

it('ownersAfterUpdate() merges the oldest of more than ten updaters', () => {
  let state: State = nothing
  for (let i = 0; i < 13; i++) {
    state = update(state, `m${String(i).padStart(2, '0')}`, { map: { ...(state.value as { map?: object }).map, [`k${i}`]: 1 } }, `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`)
  }
  expect(state.owners).toHaveLength(10)
  expect(ownedBy(state, 'ancient-changes')).toEqual(['.map', '.map.k0', '.map.k1', '.map.k2', '.map.k3'])
})

it('applyConfiguration() of an object that nobody is known to manage finds somebody before it', () => {
  const { owners, conflicts } = applyConfiguration(about('one', 'Apply'), [], { a: 1, b: 1 }, { a: 2 }, false)
  expect(conflicts.map((c) => [c.with.manager, c.path])).toEqual([['before-first-apply', '.a']])
  expect(owners.map((o) => o.manager)).toEqual(['before-first-apply', 'one'])
})

describe('entries', () => {
  it('are read back as they were written', () => {
    const { owners } = run([['apply', 'one', { a: 1 }], ['update', 'two', { a: 1, b: 1 }]])
    expect(decodeOwners(encodeOwners(owners))).toEqual([...owners])
  })

  it.each([
    ['another operation', { operation: 'Delete' }], ['another form', { fieldsType: 'FieldsV2' }], ['no path element', { fieldsV1: { x: {} } }],
    ['a value that is no JSON', { fieldsV1: { 'v:{': {} } }], ['a text in the place of a set', { fieldsV1: { 'f:a': 'x' } }],
  ])('are refused for %s', (_, wrong) => {
    expect(decodeOwners([{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {}, ...wrong }])).toBeUndefined()
  })

  it('are reset by an empty list, or one empty entry', () => {
    expect([isReset([]), isReset([{}]), isReset(undefined), isReset([{ manager: 'x' }]), isReset([{}, {}])]).toEqual([true, true, false, false, false])
  })

  it('are the same but for times', () => {
    const owner: Owner = { manager: 'm', operation: 'Update', apiVersion: 'v1', subresource: '', time: 'x', fields: { 'f:a': {} } }
    const isSame = (change: Partial<Owner>) => isSameButForTimes(packAll([owner]), packAll([{ ...owner, ...change }]))
    expect([isSame({ time: 'y' }), isSame({ manager: 'n' }), isSame({ fields: { 'f:b': {} } })]).toEqual([true, false, false])
  })

  it.each([['kubectl/v1.36 (linux)', 'kubectl'], ['', 'unknown'], [undefined, 'unknown'], ['a\u0000b/1', 'ab'], ['x'.repeat(200), 'x'.repeat(128)]])('name the manager of agent %j', (agent, expected) => {
    expect(managerOfAgent(agent)).toBe(expected)
  })
})

const name = fc.constantFrom('p', 'q', 'r')
const config = fc.record({
  a: fc.integer({ min: 0, max: 2 }),
  struct: fc.record({ x: fc.integer({ min: 0, max: 2 }), y: fc.integer({ min: 0, max: 2 }) }, { requiredKeys: [] }),
  map: fc.dictionary(name, fc.integer({ min: 0, max: 2 })),
  list: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 3 }),
  set: fc.uniqueArray(fc.integer({ min: 0, max: 4 })),
  items: fc.uniqueArray(fc.record({ name, v: fc.integer({ min: 0, max: 2 }) }), { selector: (item) => item.name }),
}, { requiredKeys: [] })

describe('whatever is applied', () => {
  it('applied again, it changes nothing', () => {
    fc.assert(fc.property(config, config, (live, wanted) => {
      const first = apply(update(nothing, 'somebody', live), 'one', wanted, true)
      const again = apply(first, 'one', wanted)
      expect(again.conflicts).toEqual([])
      expect(again.value).toEqual(first.value)
      expect(isSameButForTimes(packAll(again.owners), packAll(first.owners))).toBe(true)
    }))
  })

  it('by two managers with fields of their own, the order does not matter', () => {
    fc.assert(fc.property(config, config, (left, right) => {
      const [one, two] = [{ a: left.a ?? 0, map: { ...left.map, one: 1 } }, { b: 1, struct: { x: 1, ...right.struct }, items: right.items ?? [], set: right.set ?? [] }]
      const there = apply(apply(nothing, 'one', one), 'two', two)
      const back = apply(apply(nothing, 'two', two), 'one', one)
      expect([there.conflicts, back.conflicts]).toEqual([[], []])
      expect(there.value).toEqual(back.value)
      expect(isSameButForTimes(packAll(there.owners), packAll(back.owners))).toBe(true)
    }))
  })

  it('what one stops applying is not taken from another', () => {
    fc.assert(fc.property(config, config, (left, right) => {
      const both = apply(apply(nothing, 'one', left), 'two', right, true)
      const owned = ownedBy(both, 'two')
      const left2 = apply(both, 'one', {}, true)
      expect(ownedBy(left2, 'two')).toEqual(owned)
      expect(apply(left2, 'two', right).conflicts).toEqual([])
      // An empty list of items is nobody's; items of both may stand in another order.
      const { items: _, set: __, ...rest } = right
      expect(left2.value).toMatchObject(rest)
    }))
  })
})
