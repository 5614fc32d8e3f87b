import { describe, expect, it } from 'vitest'
import { pathSegmentName } from '../../api/validation/names.ts'
import { Registry } from './registry.ts'
import { defineResource } from './resource.ts'
import type { Action } from '../subresources/action.ts'

const plain = { version: 'v1', namespaced: true, nameRule: pathSegmentName, validate: () => [], validateUpdate: () => [] }
const things = defineResource({ ...plain, group: '', kind: 'Thing', plural: 'things' })
const readOnly = defineResource({ ...plain, group: 'x.io', kind: 'Fact', plural: 'facts', type: 'XFact', verbs: ['get', 'list'] })
const other = defineResource({ ...plain, group: 'y.io', kind: 'Thing', plural: 'things', storedAs: { group: '', version: 'v1', plural: 'things', toStored: (o) => o, fromStored: (o) => o } })
const act = { of: { group: '', plural: 'things', subresource: 'poke' }, verbs: ['create'], kind: { group: '', version: 'v1', kind: 'Poke' } } as unknown as Action

describe('Registry', () => {
  // The second version stands before the one it is stored as: order does not matter.
  const registry = new Registry([other, things, readOnly], [act])

  it('finds kinds by version and plural', () => {
    expect(registry.find('v1', 'things')).toMatchObject({ apiVersion: 'v1', type: { name: 'Thing' }, prefix: '/registry/things/' })
    expect(registry.find('x.io/v1', 'facts')).toMatchObject({ type: { name: 'XFact' } })
    for (const [version, plural] of [['v1', 'facts'], ['v2', 'things'], ['v1', 'constructor'], ['constructor', 'x']]) expect(registry.find(version!, plural!)).toBeUndefined()
  })

  it('gives all verbs to who names none', () => {
    expect(registry.find('v1', 'things')!.verbs.size).toBe(8)
    expect([...registry.find('x.io/v1', 'facts')!.verbs]).toEqual(['get', 'list'])
  })

  it('stores a second version where the first is', () => {
    expect(registry.find('y.io/v1', 'things')!.storage).toBe(registry.find('v1', 'things'))
    expect(Array.from(registry.storages(), (r) => r.resource)).toEqual([things, readOnly])
    expect(registry.stored('y.io', 'things')).toBeUndefined()
  })

  it('knows the actions of each kind', () => {
    expect(registry.find('v1', 'things')!.actions.get('poke')).toBe(act)
    expect(registry.find('y.io/v1', 'things')!.actions.size).toBe(0)
  })

  it('refuses a version of what is not stored', () => {
    expect(() => new Registry([other], [])).toThrow('no resource is stored as /things')
  })
})
