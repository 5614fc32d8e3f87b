import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/api/generated/schema.ts'
import { type MergeType, type OwnedWrite, applyConfiguration, builtInMergeType, ownersAfterUpdate, packAll } from '../../../src/api/managed-fields/index.ts'
import type { Json } from '../../../src/api/object.ts'
import { applyJsonPatch } from '../../../src/api/patches/json-patch.ts'
import { applyMergePatch } from '../../../src/api/patches/merge-patch.ts'
import { applyStrategicMergePatch } from '../../../src/api/patches/strategic-merge-patch.ts'
import { type GrowingField, filled, growingFields, wrapped } from './growing-fields.ts'
import { type Case, excess, excesses } from './growth.ts'

const items = 8_000
const leastMs = 80

interface TypeField extends GrowingField {
  typeName: string
}

const seen = new Set<string>()
const kinds = Object.keys(schema).filter((name) => schema[name]!.kind !== undefined)
const fields: TypeField[] = kinds.flatMap((typeName) => growingFields(typeName, ['list', 'map'], seen).map((field) => ({ typeName, ...field })))

/** The merge type of a field; undefined where its value is one to those who merge. */
function mergeTypeOf({ typeName, way }: TypeField): MergeType | undefined {
  let type: MergeType | undefined = builtInMergeType(typeName)
  for (const step of way) {
    if (type?.kind === 'list' && step === '[]') type = type.items
    else if (type?.kind === 'map' && !type.isAtomic) type = type.field(step === '{}' ? 'key' : step)
    else return undefined
  }
  return type
}

/** Atomic values are kept or replaced as a whole, so one field is sufficient. */
const isGranular = (field: TypeField): boolean => {
  const type = mergeTypeOf(field)
  return type?.kind === 'list' ? type.merging.kind !== 'atomic' : type?.kind === 'map' && !type.isAtomic
}

/** Lists and maps of one shape are merged by the same code: one of each is enough. */
function shapeOf(field: TypeField): string {
  const type = mergeTypeOf(field)!
  if (type.kind === 'map') return `map of ${itemKindOf(field)}`
  return type.kind === 'list' ? `${type.merging.kind} ${type.merging.kind === 'map' ? type.merging.keys.length : ''} of ${itemKindOf(field)}` : type.kind
}
const itemKindOf = ({ type }: GrowingField): string => ('of' in type ? type.of.kind : type.kind)
const granular = [...new Map(fields.filter(isGranular).map((field) => [shapeOf(field), field])).values()]

/** Half of the items are the same, in another order. */
const before = ({ way, type }: TypeField, size: number) => wrapped(way, filled(type, size))
const after = ({ way, type }: TypeField, size: number): Json => {
  const value = filled(type, size, size / 2)
  return wrapped(way, Array.isArray(value) ? value.reverse() : value)
}

const write = (typeName: string, operation: 'Apply' | 'Update'): OwnedWrite => ({
  type: builtInMergeType(typeName),
  by: { manager: operation, operation, apiVersion: 'v1', subresource: '' },
  time: '2026-01-01T00:00:00Z',
  ignores: new Set(),
})

type Way = [name: string, fields: readonly TypeField[], make: (field: TypeField) => Case]

/** A list that another one merges by some of its fields has an order, too. */
const ordered = ({ way, type }: TypeField, size: number): Json =>
  wrapped([...way.slice(0, -1), `$setElementOrder/${way.at(-1)!}`], (filled(type, size) as Json[]).reverse())
const lists = granular.filter(({ type }) => type.kind === 'list')

const ways: Way[] = [
  ['strategic merge patch', granular, (field) => (size) => {
    const [doc, patch] = [before(field, size), after(field, size)]
    return () => applyStrategicMergePatch(doc, patch, field.typeName)
  }],
  ['strategic merge patch of an order', lists, (field) => (size) => {
    const [doc, patch] = [before(field, size), ordered(field, size)]
    return () => applyStrategicMergePatch(doc, patch, field.typeName)
  }],
  ['update', granular, (field) => (size) => {
    const [was, is] = [before(field, size), after(field, size)]
    const owners = packAll(ownersAfterUpdate(write(field.typeName, 'Apply'), [], {}, was))
    return () => packAll(ownersAfterUpdate(write(field.typeName, 'Update'), owners, was, is))
  }],
  ['apply', granular, (field) => (size) => {
    const [was, is] = [before(field, size), after(field, size)]
    const owners = packAll(ownersAfterUpdate(write(field.typeName, 'Update'), [], {}, was))
    return () => packAll(applyConfiguration(write(field.typeName, 'Apply'), owners, was, is, true).owners)
  }],
]

describe('a patch costs what it and its object are long', () => {
  test.each(ways)('%s of every shape of lists and maps that are not replaced as a whole', async (_, chosen, make) => {
    expect(chosen.length).toBeGreaterThan(3)
    const cases = chosen.map((field) => ({ name: `${field.typeName} ${field.way.join('.')}`, make: make(field) }))
    expect(await excesses(cases, items, leastMs)).toEqual([])
  }, 600_000)

  const map = (size: number) => filled({ kind: 'map', of: { kind: 'string' } }, size)
  const list = (size: number) => filled({ kind: 'list', of: { kind: 'string' } }, size)
  const operations = (size: number, operation: (i: number) => { [key: string]: Json }) => Array.from({ length: size }, (_, i) => operation(i))
  const cases: [name: string, large: number, make: Case][] = [
    ['a merge patch of a map', 40_000, (size) => {
      const [doc, patch] = [{ data: map(size) }, { data: map(2 * size) }]
      return () => applyMergePatch(doc, patch)
    }],
    ['a JSON patch that adds to a map', 10_000, (size) => {
      const [doc, patch] = [{ data: map(size) }, operations(size, (i) => ({ op: 'add', path: `/data/n${i}`, value: 'v' }))]
      return () => applyJsonPatch(doc, patch)
    }],
    ['a JSON patch that moves', 10_000, (size) => {
      const [doc, patch] = [{ data: map(size) }, operations(size, (i) => ({ op: 'move', from: `/data/k${i}`, path: `/data/m${i}` }))]
      return () => applyJsonPatch(doc, patch)
    }],
    ['a JSON patch that removes from a map', 10_000, (size) => {
      const [doc, patch] = [{ data: map(size) }, operations(size, (i) => ({ op: 'remove', path: `/data/k${i}` }))]
      return () => applyJsonPatch(doc, patch)
    }],
    ['a JSON patch that appends to a list', 10_000, (size) => {
      const [doc, patch] = [{ items: list(size) }, operations(size, () => ({ op: 'add', path: '/items/-', value: 'v' }))]
      return () => applyJsonPatch(doc, patch)
    }],
    ['a JSON patch with a long path', 400_000, (size) => () => applyJsonPatch({}, [{ op: 'add', path: '/a'.repeat(size / 2), value: 1 }])],
  ]
  test.each(cases)('%s', async (name, large, make) => {
    expect(await excess(name, make, large, 20)).toBeUndefined()
  })
})
