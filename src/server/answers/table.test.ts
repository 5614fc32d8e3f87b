import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import { ageColumn, nameColumn } from './columns.ts'
import { asPartialMetadataList, isAList, isNotAList } from './partial-metadata.ts'
import type { IncludeObject } from './table.ts'
import { includeObjectOf, objectTable, scaleTabular, toTable, watchTables } from './table.ts'

const now = Date.parse('2024-01-01T00:05:00Z')
const boat = (name: string, more: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Boat', metadata: { name, resourceVersion: '7', creationTimestamp: '2024-01-01T00:00:00Z' }, ...more }) as KubeObject
const boats = {
  columns: [nameColumn(), { name: 'Crew', type: 'integer' as const, description: 'Who is aboard.', priority: 1 as const, cell: () => 3 }, ageColumn()],
  rowConditions: (obj: KubeObject) => (obj.metadata.name === 'sunk' ? [{ type: 'Completed', status: 'True', reason: 'Sunk', message: 'It is gone.' }] : []),
}
const options = { now, version: 'v1', includeObject: 'Metadata' as IncludeObject, listMeta: { resourceVersion: '9' } }

describe('toTable()', () => {
  it('has a column definition and a cell for each column', () => {
    const table = toTable(boats, [boat('a')], options)
    expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '9' } })
    expect(table.columnDefinitions?.map((c) => [c.name, c.type, c.format, c.priority])).toEqual([
      ['Name', 'string', 'name', 0],
      ['Crew', 'integer', '', 1],
      ['Age', 'string', '', 0],
    ])
    expect(table.columnDefinitions?.[0]?.description).toContain('Name must be unique within a namespace.')
    expect(table.columnDefinitions?.[1]?.description).toBe('Who is aboard.')
    expect(table.rows?.map((r) => r.cells)).toEqual([['a', 3, '5m']])
  })

  it('says of a row what its kind says of it', () => {
    const [sailing, sunk] = toTable(boats, [boat('sailing'), boat('sunk')], options).rows!
    expect(sailing).not.toHaveProperty('conditions')
    expect(sunk?.conditions).toEqual([{ type: 'Completed', status: 'True', reason: 'Sunk', message: 'It is gone.' }])
  })

  it.each<[IncludeObject, unknown]>([
    ['None', null],
    ['Metadata', { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1beta1', metadata: boat('a').metadata }],
    ['Object', boat('a', { sails: 2 })],
  ])('brings %s with each row', (includeObject, wanted) => {
    const table = toTable(boats, [boat('a', { sails: 2 })], { ...options, version: 'v1beta1', includeObject })
    expect(table.apiVersion).toBe('meta.k8s.io/v1beta1')
    expect(table.rows?.[0]?.object).toEqual(wanted)
  })

  it('shows name and time of creation of kinds without columns', () => {
    const table = toTable({}, [boat('a')], options)
    expect(table.columnDefinitions?.map((c) => [c.name, c.type, c.format])).toEqual([['Name', 'string', 'name'], ['Created At', 'date', '']])
    expect(table.rows?.[0]?.cells).toEqual(['a', '2024-01-01T00:00:00Z'])
  })

  it('has empty rows of nothing, or none for kinds without columns', () => {
    expect(toTable(boats, [], options).rows).toEqual([])
    expect(toTable({}, [], options).rows).toBeNull()
  })
})

describe('objectTable()', () => {
  it('has the resource version of its object', () => {
    expect(objectTable(boats, boat('a'), options).metadata).toEqual({ resourceVersion: '7' })
  })

  it('shows a Scale', () => {
    const scale = boat('d', { spec: { replicas: 3 }, status: { replicas: 0 } })
    const table = objectTable(scaleTabular, scale, options)
    expect(table.columnDefinitions?.map((c) => [c.name, c.format, c.description.slice(0, 28)])).toEqual([
      ['Name', '', 'Name must be unique within a'],
      ['Desired', '', 'replicas is the desired numb'],
      ['Available', '', 'replicas is the actual numbe'],
      ['Age', '', 'CreationTimestamp is a times'],
    ])
    expect(table.rows?.[0]?.cells).toEqual(['d', 3, 0, '5m'])
  })
})

describe('watchTables()', () => {
  it('sends columns once, be it with a bookmark', () => {
    const tables = watchTables(boats, options)
    const first = tables.bookmark({ metadata: { resourceVersion: '4' } } as KubeObject)
    expect(first.columnDefinitions).toHaveLength(3)
    expect(first.rows).toEqual([{ cells: [null, null, null], object: expect.objectContaining({ metadata: { resourceVersion: '4' } }) }])
    const second = tables.event(boat('a'), now)
    expect(second.columnDefinitions).toBeNull()
    expect(second.rows?.[0]?.cells).toEqual(['a', 3, '5m'])
  })
})

describe('includeObjectOf()', () => {
  it.each([['', 'Metadata'], ['includeObject=', 'Metadata'], ['includeObject=None', 'None'], ['includeObject=Object', 'Object']])('reads "%s" as %s', (query, wanted) => {
    expect(includeObjectOf(new URLSearchParams(query))).toBe(wanted)
  })

  it('refuses other words', () => {
    expect(() => includeObjectOf(new URLSearchParams('includeObject=All'))).toThrow(
      `Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`,
    )
  })
})

describe('partial metadata', () => {
  it('keeps the metadata of a list and drops the rest', () => {
    expect(asPartialMetadataList([boat('a', { sails: 2 })], { resourceVersion: '9' }, 'v1')).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: boat('a').metadata }],
    })
  })

  it.each([
    ['', 'ConfigMap', '*core.ConfigMap'],
    ['events.k8s.io', 'Event', '*core.Event'],
    ['rbac.authorization.k8s.io', 'Role', '*rbac.Role'],
    ['apps', 'Deployment', '*apps.Deployment'],
  ])('names the type of a %s list as Kubernetes does', (group, kind, type) => {
    expect(isAList({ group, kind }).message).toBe(`you requested PartialObjectMetadata, but the requested object is a list (${type}List)`)
    expect(isNotAList({ group, kind }).message).toBe(`you requested PartialObjectMetadataList, but the requested object is not a list (${type})`)
  })
})
