import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Mirror } from './mirror.ts'
import { Table } from '../../src/dashboard/stream/table.ts'

const columns = ['word', 'text', 'number'] as const
const shown = (mirror: Mirror) => [...mirror.rows.values()].map((values) => values.join('|')).sort()

describe('Table', () => {
  it('sends everything first, then what has changed, then nothing', () => {
    const table = new Table(columns, 'e')
    table.set('a', ['red', 'first', 1])
    table.set('b', ['red', 'two\nlines', 2])
    expect(table.cut()).toEqual({ r: 1, w: [0, 'red'], u: [[0, 1], 0, 'first\u007ftwo\nlines', [1, 2]] })
    table.set('b', ['blue', 'second', 2])
    table.delete('a')
    expect(table.cut()).toEqual({ r: 2, w: [1, 'blue'], u: [[1], 1, 'second', 2], x: [0] })
    table.set('b', ['blue', 'second', 2])
    expect(table.cut()).toBeUndefined()
  })

  it('sends everything to a client of another epoch, or of a revision that it has not had', () => {
    const table = new Table(columns, 'e')
    table.set('a', ['red', 'first', 1])
    table.cut()
    const all = [{ s: 1, r: 1, w: [0, 'red'], u: [[0], 0, 'first', 1] }]
    expect(table.since({ epoch: 'other', revision: 1, words: 1 })).toEqual(all)
    expect(table.since({ epoch: 'e', revision: 9, words: 1 })).toEqual(all)
    expect(table.since({ epoch: 'e', revision: 1, words: 1 })).toEqual([{ r: 1 }])
  })

  it('sends many rows in several frames, of which only the last tells the revision', () => {
    const table = new Table(['number'], 'e')
    for (let i = 0; i < 12_000; i++) table.set(String(i), [i])
    table.cut()
    expect(table.since(undefined).map(({ s, r, u }) => [s, r, (u![0] as number[]).length])).toEqual([[1, undefined, 5000], [undefined, undefined, 5000], [undefined, 1, 2000]])
  })

  it('cuts many changes into several frames, each a revision of its own', () => {
    const table = new Table(['number'], 'e')
    const mirror = new Mirror(['number'])
    for (let i = 0; i < 12_000; i++) table.set(String(i), [i])
    const sizes: number[] = []
    for (let frame = table.cut(); frame; frame = table.cut()) {
      mirror.take('e', frame)
      sizes.push((frame.u![0] as number[]).length)
    }
    expect([sizes, table.isDirty, table.revision, mirror.rows.size]).toEqual([[5000, 5000, 2000], false, 3, 12_000])
    expect(table.since({ epoch: 'e', revision: 2, words: 0 })[0]!.u![0]).toHaveLength(2000)
  })

  it('needs about 15 bytes a pod, where names, nodes and revisions repeat', () => {
    const table = new Table(['word', 'text', 'word', 'number', 'word', 'number'], 'e')
    for (let i = 0; i < 30_000; i++) table.set(`p${i}`, ['web-7d9f8c6b5-', `${i.toString(36).padStart(5, 'x')}`, '7d9f8c6b5', i % 5, `node-${i % 300}`, 0])
    table.cut()
    const bytes = table.since(undefined).reduce((sum, frame) => sum + JSON.stringify(frame).length, 0)
    expect(bytes / 30_000).toBeLessThan(17)
  })

  it('sends all of many deletions in one revision, and a snapshot to clients that missed them', () => {
    const table = new Table(['number'], 'e')
    const [steady, late] = [new Mirror(['number']), new Mirror(['number'])]
    for (let i = 0; i < 30_000; i++) table.set(String(i), [i])
    while (table.isDirty) table.cut()
    for (const mirror of [steady, late]) for (const frame of table.since(undefined)) mirror.take('e', frame)
    for (let i = 0; i < 25_000; i++) table.delete(String(i))
    while (table.isDirty) steady.take('e', table.cut()!)
    expect(steady.rows.size).toBe(5000)
    for (const frame of table.since(late.position)) late.take('e', frame)
    expect(late.rows.size).toBe(5000)
    table.delete('29999')
    steady.take('e', table.cut()!)
    expect(table.since({ ...late.position!, revision: table.revision - 1 })).toEqual([{ r: table.revision, x: [29_999] }])
    expect(steady.rows.size).toBe(4999)
  })

  it('begins a new epoch when most words of the dictionary are unused', () => {
    const table = new Table(['word'], 'e')
    const mirror = new Mirror(['word'])
    const sync = () => {
      table.renewWords()
      while (table.isDirty) table.cut()
      for (const frame of table.since(mirror.position)) mirror.take(table.epoch, frame)
    }
    for (let i = 0; i < 900; i++) table.set(String(i), [`word-${i}`])
    sync()
    for (let i = 0; i < 899; i++) table.delete(String(i))
    for (let i = 0; i < 900; i++) table.set(`new-${i}`, [`other-${i}`])
    sync()
    expect([table.epoch, table.position.words]).toEqual(['e', 1800])
    for (let i = 0; i < 899; i++) table.delete(`new-${i}`)
    sync()
    expect([table.epoch, table.position.words]).toEqual(['e.1', 2])
    expect(shown(mirror)).toEqual(['other-899', 'word-899'])
  })

  it('leaves every client with the same rows, however often it was away', () => {
    const step = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), value: fc.option(fc.constantFrom('x', 'y', 'z')), does: fc.constantFrom('cut', 'resume', 'nothing') })
    fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const table = new Table(columns, 'e')
      const [steady, late] = [new Mirror(columns), new Mirror(columns)]
      for (const frame of table.since(undefined)) {
        steady.take('e', frame)
        late.take('e', frame)
      }
      for (const { key, value, does } of [...steps, { key: 'e', value: 'x', does: 'cut' }, { key: 'e', value: 'y', does: 'resume' }]) {
        if (value) table.set(key, [value, key + value, value.charCodeAt(0)])
        else table.delete(key)
        if (does === 'nothing') continue
        const frame = table.cut()
        if (frame) steady.take('e', frame)
        if (does === 'resume') for (const one of table.since(late.position)) late.take('e', one)
      }
      for (const one of table.since(late.position)) late.take('e', one)
      expect(shown(late)).toEqual(shown(steady))
      expect(steady.rows.size).toBe(table.size)
    }))
  })
})
