import { describe, expect, it } from 'vitest'
import { type Operation, type Version, violations } from '../etcd/linearizable.ts'

const history = (...versions: (number | [number])[]): Map<string, Version[]> =>
  new Map([['k', versions.map((v) => (typeof v === 'number' ? { version: v, isAbsent: false } : { version: v[0], isAbsent: true }))]])
const op = (kind: 'read' | 'write', startMs: number, endMs: number | undefined, version: Operation['version']): Operation => ({ key: 'k', kind, startMs, endMs, version })

describe('violations()', () => {
  it.each<[string, Operation[], Map<string, Version[]>]>([
    ['one after the other', [op('write', 0, 1, 5), op('read', 2, 3, 5), op('write', 4, 5, 7), op('read', 6, 7, 7)], history(5, 7)],
    ['overlapping reads in either order', [op('write', 0, 1, 5), op('write', 2, 9, 7), op('read', 3, 4, 5), op('read', 5, 6, 7)], history(5, 7)],
    ['a write without an answer that takes effect later', [op('write', 0, 1, 5), op('write', 2, undefined, 7), op('read', 50, 51, 5), op('read', 60, 61, 7)], history(5, 7)],
    ['nothing there before the first write, and after a delete', [op('read', 0, 1, 'absent'), op('write', 2, 3, 5), op('write', 4, 5, 6), op('read', 6, 7, 'absent')], history(5, [6])],
    ['nothing there while the first write is under way', [op('write', 0, 9, 5), op('read', 1, 2, 'absent'), op('read', 3, 4, 5)], history(5)],
  ])('finds nothing wrong with %s', (_, operations, known) => {
    expect(violations(operations, known)).toEqual([])
  })

  it.each<[string, Operation[], Map<string, Version[]>, RegExp]>([
    ['a stale read', [op('write', 0, 1, 5), op('write', 2, 3, 7), op('read', 4, 5, 5)], history(5, 7), /is older than write of k at 7/],
    ['reads that go back', [op('write', 0, 1, 5), op('write', 2, 99, 7), op('read', 3, 4, 7), op('read', 5, 6, 5)], history(5, 7), /is older than read of k at 7/],
    ['a lost write', [op('write', 0, 1, 5)], history(), /never had this version/],
    ['a read from the future', [op('read', 0, 1, 5), op('write', 2, 3, 5)], history(5), /write of k at 5 .* is older than read/],
    ['an object that vanishes for a moment', [op('write', 0, 1, 5), op('read', 2, 3, 'absent'), op('read', 4, 5, 5)], history(5), /it was there all the time/],
    ['a deleted object that is still seen', [op('write', 0, 1, 5), op('write', 2, 3, 6), op('read', 4, 5, 5)], history(5, [6]), /is older than write of k at 6/],
  ])('finds %s', (_, operations, known, message) => {
    expect(violations(operations, known)).toEqual([expect.stringMatching(message)])
  })
})
