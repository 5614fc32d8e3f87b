import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { workloadColumns } from '../../src/dashboard/stream/columns.ts'
import { emptyFilter, matches } from './filter.ts'
import { OrderedRows, type Selection, placeOf, step } from './ordered-rows.ts'

type Values = (string | number)[]
const values = (given: Readonly<Record<string, string | number | undefined>>): Values =>
  Object.entries(workloadColumns).map(([name, type]) => given[name] ?? (type === 'number' ? 0 : name === 'kind' ? 'Deployment' : ''))

describe('OrderedRows', () => {
  it('has what needs attention first, then namespaces, kinds and numbers in names in order', () => {
    const rows = new Map([
      { name: 'web-10', namespace: 'a', state: 11 }, { name: 'web-2', namespace: 'a', state: 11 }, { name: 'late', namespace: 'z', state: 0 },
      { name: 'aaa', namespace: 'b', state: 11 }, { name: 'aaa', namespace: 'a', state: 11, kind: 'StatefulSet' },
    ].map((row, id) => [id, values(row)]))
    expect(new OrderedRows().of({ rows }).map(({ namespace, name }) => `${namespace}/${name}`)).toEqual(['z/late', 'a/web-2', 'a/web-10', 'a/aaa', 'b/aaa'])
  })

  it('shows the same after any changes as a list that is made anew, and keeps rows that have not changed', () => {
    const change = fc.record({ id: fc.nat(6), row: fc.option(fc.record({ name: fc.constantFrom('a-1', 'a-2', 'a-10'), state: fc.nat(2) })) })
    fc.assert(fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 12 }), (frames) => {
      const rows = new Map<number, Values>()
      const ordered = new OrderedRows()
      let before = ordered.of({ rows })
      for (const changes of frames) {
        const touched = new Set(changes.map(({ id }) => id))
        for (const { id, row } of changes) if (row) rows.set(id, values(row))
        else rows.delete(id)
        const now = ordered.of({ rows })
        expect(now.map(({ order }) => order)).toEqual(new OrderedRows().of({ rows }).map(({ order }) => order))
        expect(now.map(({ id }) => id).sort()).toEqual([...rows.keys()].sort())
        for (const row of before) if (!touched.has(row.id)) expect(now).toContain(row)
        before = now
      }
    }))
  })
})

describe('step()', () => {
  const rowsOf = (...names: string[]) => new OrderedRows().of({ rows: new Map(names.map((name, i) => [name.charCodeAt(0), values({ name: `${i}-${name}`, state: i })])) })
  const named = (id: string, place: number): Selection => ({ id: id.charCodeAt(0), place })

  it.each<[string, string[], Selection | undefined, 1 | -1, Selection | undefined]>([
    ['the first row at first', ['a', 'b'], undefined, 1, named('a', 0)],
    ['the next row', ['a', 'b'], named('a', 0), 1, named('b', 1)],
    ['the last row again', ['a', 'b'], named('b', 1), 1, named('b', 1)],
    ['the first row again', ['a', 'b'], named('a', 0), -1, named('a', 0)],
    ['the row after one that has moved', ['b', 'a', 'c'], named('a', 0), 1, named('c', 2)],
    ['the row in the place of one that is gone', ['b', 'c'], named('a', 0), 1, named('b', 0)],
    ['the row before one that is gone', ['b', 'c'], named('a', 1), -1, named('b', 0)],
    ['nothing in an empty list', [], named('a', 0), 1, undefined],
  ])('selects %s', (_, names, selection, by, expected) => {
    expect(step(rowsOf(...names), selection, by)).toEqual(expected)
  })

  it('opens the selected workload, also after the list has been sorted again', () => {
    const rows = rowsOf('b', 'a')
    expect(rows[placeOf(rows, named('a', 0))!]!.name).toBe('1-a')
    expect(placeOf(rowsOf('b'), named('a', 0))).toBeUndefined()
  })
})

describe('matches()', () => {
  const [row] = new OrderedRows().of({ rows: new Map([[1, values({ name: 'Web', namespace: 'shop', reason: 'CrashLoop', labels: 'team=a,tier=front', state: 0 })]]) })
  it.each([
    ['', true], ['web', true], ['shop/web crash', true], ['deployment', true], ['team=a', true], ['team=b', false], ['team=', false], ['web nothing', false],
  ])('%j: %s', (text, is) => {
    expect(matches({ ...emptyFilter, text }, row!)).toBe(is)
  })
})
