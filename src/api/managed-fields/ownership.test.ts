import { describe, expect, it } from 'vitest'
import { type Manager, type Owner, decodeOwners, encodeOwners, isReset, managerOfAgent } from './managers.ts'
import { isSameButForTimes, packAll } from './packed-owner.ts'
import { type Applied, applyConfiguration, conflictText, ownersAfterUpdate } from './ownership.ts'
import { pathTexts } from './field-set.ts'
import type { MapType, MergeType } from './merge-type.ts'
import { sampleType } from './testing/sample-type.ts'

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

describe('owners after a change of the types', () => {
  const whole = (type: MergeType): MergeType => (type.kind === 'map' ? { ...type, isAtomic: true } : type.kind === 'list' ? { ...type, merging: { kind: 'atomic' } } : type)
  /** The sample type with some fields atomic. */
  const withAtomic = (...names: string[]): MergeType => {
    const type = sampleType as MapType
    return { ...type, field: (name) => (names.includes(name) ? whole(type.field(name)!) : type.field(name)) }
  }
  const later = (manager: string, operation: Manager['operation'], type: MergeType) => ({ ...about(manager, operation), type, hasChangingTypes: true })
  const before = run([['apply', 'one', { a: 1, struct: { x: 1 }, set: ['p'] }], ['apply', 'two', { struct: { y: 1 }, set: ['q'] }]])

  it('own what has become atomic as a whole', () => {
    const type = withAtomic('struct', 'set')
    const owners = ownersAfterUpdate(later('three', 'Update', type), before.owners, before.value, { ...(before.value as object), b: 1 })
    expect(owners.map((o) => [o.manager, [...pathTexts(o.fields)]])).toEqual([
      ['one', ['.a', '.set', '.struct']], ['two', ['.set', '.struct']], ['three', ['.b']],
    ])
  })

  it('conflict about all of it', () => {
    const type = withAtomic('struct')
    const { conflicts } = applyConfiguration(later('one', 'Apply', type), before.owners, before.value, { a: 1, struct: { x: 2 }, set: ['p'] }, false)
    expect(conflicts.map((c) => [c.with.manager, c.path])).toEqual([['two', '.struct']])
  })

  it('keep their fields where the types are the same, or cannot change', () => {
    const update = { ...(before.value as object), b: 1 }
    const [same] = ownersAfterUpdate(later('three', 'Update', sampleType), before.owners, before.value, update)
    expect(same!.fields).toBe(before.owners[0]!.fields)
    const [fixed] = ownersAfterUpdate({ ...later('three', 'Update', withAtomic('struct')), hasChangingTypes: false }, before.owners, before.value, update)
    expect(fixed!.fields).toBe(before.owners[0]!.fields)
  })
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
